/* dot.c - writes a graph in Graphviz's language, and reads the places that
 * Graphviz gives. Boxes keep the sizes that we need for their texts. */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "report/graph/graph.h"

static const double INCH   = 72; /* pixels per inch */
static const double MARGIN = 16;

/* Boxes of fixed size without text, in inches. */
fire_status_t fire_graph_dot(const fire_graph_t *g, fire_str_t *out)
{
    FIRE_TRY(fire_str_printf(out, "digraph net {\nranksep=0.5; nodesep=0.3;\n"
                                  "node [shape=box fixedsize=true label=\"\"];\n"
                                  "edge [arrowhead=none tailport=s headport=n];\n"));
    for (int64_t i = 0; i < g->nnode; i++)
        FIRE_TRY(fire_str_printf(out, "n%lld [width=%.4f height=%.4f];\n", (long long)i,
                                 g->node[i].w / INCH, g->node[i].h / INCH));
    for (int64_t i = 0; i < g->nedge; i++)
        FIRE_TRY(fire_str_printf(out, "n%d -> n%d;\n", g->edge[i].from, g->edge[i].to));
    return fire_str_printf(out, "}\n");
}

/* ---- drawn by Graphviz ---- */

/* Escape a text for a quoted string. */
static fire_status_t add_quoted(fire_str_t *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') FIRE_TRY(fire_str_add(out, "\\", 1));
        FIRE_TRY(fire_str_add(out, text, 1));
    }
    return FIRE_OK;
}

static fire_status_t add_texts(fire_str_t *out, const char *first, const char *between,
                               const char *second)
{
    FIRE_TRY(add_quoted(out, first));
    if (second[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_str_printf(out, "%s", between));
    return add_quoted(out, second);
}

/* The lines of a box: name, type, shape, layers in place, tags. */
static fire_status_t add_label(fire_str_t *out, const fire_graph_node_t *n)
{
    FIRE_TRY(add_texts(out, n->name, "\\n", n->type));
    FIRE_TRY(add_texts(out, "", "\\n", n->shape));
    for (int64_t i = 0; i < n->ninside; i++) {
        FIRE_TRY(add_texts(out, "", "\\n", n->inside[i]));
        FIRE_TRY(add_texts(out, "", " · ", n->inside_type[i]));
    }
    for (int64_t i = 0; i < n->ntag; i++)
        FIRE_TRY(add_texts(out, "", "\\n+ ", n->tag[i]));
    return FIRE_OK;
}

fire_status_t fire_graph_dot_drawing(const fire_graph_t *g, const char *rankdir,
                                     fire_str_t *out)
{
    FIRE_TRY(fire_str_printf(out,
                             "digraph net {\nrankdir=%s;\n"
                             "node [shape=box style=rounded fontname=Helvetica];\n",
                             rankdir));
    for (int64_t i = 0; i < g->nnode; i++) {
        FIRE_TRY(fire_str_printf(out, "n%lld [label=\"", (long long)i));
        FIRE_TRY(add_label(out, &g->node[i]));
        FIRE_TRY(fire_str_printf(out, "\"];\n"));
    }
    for (int64_t i = 0; i < g->nedge; i++)
        FIRE_TRY(fire_str_printf(out, "n%d -> n%d;\n", g->edge[i].from, g->edge[i].to));
    return fire_str_printf(out, "}\n");
}

/* ---- placed by Graphviz ---- */

/* Read the next number of a line; 0 if there is none. */
static double next_number(const char **at)
{
    double value = 0;
    int    n     = 0;

    if (sscanf(*at, "%lf%n", &value, &n) == 1) *at += n;
    return value;
}

/* Read a node "n3" and return its number, or -1. */
static int next_node(const fire_graph_t *g, const char **at)
{
    int node = -1, n = 0;

    if (sscanf(*at, " n%d%n", &node, &n) == 1) *at += n;
    return node < g->nnode ? node : -1;
}

/* Read a place. Graphviz's y axis points up, in inches. */
static void next_place(const fire_graph_t *g, const char **at, double *x, double *y)
{
    *x = MARGIN + next_number(at) * INCH;
    *y = g->height - MARGIN - next_number(at) * INCH;
}

/* "n3 x y width height ..." */
static void place_node(fire_graph_t *g, const char *at)
{
    int i = next_node(g, &at);

    if (i >= 0) next_place(g, &at, &g->node[i].x, &g->node[i].y);
}

/* "n1 n2 POINTS x y x y ...": a curve of 3 k + 1 points becomes k edges of one Bezier
 * piece each. */
static fire_status_t place_edge(fire_graph_t *g, const char *at)
{
    int    from = next_node(g, &at), to = next_node(g, &at);
    int    points = (int)next_number(&at);
    double x[4], y[4];

    for (int i = 0; i < points && from >= 0 && to >= 0; i++) {
        int k = i == 0 ? 0 : (i - 1) % 3 + 1;

        next_place(g, &at, &x[k], &y[k]);
        if (k < 3) continue;
        FIRE_TRY(fire_grow(&g->edge, &g->edge_cap, g->nedge + 1, sizeof(*g->edge)));
        g->edge[g->nedge] = (fire_graph_edge_t){.from = from, .to = to};
        memcpy(g->edge[g->nedge].x, x, sizeof(x));
        memcpy(g->edge[g->nedge++].y, y, sizeof(y));
        x[0] = x[3];
        y[0] = y[3];
    }
    return FIRE_OK;
}

/* All pieces of a curve except the last one end at a bend, where no arrow head is
 * drawn. */
static fire_status_t mark_bends(fire_graph_t *g)
{
    int bend = (int)g->nnode;

    FIRE_TRY(fire_grow(&g->node, &g->node_cap, g->nnode + 1, sizeof(*g->node)));
    g->node[g->nnode++] = (fire_graph_node_t){0};
    for (int64_t i = 0; i + 1 < g->nedge; i++)
        if (g->edge[i].from == g->edge[i + 1].from &&
            g->edge[i].to == g->edge[i + 1].to)
            g->edge[i].to = bend;
    return FIRE_OK;
}

fire_status_t fire_graph_placed(fire_graph_t *g, const char *plain)
{
    const char *at = plain;

    if (strncmp(at, "graph ", 6) != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "Graphviz answers \"%.40s\"", plain);
    at += 6;
    next_number(&at);
    g->width  = next_number(&at) * INCH + 2 * MARGIN;
    g->height = next_number(&at) * INCH + 2 * MARGIN;
    g->nedge  = 0;
    g->flow_x = 0;
    g->flow_y = 1;
    for (at = strchr(at, '\n'); at != NULL; at = strchr(at, '\n')) {
        at++;
        if (strncmp(at, "node n", 6) == 0) place_node(g, at + 4);
        if (strncmp(at, "edge n", 6) == 0) FIRE_TRY(place_edge(g, at + 4));
    }
    return mark_bends(g);
}
