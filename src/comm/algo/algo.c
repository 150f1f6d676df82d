/* algo.c - the table of algorithms. */
#include "comm/algo/algo.h"

#include <stdio.h>
#include <string.h>

#define FIRE_ALGO(name) extern const fire_algo_t fire_algo_##name;
#include "comm/algo/algos.def"
#undef FIRE_ALGO

#define FIRE_ALGO(name) &fire_algo_##name,
static const fire_algo_t *const table[] = {
#include "comm/algo/algos.def"
    NULL,
};
#undef FIRE_ALGO

const fire_algo_t *fire_algo_at(int i)
{
    return table[i];
}

fire_status_t fire_algo_find(const char *name, const fire_algo_t **algo_p)
{
    char   known[256] = "";
    size_t n          = 0;

    for (int i = 0; table[i] != NULL; i++) {
        if (strcmp(table[i]->name, name) == 0) {
            *algo_p = table[i];
            return FIRE_OK;
        }
        n += (size_t)snprintf(known + n, sizeof(known) - n, " %s", table[i]->name);
    }
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "unknown collective algorithm \"%s\"; known are%s and auto", name,
                     known);
}

/* Does every node hold ranks k*2^j ... (k+1)*2^j - 1, with one j for all nodes? The
 * last node may hold fewer. Then sums inside nodes are subtrees of the canonical
 * tree. */
static bool nodes_are_aligned(const fire_coll_t *c)
{
    int block = 1;

    while (block < c->size && c->node[block] == c->node[0])
        block++;
    if ((block & (block - 1)) != 0 && block < c->size) return false;
    for (int r = 1; r < c->size; r++) {
        int from = r % block == 0 ? 0 : r - 1; /* a new node, or the one before */

        for (int q = from; q < r; q++)
            if ((c->node[q] == c->node[r]) != (r % block != 0)) return false;
    }
    return true;
}

bool fire_algo_is_canonical(const fire_algo_t *algo, const fire_coll_t *c)
{
    if (!(algo->flags & FIRE_ALGO_CANONICAL)) return false;
    if (!(algo->flags & FIRE_ALGO_BY_NODE)) return true;
    if (c->outer != NULL && !(c->outer->flags & FIRE_ALGO_CANONICAL)) return false;
    if (c->lane != NULL) return true; /* planned lane by lane (forest.c) */
    return c->node == NULL || nodes_are_aligned(c);
}
