/* cost.c - terms of cost formulas (cost.h). */
#include "comm/algo/cost.h"

bool fire_coll_on_one_node(const fire_coll_t *c)
{
    if (c->node == NULL) return c->size == 1;
    for (int i = 1; i < c->size; i++)
        if (c->node[fire_coll_rank(c, i)] != c->node[fire_coll_rank(c, 0)])
            return false;
    return true;
}

int fire_parts_all(int size)
{
    return size;
}

fire_cost_t fire_cost_of(const fire_coll_t *c, const fire_machine_t *m, int parts)
{
    const fire_link_t *link  = fire_coll_on_one_node(c) ? &m->node : &m->net;
    double             bytes = (double)c->span.len * sizeof(float);
    double             chain = (double)c->piece * sizeof(float) * parts;
    fire_cost_t        k     = {.chains = 1};

    while (chain > 0 && k.chains * chain < bytes)
        k.chains++;
    k.message = link->alpha + link->beta * bytes / k.chains / parts;
    k.add     = link->gamma * bytes / k.chains / parts;
    return k;
}
