/* splits.c - inserts a Split layer where several layers use a blob; its backward adds
 * up their gradients. The names are Caffe's, because they are saved in model files:
 *
 *   pool1 of layer p, used twice  ->  layer  pool1_p_0_split
 *                                     blobs  pool1_p_0_split_0, pool1_p_0_split_1 */
#include <stdio.h>
#include <string.h>

#include "net/net_state.h"

/* A top of a layer and its uses. A loss counts as a use, so that its weight is on a
 * blob of its own. */
typedef struct use {
    const char *blob, *layer;
    int         top;         /* index among the layer's tops */
    int         count, next; /* number of uses; split output for the next user */
    float       loss_weight;
} use_t;

/* All tops of the net, in order. */
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

/* Fail at a bottom that no earlier layer makes. */
static fire_status_t unknown_bottom(const Caffe__LayerParameter *l, size_t i)
{
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "layer \"%s\": unknown bottom blob \"%s\" (bottom %zu): no layer "
                     "before it has such a top",
                     l->name, l->bottom[i], i);
}

/* Fill s with all tops and count the uses of each. */
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

/* Name of the Split layer (k < 0) or of its output k. */
static fire_status_t split_name(const use_t *u, int k, char **name_p)
{
    if (k < 0)
        return fire_asprintf(name_p, "%s_%s_%d_split", u->blob, u->layer, u->top);
    return fire_asprintf(name_p, "%s_%s_%d_split_%d", u->blob, u->layer, u->top, k);
}

/* Append the Split layer of a top, with as many tops as uses. A loss weight moves to
 * its first top. */
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

/* Replace the bottoms of a layer by split outputs. The names belong to protobuf-c, so
 * the whole list is cleared and filled again. */
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

/* Copy the layers to `out`, each Split after the layer that makes its bottom. `seen`
 * grows along, so that a bottom finds the last top of its name before it. */
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
    swap_layers(net, out); /* the old list is freed with `out` */
out:
    fire_message_free(out);
    fire_free(s.use);
    return st;
}
