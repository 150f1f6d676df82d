/* graph.h - a net as a picture. Layers that work in place belong to the box of the
 * layer whose result they change; splits are left out; what a data layer gives besides
 * its first top (labels) is written on the boxes that use it instead of drawn across
 * the whole net. */
#ifndef FIRE_REPORT_GRAPH_H
#define FIRE_REPORT_GRAPH_H
#include "base/text/json.h"

typedef struct fire_graph_node {
    const char  *name, *type; /* NULL: no box, a bend of an edge */
    char        *shape;       /* "20 × 24 × 24", without the batch; or a note */
    const char **inside;      /* names of the layers that work in place ... */
    const char **inside_type; /* ... and their types */
    int64_t      ninside, inside_cap, inside_type_cap;
    const char **tag; /* inputs that are not drawn */
    int64_t      ntag, tag_cap;
    int          rank, order; /* row from the top, place in the row */
    double       x, y, w, h;  /* middle and size, in pixels */
    double       tag_room;    /* what tags take beside the box */
} fire_graph_node_t;

/* With the flow. Edges over several rows have been cut at bends by the layout. */
typedef struct fire_graph_edge {
    int    from, to;
    double x[4], y[4]; /* a Bezier curve */
} fire_graph_edge_t;

typedef struct fire_graph {
    fire_graph_node_t *node;
    int64_t            nnode, node_cap;
    fire_graph_edge_t *edge;
    int64_t            nedge, edge_cap;
    double             width, height;
    double             flow_x, flow_y; /* one is 0; down, as laid out: 0, 1 */
} fire_graph_t;

/* From the array `layers` of a `net` line of run.jsonl, which must outlive the graph. A
 * layer may have a `note` instead of shapes. */
fire_status_t fire_graph_create(const fire_json_t *layers, fire_graph_t **graph_p);
void          fire_graph_destroy(fire_graph_t *g); /* NULL is allowed */

/* Places for everything: by our own rules, or by Graphviz. dot() writes what
 * `dot -Tplain` reads, placed() takes in what it answers. */
fire_status_t fire_graph_layout(fire_graph_t *g);
fire_status_t fire_graph_dot(const fire_graph_t *g, fire_str_t *out);
fire_status_t fire_graph_placed(fire_graph_t *g, const char *plain);

/* Other directions: with all of it transposed before and after the layout the net flows
 * to the right; mirrored then, it flows back. */
void fire_graph_transpose(fire_graph_t *g);
void fire_graph_mirror(fire_graph_t *g);

/* The graph with its texts, to be drawn by Graphviz itself; before the layout. `rankdir`
 * is TB, BT, LR or RL. */
fire_status_t fire_graph_dot_drawing(const fire_graph_t *g, const char *rankdir,
                                     fire_str_t *out);

/* An SVG element. `alone`: as a file of its own, with colours for light and dark. */
fire_status_t fire_graph_svg(const fire_graph_t *g, bool alone, fire_str_t *out);
#endif
