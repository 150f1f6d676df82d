/* reduce.c - canonical sums, block by block, so that partial sums stay in the cache. */
#include "comm/exec/reduce.h"

#include <string.h>

#include "base/vector.h"

/* BLOCK: elements; a few blocks fit into the first-level cache. LEVELS: up to 2^20
 * lanes. */
enum { BLOCK = 1024, LEVELS = 21 };

FIRE_VECTOR void fire_sum_pair(float *dst, const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = a[i] + b[i];
}

FIRE_VECTOR static void sum_four(float *dst, const float *a, const float *b,
                                 const float *c, const float *d, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = (a[i] + b[i]) + (c[i] + d[i]);
}

/* The level at which source s begins: it is the sum of 2^level lanes, or of fewer at
 * the end. */
static int level_of(const int *lane, int s)
{
    int k = 0;

    while (lane != NULL && 1 << k < lane[s + 1] - lane[s])
        k++;
    return k;
}

/* The binary tree by counting: level k holds the sum of 2^k sources, and two sums of
 * one level make one of the next, as carries do.
 *
 *     sources    0    1         2    3              level 0: a source itself
 *                0 -> 0+1       2 -> 2+3 -> (0+1)+(2+3)       level 1, level 2
 *
 * A source that is a sum of lanes already begins at its own level. At the end, levels
 * that are left over are added from the lowest, i.e. from the right.
 * A dst may be a source: only level 0 is a source, and it is read before dst is
 * written. */
static void sum_many(float *dst, const float *const *src, int nsrc, const int *lane,
                     size_t at, size_t n)
{
    float        store[LEVELS][BLOCK];
    const float *level[LEVELS], *acc = NULL;
    unsigned     there = 0; /* bit k: level[k] is in use */

    for (int s = 0; s < nsrc; s++) {
        int          first = level_of(lane, s), top = first;
        const float *x = src[s] + at;

        while (there >> top & 1)
            top++;
        for (int k = first; k < top; k++) {
            fire_sum_pair(store[top], level[k], x, n);
            x = store[top];
        }
        level[top] = x;
        there      = (there >> top | 1u) << top;
    }
    for (int k = 0; k < LEVELS; k++) {
        if (!(there >> k & 1)) continue;
        if (acc != NULL) fire_sum_pair(dst, level[k], acc, n);
        acc = acc != NULL ? dst : level[k];
    }
    if (acc != dst) memmove(dst, acc, n * sizeof(*dst));
}

void fire_sum_all(float *const *dst, int ndst, const float *const *src, int nsrc,
                  const int *lane, size_t n)
{
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t len = n - at < BLOCK ? n - at : BLOCK;
        float *sum = dst[0] + at;

        if (nsrc == 2)
            fire_sum_pair(sum, src[0] + at, src[1] + at, len);
        else if (nsrc == 4 && lane == NULL)
            sum_four(sum, src[0] + at, src[1] + at, src[2] + at, src[3] + at, len);
        else
            sum_many(sum, src, nsrc, lane, at, len);
        for (int d = 1; d < ndst; d++)
            memcpy(dst[d] + at, sum, len * sizeof(*sum));
    }
}
