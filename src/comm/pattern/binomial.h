/* binomial.h - who talks to whom in a binomial tree: a pure function of position and
 * size. Positions count from the root, which is 0.
 *
 *   size 8      0 --+-- 1            Children are listed smallest subtree first. Adding
 *                   +-- 2 -- 3       them to the own value in that order makes the
 *                   +-- 4 --+-- 5    canonical sum ((0+1)+(2+3))+((4+5)+(6+7)), for
 *                           +-- 6    every size: leaves that do not exist are left out.
 *                               |
 *                               7                                                  */
#ifndef FIRE_PATTERN_BINOMIAL_H
#define FIRE_PATTERN_BINOMIAL_H

typedef struct fire_tree {
    int parent;            /* -1 at the root */
    int depth;             /* of the whole tree */
    int nchild, child[31]; /* positions */
} fire_tree_t;

static inline fire_tree_t fire_binomial(int position, int size)
{
    fire_tree_t t = {.parent = -1};

    while (1 << t.depth < size)
        t.depth++;
    for (int bit = 1; bit < size; bit <<= 1) {
        if (position & bit) {
            t.parent = position ^ bit;
            break;
        }
        if ((position | bit) < size) t.child[t.nchild++] = position | bit;
    }
    return t;
}
#endif
