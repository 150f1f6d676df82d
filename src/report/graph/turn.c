/* turn.c - turns a graph so that the net flows right, left or up instead of
 * down. */
#include "report/graph/graph.h"

static void swap(double *a, double *b)
{
    double kept = *a;

    *a = *b;
    *b = kept;
}

void fire_graph_transpose(fire_graph_t *g)
{
    for (int64_t i = 0; i < g->nnode; i++) {
        swap(&g->node[i].x, &g->node[i].y);
        swap(&g->node[i].w, &g->node[i].h);
    }
    for (int64_t i = 0; i < g->nedge; i++)
        for (int k = 0; k < 4; k++)
            swap(&g->edge[i].x[k], &g->edge[i].y[k]);
    swap(&g->width, &g->height);
    swap(&g->flow_x, &g->flow_y);
}

/* Mirror in the direction of the flow. */
void fire_graph_mirror(fire_graph_t *g)
{
    bool across = g->flow_x != 0;

    for (int64_t i = 0; i < g->nnode; i++) {
        if (across)
            g->node[i].x = g->width - g->node[i].x;
        else
            g->node[i].y = g->height - g->node[i].y;
    }
    for (int64_t i = 0; i < g->nedge; i++)
        for (int k = 0; k < 4; k++) {
            if (across)
                g->edge[i].x[k] = g->width - g->edge[i].x[k];
            else
                g->edge[i].y[k] = g->height - g->edge[i].y[k];
        }
    g->flow_x = -g->flow_x;
    g->flow_y = -g->flow_y;
}
