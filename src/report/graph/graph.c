/* graph.c - makes the graph of a net: which layers become boxes, which edges join them,
 * and how large the boxes are for their texts. */
#include "report/graph/graph.h"

#include <math.h>
#include <string.h>
#include "base/alloc.h"

static const double LETTER = 8, SMALL_LETTER = 6.4; /* pixels per character, about */
static const double TIME_ROOM = 56; /* for the time that the page writes after a name */

/* The box that makes a blob, at the current layer of the list. */
typedef struct maker {
    const char *blob;
    int         node;
    bool        is_source; /* its layer has no bottoms */
    bool        is_extra;  /* second or later top of such a layer */
    const char *label;     /* the blob's name before splits */
} maker_t;

/* The graph being made. */
typedef struct builder {
    fire_graph_t *g;
    maker_t      *maker;
    int64_t       nmaker, maker_cap;
} builder_t;

/* An array member of a layer; empty if it is missing. */
static const fire_json_t *list_of(const fire_json_t *layer, const char *key)
{
    static const fire_json_t empty = {.kind = FIRE_JSON_ARRAY};
    const fire_json_t       *list  = fire_json_get(layer, key);

    return list != NULL && list->kind == FIRE_JSON_ARRAY ? list : &empty;
}

static const char *text_at(const fire_json_t *list, int64_t i)
{
    return list->item[i].kind == FIRE_JSON_STRING ? list->item[i].string : "?";
}

/* The last box so far that makes the blob; NULL: none. */
static maker_t *maker_of(const builder_t *b, const char *blob)
{
    for (int64_t i = b->nmaker - 1; i >= 0; i--)
        if (strcmp(b->maker[i].blob, blob) == 0) return &b->maker[i];
    return NULL;
}

static fire_status_t add_maker(builder_t *b, maker_t m)
{
    FIRE_TRY(fire_grow(&b->maker, &b->maker_cap, b->nmaker + 1, sizeof(m)));
    b->maker[b->nmaker++] = m;
    return FIRE_OK;
}

/* A Split has no box: its tops count as made by the box of its bottom. */
static fire_status_t pass_split(builder_t *b, const fire_json_t *bottoms,
                                const fire_json_t *tops)
{
    const maker_t *m = bottoms->n > 0 ? maker_of(b, text_at(bottoms, 0)) : NULL;

    for (int64_t i = 0; i < tops->n && m != NULL; i++) {
        maker_t copy = *m;

        copy.blob = text_at(tops, i);
        FIRE_TRY(add_maker(b, copy));
        m = maker_of(b, text_at(bottoms, 0));
    }
    return FIRE_OK;
}

static fire_status_t add_name(const char ***list, int64_t *n, int64_t *cap,
                              const char *name)
{
    FIRE_TRY(fire_grow(list, cap, *n + 1, sizeof(**list)));
    (*list)[(*n)++] = name;
    return FIRE_OK;
}

/* Add a layer that works in place to the box of its bottom. */
static fire_status_t add_inside(fire_graph_node_t *node, const fire_json_t *layer)
{
    int64_t n = node->ninside;

    FIRE_TRY(add_name(&node->inside_type, &n, &node->inside_type_cap,
                      fire_json_string_or(layer, "type", "?")));
    return add_name(&node->inside, &node->ninside, &node->inside_cap,
                    fire_json_string_or(layer, "name", "?"));
}

/* "20 × 24 × 24": the shape of the first top without the batch. */
static fire_status_t shape_text(const fire_json_t *layer, char **text_p)
{
    const fire_json_t *shapes = list_of(layer, "shapes");
    const char        *note   = fire_json_string_or(layer, "note", NULL);
    fire_str_t         out    = {0};
    fire_status_t      st     = FIRE_OK;

    if (note != NULL) return fire_strdup(note, text_p);
    for (int64_t i = 1; shapes->n > 0 && i < shapes->item[0].n && st >= 0; i++)
        st = fire_str_printf(&out, "%s%.0f", i > 1 ? " × " : "",
                             shapes->item[0].item[i].number);
    if (st >= 0) return fire_str_take(&out, text_p);
    fire_str_fini(&out);
    return st;
}

/* Add an edge from m's box to a box, or a tag. Equal edges are drawn once. */
static fire_status_t connect_to(builder_t *b, int node, const maker_t *m)
{
    fire_graph_node_t *n = &b->g->node[node];

    if (m->is_extra) return add_name(&n->tag, &n->ntag, &n->tag_cap, m->label);
    for (int64_t i = 0; i < b->g->nedge; i++)
        if (b->g->edge[i].from == m->node && b->g->edge[i].to == node) return FIRE_OK;
    FIRE_TRY(
        fire_grow(&b->g->edge, &b->g->edge_cap, b->g->nedge + 1, sizeof(*b->g->edge)));
    b->g->edge[b->g->nedge++] = (fire_graph_edge_t){.from = m->node, .to = node};
    return FIRE_OK;
}

/* Connect a box to the last box that makes the blob. An input of the net has none. Data
 * layers may be several, one for each phase. */
static fire_status_t connect(builder_t *b, int node, const char *blob)
{
    for (int64_t i = b->nmaker - 1; i >= 0; i--) {
        const maker_t *m = &b->maker[i];

        if (strcmp(m->blob, blob) != 0) continue;
        FIRE_TRY(connect_to(b, node, m));
        if (!m->is_source || m->is_extra) break;
    }
    return FIRE_OK;
}

/* Add a box for a layer and connect it. */
static fire_status_t add_node(builder_t *b, const fire_json_t *layer,
                              const fire_json_t *bottoms, const fire_json_t *tops)
{
    fire_graph_t      *g  = b->g;
    int                id = (int)g->nnode;
    fire_graph_node_t *n;

    FIRE_TRY(fire_grow(&g->node, &g->node_cap, g->nnode + 1, sizeof(*n)));
    n       = &g->node[g->nnode++];
    n->name = fire_json_string_or(layer, "name", "?");
    n->type = fire_json_string_or(layer, "type", "?");
    FIRE_TRY(shape_text(layer, &n->shape));
    for (int64_t i = 0; i < bottoms->n; i++)
        FIRE_TRY(connect(b, id, text_at(bottoms, i)));
    for (int64_t i = 0; i < tops->n; i++)
        FIRE_TRY(add_maker(b, (maker_t){.blob      = text_at(tops, i),
                                        .node      = id,
                                        .is_source = bottoms->n == 0,
                                        .is_extra  = bottoms->n == 0 && i > 0,
                                        .label     = text_at(tops, i)}));
    return FIRE_OK;
}

/* A Split, a layer that works in place, or a new box. */
static fire_status_t add_layer(builder_t *b, const fire_json_t *layer)
{
    const fire_json_t *bottoms = list_of(layer, "bottoms"),
                      *tops    = list_of(layer, "tops");
    const maker_t *m;

    if (strcmp(fire_json_string_or(layer, "type", ""), "Split") == 0)
        return pass_split(b, bottoms, tops);
    if (bottoms->n > 0 && tops->n == 1 &&
        strcmp(text_at(bottoms, 0), text_at(tops, 0)) == 0 &&
        (m = maker_of(b, text_at(tops, 0))) != NULL)
        return add_inside(&b->g->node[m->node], layer);
    return add_node(b, layer, bottoms, tops);
}

/* ---- sizes ---- */

/* Number of characters of a UTF-8 text. */
static double letters(const char *text)
{
    int n = 0;

    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

/* The size of a box for its texts. */
static void set_size(fire_graph_node_t *n)
{
    double w = 24 + LETTER * letters(n->name) + TIME_ROOM;

    w = fmax(w, 24 + SMALL_LETTER * (letters(n->type) + letters(n->shape) + 3));
    for (int64_t i = 0; i < n->ninside; i++)
        w = fmax(w, 30 + SMALL_LETTER *
                             (letters(n->inside[i]) + letters(n->inside_type[i]) + 3));
    for (int64_t i = 0; i < n->ntag; i++)
        n->tag_room = fmax(n->tag_room, 6 + SMALL_LETTER * letters(n->tag[i]));
    n->w = fmax(w, 110);
    n->h = 42 + 17 * (double)n->ninside;
}

fire_status_t fire_graph_create(const fire_json_t *layers, fire_graph_t **graph_p)
{
    builder_t     b = {0};
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&b.g, 1));
    st = FIRE_OK;
    for (int64_t i = 0; i < layers->n && st >= 0; i++)
        st = add_layer(&b, &layers->item[i]);
    for (int64_t i = 0; i < b.g->nnode && st >= 0; i++)
        set_size(&b.g->node[i]);
    fire_free(b.maker);
    if (st < 0)
        fire_graph_destroy(b.g);
    else
        *graph_p = b.g;
    return st;
}

void fire_graph_destroy(fire_graph_t *g)
{
    if (g == NULL) return;
    for (int64_t i = 0; i < g->nnode; i++) {
        fire_free(g->node[i].shape);
        fire_free(g->node[i].inside);
        fire_free(g->node[i].inside_type);
        fire_free(g->node[i].tag);
    }
    fire_free(g->node);
    fire_free(g->edge);
    fire_free(g);
}
