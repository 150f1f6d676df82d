/* layout.c - places the boxes of a graph by Sugiyama's method: (1) the row of a box is
 * the longest way from the top; edges over several rows are cut at bends; (2) boxes of
 * a row are sorted by the average position of their neighbours, which leaves few
 * crossings; (3) boxes are pulled to the average x of their neighbours, without
 * overlap. */
#include <math.h>
#include "base/alloc.h"
#include "report/graph/graph.h"

/* Passes over all rows for sorting, and for pulling. */
enum { SWEEPS = 12, PULLS = 24 };
static const double GAP_X = 22, GAP_Y = 40; /* pixels between boxes and between rows */

/* A row: n node numbers, from left to right. */
typedef struct row {
    int *node;
    int  n;
} row_t;

/* The rows of a graph. */
typedef struct layout {
    fire_graph_t *g;
    row_t        *row;
    int           nrow;
    int          *memory; /* node numbers of all rows */
} layout_t;

/* ---- rows ---- */

/* Set the row of every node; returns the number of rows. One pass is enough, because a
 * layer comes after the layers that make its bottoms. */
static int rank_nodes(fire_graph_t *g)
{
    int most = 0;

    for (int64_t i = 0; i < g->nedge; i++) {
        fire_graph_node_t *from = &g->node[g->edge[i].from];
        fire_graph_node_t *to   = &g->node[g->edge[i].to];

        if (to->rank < from->rank + 1) to->rank = from->rank + 1;
        if (to->rank > most) most = to->rank;
    }
    return most + 1;
}

/* Replace an edge over several rows by one edge per row, with bends between them. */
static fire_status_t cut_edge(fire_graph_t *g, int64_t which)
{
    while (g->node[g->edge[which].to].rank > g->node[g->edge[which].from].rank + 1) {
        int to = g->edge[which].to, bend = (int)g->nnode;

        FIRE_TRY(fire_grow(&g->node, &g->node_cap, g->nnode + 1, sizeof(*g->node)));
        FIRE_TRY(fire_grow(&g->edge, &g->edge_cap, g->nedge + 1, sizeof(*g->edge)));
        g->node[g->nnode++] = (fire_graph_node_t){
            .rank = g->node[g->edge[which].from].rank + 1, .w = 4, .h = 0};
        g->edge[which].to   = bend;
        g->edge[g->nedge++] = (fire_graph_edge_t){.from = bend, .to = to};
        which               = g->nedge - 1;
    }
    return FIRE_OK;
}

/* Step 1: rows, with bends. */
static fire_status_t make_rows(layout_t *l)
{
    fire_graph_t *g  = l->g;
    int64_t       ne = g->nedge;
    int           at = 0;

    l->nrow = rank_nodes(g);
    for (int64_t i = 0; i < ne; i++)
        FIRE_TRY(cut_edge(g, i));
    FIRE_TRY(FIRE_NEW(&l->row, l->nrow));
    FIRE_TRY(FIRE_NEW(&l->memory, g->nnode));
    for (int r = 0; r < l->nrow; r++) {
        l->row[r].node = l->memory + at;
        for (int i = 0; i < g->nnode; i++)
            if (g->node[i].rank == r) {
                g->node[i].order              = l->row[r].n;
                l->row[r].node[l->row[r].n++] = i;
            }
        at += l->row[r].n;
    }
    return FIRE_OK;
}

/* ---- few crossings ---- */

typedef enum side { ABOVE = 1, BELOW = 2, BOTH = 3 } side_t;

/* Mean x or position of a node's neighbours above or below; `otherwise` if there are
 * none. */
static double neighbours(const fire_graph_t *g, int node, side_t side, bool by_x,
                         double otherwise)
{
    double sum = 0;
    int    n   = 0;

    for (int64_t i = 0; i < g->nedge; i++) {
        const fire_graph_edge_t *e     = &g->edge[i];
        int                      other = -1;

        if (e->to == node && side & ABOVE) other = e->from;
        if (e->from == node && side & BELOW) other = e->to;
        if (other < 0) continue;
        sum += by_x ? g->node[other].x : g->node[other].order;
        n++;
    }
    return n > 0 ? sum / n : otherwise;
}

/* Sort a row by key. Insertion sort: rows are short, and equal keys keep their
 * order. */
static void sort_row(fire_graph_t *g, row_t *row, const double *key)
{
    for (int i = 1; i < row->n; i++)
        for (int k = i; k > 0 && key[row->node[k]] < key[row->node[k - 1]]; k--) {
            int swap         = row->node[k];
            row->node[k]     = row->node[k - 1];
            row->node[k - 1] = swap;
        }
    for (int i = 0; i < row->n; i++)
        g->node[row->node[i]].order = i;
}

/* Step 2: alternate sweeps down and up; each sorts the rows by their neighbours. */
static fire_status_t order_rows(layout_t *l)
{
    double *key;

    FIRE_TRY(FIRE_NEW(&key, l->g->nnode));
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int k = 0; k < l->nrow; k++) {
            bool   down = sweep % 2 == 0;
            row_t *row  = &l->row[down ? k : l->nrow - 1 - k];

            for (int i = 0; i < row->n; i++)
                key[row->node[i]] = neighbours(l->g, row->node[i], down ? ABOVE : BELOW,
                                               false, l->g->node[row->node[i]].order);
            sort_row(l->g, row, key);
        }
    fire_free(key);
    return FIRE_OK;
}

/* ---- places ---- */

/* Least distance between the centres of two boxes side by side. */
static double gap_between(const fire_graph_node_t *a, const fire_graph_node_t *b)
{
    return (a->w + b->w) / 2 + a->tag_room + GAP_X;
}

/* Move each node to the mean x of its neighbours, then separate those that overlap:
 * once from the left, once from the right, and take the middle. */
static void pull_row(fire_graph_t *g, const row_t *row, side_t side, double *left,
                     double *right)
{
    for (int i = 0; i < row->n; i++) {
        const fire_graph_node_t *n = &g->node[row->node[i]];

        left[i] = right[i] = neighbours(g, row->node[i], side, true, n->x);
    }
    for (int i = 1; i < row->n; i++)
        left[i] = fmax(left[i], left[i - 1] + gap_between(&g->node[row->node[i - 1]],
                                                          &g->node[row->node[i]]));
    for (int i = row->n - 2; i >= 0; i--)
        right[i] =
            fmin(right[i], right[i + 1] - gap_between(&g->node[row->node[i]],
                                                      &g->node[row->node[i + 1]]));
    for (int i = 0; i < row->n; i++)
        g->node[row->node[i]].x = (left[i] + right[i]) / 2;
}

/* Step 3: first neighbours on one side only, in the second half on both. */
static fire_status_t place_x(layout_t *l)
{
    double       *left = NULL, *right = NULL;
    fire_status_t st;

    for (int r = 0; r < l->nrow; r++)
        for (int i = 0; i < l->row[r].n; i++)
            l->g->node[l->row[r].node[i]].x = 160.0 * (i - (l->row[r].n - 1) / 2.0);
    FIRE_TRY_GOTO(st, FIRE_NEW(&left, l->g->nnode), out);
    FIRE_TRY_GOTO(st, FIRE_NEW(&right, l->g->nnode), out);
    for (int pull = 0; pull < PULLS; pull++)
        for (int k = 0; k < l->nrow; k++) {
            bool   down = pull % 2 == 0;
            side_t side = pull >= PULLS / 2 ? BOTH : down ? ABOVE : BELOW;

            pull_row(l->g, &l->row[down ? k : l->nrow - 1 - k], side, left, right);
        }
out:
    fire_free(left);
    fire_free(right);
    return st;
}

/* The height of a row is that of its tallest box. */
static void place_y(layout_t *l)
{
    double y = 0;

    for (int r = 0; r < l->nrow; r++) {
        double tallest = 0;

        for (int i = 0; i < l->row[r].n; i++)
            tallest = fmax(tallest, l->g->node[l->row[r].node[i]].h);
        for (int i = 0; i < l->row[r].n; i++) {
            fire_graph_node_t *n = &l->g->node[l->row[r].node[i]];

            n->y = y + tallest / 2;
            /* a bend is a straight line across the row */
            if (n->name == NULL) n->h = tallest;
        }
        y += tallest + GAP_Y;
    }
}

/* A curve from the lower side of a box to the upper side of another, vertical at both
 * ends. */
static void draw_edges(fire_graph_t *g)
{
    for (int64_t i = 0; i < g->nedge; i++) {
        fire_graph_edge_t       *e    = &g->edge[i];
        const fire_graph_node_t *from = &g->node[e->from], *to = &g->node[e->to];
        double y0 = from->y + from->h / 2, y1 = to->y - to->h / 2, bow = (y1 - y0) / 2;

        e->x[0] = e->x[1] = from->x;
        e->x[2] = e->x[3] = to->x;
        e->y[0]           = y0;
        e->y[1]           = y0 + bow;
        e->y[2]           = y1 - bow;
        e->y[3]           = y1;
    }
}

/* Move everything so that the drawing begins a margin from the corner. */
static void fit(fire_graph_t *g)
{
    const double margin = 16;
    double       x0 = INFINITY, x1 = -INFINITY, y1 = 0;

    for (int64_t i = 0; i < g->nnode; i++) {
        x0 = fmin(x0, g->node[i].x - g->node[i].w / 2);
        x1 = fmax(x1, g->node[i].x + g->node[i].w / 2 + g->node[i].tag_room);
        y1 = fmax(y1, g->node[i].y + g->node[i].h / 2);
    }
    for (int64_t i = 0; i < g->nnode; i++) {
        g->node[i].x += margin - x0;
        g->node[i].y += margin;
    }
    g->width  = x1 - x0 + 2 * margin;
    g->height = y1 + 2 * margin;
}

fire_status_t fire_graph_layout(fire_graph_t *g)
{
    layout_t      l = {.g = g};
    fire_status_t st;

    g->flow_x = 0;
    g->flow_y = 1;
    if (g->nnode == 0) return FIRE_OK;
    FIRE_TRY_GOTO(st, make_rows(&l), out);
    FIRE_TRY_GOTO(st, order_rows(&l), out);
    FIRE_TRY_GOTO(st, place_x(&l), out);
    place_y(&l);
    fit(g);
    draw_edges(g);
out:
    fire_free(l.row);
    fire_free(l.memory);
    return st;
}
