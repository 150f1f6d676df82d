/* splits.c - a blob that several layers use gets a Split layer, which adds up the
 * gradients that come back. Names are Caffe's, since they end up in model files:
 *
 *   pool1 of layer p, used twice  ->  layer  pool1_p_0_split
 *                                     blobs  pool1_p_0_split_0, pool1_p_0_split_1  */
#include <stdio.h>
#include <string.h>

#include "net/net_state.h"

/* One top of one layer. Counting a loss as a use keeps its weight on a blob of its
 * own. */
typedef struct use {
    const char *blob, *layer;
    int         top;         /* which of the layer's tops */
    int         count, next; /* uses; the split output the next user takes */
    float       loss_weight;
} use_t;

typedef struct splitter {
    use_t  *use;
    int64_t nuse, cap;
} splitter_t;

/* The last top so far that has this name (in-place layers make several). */
static use_t *last_top(const splitter_t *s, const char *blob)
{
    for (int64_t i = s->nuse - 1; i >= 0; i--)
        if (strcmp(s->use[i].blob, blob) == 0) return &s->use[i];
    return NULL;
}

static fire_status_t unknown_bottom(const Caffe__LayerParameter *l, size_t i)
{
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "layer \"%s\": unknown bottom blob \"%s\" (bottom %zu): no layer "
                     "before it has such a top",
                     l->name, l->bottom[i], i);
}

static fire_status_t count_uses(splitter_t *s, const Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layer; i++) {
        const Caffe__LayerParameter *l = net->layer[i];

        for (size_t j = 0; j < l->n_bottom; j++) {
            use_t *u = last_top(s, l->bottom[j]);

            if (u == NULL) return unknown_bottom(l, j);
            u->count++;
        }
        for (size_t j = 0; j < l->n_top; j++) {
            float weight = j < l->n_loss_weight ? l->loss_weight[j] : 0;

            FIRE_TRY(fire_grow(&s->use, &s->cap, s->nuse + 1, sizeof(*s->use)));
            s->use[s->nuse++] = (use_t){.blob        = l->top[j],
                                        .layer       = l->name,
                                        .top         = (int)j,
                                        .count       = weight != 0,
                                        .loss_weight = weight};
        }
    }
    return FIRE_OK;
}

static fire_status_t split_name(const use_t *u, int k, char **name_p)
{
    if (k < 0)
        return fire_asprintf(name_p, "%s_%s_%d_split", u->blob, u->layer, u->top);
    return fire_asprintf(name_p, "%s_%s_%d_split_%d", u->blob, u->layer, u->top, k);
}

static fire_status_t add_split_layer(const use_t *u, Caffe__NetParameter *out)
{
    const fire_field_t *weights =
        fire_field_find(&caffe__layer_parameter__descriptor, "loss_weight");
    Caffe__LayerParameter *split;
    char                  *name = NULL;
    fire_status_t          st;

    FIRE_TRY(fire_message_add_message(out, "layer", &split));
    FIRE_TRY_GOTO(st, split_name(u, -1, &name), out);
    FIRE_TRY_GOTO(st, fire_message_add_string(split, "name", name), out);
    FIRE_TRY_GOTO(st, fire_message_add_string(split, "type", "Split"), out);
    FIRE_TRY_GOTO(st, fire_message_add_string(split, "bottom", u->blob), out);
    for (int k = 0; k < u->count; k++) {
        float weight = k == 0 ? u->loss_weight : 0;

        fire_free(name);
        name = NULL;
        FIRE_TRY_GOTO(st, split_name(u, k, &name), out);
        FIRE_TRY_GOTO(st, fire_message_add_string(split, "top", name), out);
        if (u->loss_weight != 0)
            FIRE_TRY_GOTO(st, fire_message_put(split, weights, &weight), out);
    }
out:
    fire_free(name);
    return st;
}

/* Point the bottoms at split outputs. Names are protobuf-c's memory: replaced through
 * the message, in order. */
static fire_status_t rename_bottoms(splitter_t *done, Caffe__LayerParameter *l)
{
    const fire_field_t *field =
        fire_field_find(&caffe__layer_parameter__descriptor, "bottom");
    char        **name;
    size_t        n  = l->n_bottom;
    fire_status_t st = FIRE_OK;

    if (n == 0) return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&name, n));
    for (size_t i = 0; i < n && st >= 0; i++) {
        use_t *u = last_top(done, l->bottom[i]);

        st = u->count > 1 ? split_name(u, u->next++, &name[i])
                          : fire_strdup(l->bottom[i], &name[i]);
    }
    if (st >= 0) {
        fire_message_clear(l, field);
        for (size_t i = 0; i < n && st >= 0; i++)
            st = fire_message_add_string(l, "bottom", name[i]);
    }
    for (size_t i = 0; i < n; i++)
        fire_free(name[i]);
    fire_free(name);
    return st;
}

/* Copy layer by layer into out, splits behind their producers. `s` is revealed one top
 * at a time, so that a bottom finds the producer before it. */
static fire_status_t rewrite(const splitter_t *s, const Caffe__NetParameter *net,
                             Caffe__NetParameter *out)
{
    const fire_field_t *layers =
        fire_field_find(&caffe__net_parameter__descriptor, "layer");
    const fire_field_t *weights =
        fire_field_find(&caffe__layer_parameter__descriptor, "loss_weight");
    splitter_t seen = {.use = s->use};

    for (size_t i = 0; i < net->n_layer; i++) {
        Caffe__LayerParameter *l;

        FIRE_TRY(fire_message_put(out, layers, &net->layer[i]));
        l = out->layer[out->n_layer - 1];
        FIRE_TRY(rename_bottoms(&seen, l));
        for (size_t j = 0; j < net->layer[i]->n_top; j++) {
            use_t *u = &s->use[seen.nuse++];

            if (u->count < 2) continue;
            if (u->loss_weight != 0) {
                fire_message_clear(l, weights);
                u->next++;
            }
            FIRE_TRY(add_split_layer(u, out));
        }
    }
    return FIRE_OK;
}

static void swap_layers(Caffe__NetParameter *a, Caffe__NetParameter *b)
{
    Caffe__LayerParameter **layer = a->layer;
    size_t                  n     = a->n_layer;

    a->layer   = b->layer;
    a->n_layer = b->n_layer;
    b->layer   = layer;
    b->n_layer = n;
}

fire_status_t fire_net_insert_splits(Caffe__NetParameter *net)
{
    Caffe__NetParameter *out = NULL;
    splitter_t           s   = {0};
    fire_status_t        st;

    FIRE_TRY_GOTO(st, count_uses(&s, net), out);
    FIRE_TRY_GOTO(st,
                  fire_message_create(&caffe__net_parameter__descriptor,
                                      (ProtobufCMessage **)&out),
                  out);
    FIRE_TRY_GOTO(st, rewrite(&s, net, out), out);
    swap_layers(net, out); /* the old list leaves with `out` */
out:
    fire_message_free(out);
    fire_free(s.use);
    return st;
}
