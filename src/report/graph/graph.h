/* graph.h - draws a net as a graph: from the layers of a run log to boxes, their
 * places, and SVG.
 *
 * A layer that works in place is written into the box of the layer whose result it
 * changes. Splits are left out. A data layer's second and later tops (labels) are
 * written next to the boxes that use them, instead of edges across the whole net.
 *
 * Order of calls: create, layout (or dot and placed), svg. */
#ifndef FIRE_REPORT_GRAPH_GRAPH_H
#define FIRE_REPORT_GRAPH_GRAPH_H
#include "base/text/json.h"

/* A box, or a bend of an edge over several rows. */
typedef struct fire_graph_node {
    const char  *name, *type; /* NULL: no box, a bend of an edge */
    char        *shape;       /* "20 × 24 × 24", without the batch; or a note */
    const char **inside;      /* [ninside] names of layers that work in place */
    const char **inside_type; /* [ninside] their types */
    int64_t      ninside, inside_cap, inside_type_cap;
    const char **tag; /* [ntag] inputs that are not drawn as edges */
    int64_t      ntag, tag_cap;
    int          rank, order; /* row, from the top; position in the row */
    double       x, y, w, h;  /* centre and size, in pixels */
    double       tag_room;    /* width of the tags to the right of the box */
} fire_graph_node_t;

/* An edge, in the direction of data. The layout cuts edges over several rows at bends,
 * into pieces of one row. */
typedef struct fire_graph_edge {
    int    from, to;
    double x[4], y[4]; /* the points of a cubic Bezier curve */
} fire_graph_edge_t;

/* The whole drawing. */
typedef struct fire_graph {
    fire_graph_node_t *node;
    int64_t            nnode, node_cap;
    fire_graph_edge_t *edge;
    int64_t            nedge, edge_cap;
    double             width, height;
    double flow_x, flow_y; /* direction of data: (0, 1) is down, as laid out */
} fire_graph_t;

/* Make the graph of a net from the array `layers` of the `net` line of run.jsonl, which
 * must outlive the graph. A layer may have a text `note` instead of shapes. */
fire_status_t fire_graph_create(const fire_json_t *layers, fire_graph_t **graph_p);
void          fire_graph_destroy(fire_graph_t *g); /* NULL is allowed */

/* Place boxes and edges: with our own layout, or with Graphviz: fire_graph_dot() writes
 * the input of `dot -Tplain`, fire_graph_placed() reads its output. */
fire_status_t fire_graph_layout(fire_graph_t *g);
fire_status_t fire_graph_dot(const fire_graph_t *g, fire_str_t *out);
fire_status_t fire_graph_placed(fire_graph_t *g, const char *plain);

/* Other directions than down: transpose before and after the layout for a net that
 * flows to the right; mirror the result to reverse it. */
void fire_graph_transpose(fire_graph_t *g);
void fire_graph_mirror(fire_graph_t *g);

/* Write the graph with its texts in Graphviz's language, for Graphviz to draw. Not
 * after a layout. `rankdir`: TB, BT, LR or RL. */
fire_status_t fire_graph_dot_drawing(const fire_graph_t *g, const char *rankdir,
                                     fire_str_t *out);

/* Append an SVG element. alone: a file of its own, with its colours for light and dark
 * themes. */
fire_status_t fire_graph_svg(const fire_graph_t *g, bool alone, fire_str_t *out);
#endif
