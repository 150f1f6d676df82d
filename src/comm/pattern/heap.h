/* heap.h - k trees over the same ranks whose interior ranks are disjoint, so that every
 * rank sums for one color at most (Kumar et al.'s multi-color allreduce).
 *
 * Color c rotates the rank order by floor(c*n/k) and puts an a-ary heap over it. A
 * heap's interior is its first ceil((n-1)/a) positions; with a = ceil((n-1) /
 * floor(n/k)) they fit between the offsets of two colors for any k <= n. Where k
 * divides n, a is k.
 *
 *   n = 8, k = 4:   color 0: 0 --+-- 1 -- 5,6,7     interior {0,1}
 *                                +-- 2,3,4
 *                   color 1: 2 --+-- 3 -- 7,0,1     interior {2,3}
 *                                +-- 4,5,6 */
#ifndef FIRE_PATTERN_HEAP_H
#define FIRE_PATTERN_HEAP_H

typedef struct fire_heap {
    int rank, size;
    int arity;  /* children of an interior rank */
    int offset; /* rank at the root */
    int at;     /* this rank's position in the heap; the root's is 0 */
} fire_heap_t;

static inline fire_heap_t fire_heap(int rank, int size, int color, int ncolor)
{
    int         room = size / ncolor;
    fire_heap_t h    = {.rank = rank, .size = size};

    h.arity  = size > 1 ? (size - 1 + room - 1) / room : 1;
    h.offset = (int)((long)color * size / ncolor);
    h.at     = (rank - h.offset + size) % size;
    return h;
}

/* A rank; -1 at the root. */
static inline int fire_heap_parent(const fire_heap_t *h)
{
    return h->at == 0 ? -1 : ((h->at - 1) / h->arity + h->offset) % h->size;
}

static inline int fire_heap_children(const fire_heap_t *h)
{
    int first = h->at * h->arity + 1, left = h->size - first;

    return left < 0 ? 0 : left < h->arity ? left : h->arity;
}

/* The rank of the i-th child. */
static inline int fire_heap_child(const fire_heap_t *h, int i)
{
    return (h->at * h->arity + 1 + i + h->offset) % h->size;
}

/* Levels below the root. */
static inline int fire_heap_depth(const fire_heap_t *h)
{
    int depth = 0;

    for (int last = h->size - 1; last > 0; last = (last - 1) / h->arity)
        depth++;
    return depth;
}
#endif
