/* roots.h - lanes on any number of workers: which sums of the canonical tree over lanes
 * a worker can make alone. A worker holds a run of lanes; its roots are the largest
 * subtrees that lie inside the run, from left to right:
 *
 *   lanes 3, 4, 5, 6 of 8        0   1   2  [3] [4   5] [6]  7
 *
 * What is above the roots is added between workers (algo/forest.c). */
#ifndef FIRE_PATTERN_ROOTS_H
#define FIRE_PATTERN_ROOTS_H
#include <stdbool.h>

/* A subtree: lanes first ... end - 1. */
typedef struct fire_root {
    int first, end;
} fire_root_t;

enum { FIRE_MAX_ROOTS = 64 }; /* of a run: two for each level of the tree */

/* The largest subtree that begins at lane `first` and has no lane from `end` on. The
 * tree is over `lanes` lanes; those that a subtree lacks at its end do not matter. */
static inline fire_root_t fire_root_at(int first, int end, int lanes)
{
    int n = 1;

    while (n < lanes - first && first % (2 * n) == 0 &&
           (end == lanes || first + 2 * n <= end))
        n *= 2;
    return (fire_root_t){first, first + n < end ? first + n : end};
}

/* The roots of the run first ... end - 1, into root[FIRE_MAX_ROOTS]; returns how
 * many. */
static inline int fire_roots(int first, int end, int lanes, fire_root_t *root)
{
    int n = 0;

    for (; first < end; first = root[n++].end)
        root[n] = fire_root_at(first, end, lanes);
    return n;
}

static inline bool fire_runs_are_equal(const int *lane, int runs)
{
    for (int r = 1; r < runs; r++)
        if (lane[r + 1] - lane[r] != lane[1]) return false;
    return true;
}

/* Run r is lanes lane[r] ... lane[r + 1] - 1. Is the tree over lanes, above the runs,
 * the tree over workers? Then each run has one root, and algorithms need not know of
 * lanes. */
static inline bool fire_runs_are_even(const int *lane, int runs)
{
    int block = lane[1];

    for (int r = 0; r < runs - 1; r++)
        if (lane[r + 1] - lane[r] != block) return false;
    return runs == 1 ||
           ((block & (block - 1)) == 0 && lane[runs] - lane[runs - 1] <= block);
}
#endif
