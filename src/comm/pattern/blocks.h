/* blocks.h - any number of ranks as aligned power-of-two blocks, largest first, and the
 * span that each rank of a block holds while the block halves a buffer, nearest partner
 * first.
 *
 *   size 13:  [0 .. 7]  [8 .. 11]  [12]
 *
 * The canonical sum over 13 ranks is S(0..7) + (S(8..11) + S(12)): each block sums
 * canonically inside, then the smallest is added to the next larger one, and so on.
 *
 * Halving by bit 0 first, in a block of 4:
 *
 *   v = 0: |####|    |    |    |      v = 1: |    |    |####|    |
 *   v = 2: |    |####|    |    |      v = 3: |    |    |    |####|
 *
 * Therefore the span of position v in a block of 2^k is the union of the spans of v, v
 * + 2^k, v + 2*2^k ... in a larger block. */
#ifndef FIRE_PATTERN_BLOCKS_H
#define FIRE_PATTERN_BLOCKS_H
#include "comm/sched.h"

typedef struct fire_block {
    int first, bits; /* ranks first ... first + 2^bits - 1 */
} fire_block_t;

/* The block of a rank and the next ones in size; bits is -1 where there is none. */
typedef struct fire_blocks {
    fire_block_t larger, mine, smaller;
} fire_blocks_t;

static inline fire_blocks_t fire_blocks(int rank, int size)
{
    const fire_block_t none = {.bits = -1};
    fire_blocks_t      b    = {none, none, none};

    for (int bits = 30, first = 0; bits >= 0; bits--) {
        if (!(size >> bits & 1)) continue;
        if (first > rank) {
            b.smaller = (fire_block_t){first, bits};
            break;
        }
        b.larger = b.mine;
        b.mine   = (fire_block_t){first, bits};
        first += 1 << bits;
    }
    return b;
}

/* The span that position v holds after `steps` halvings: bit d of v chooses the half of
 * halving d. */
static inline fire_span_t fire_block_piece(fire_span_t span, int v, int steps,
                                           size_t grain)
{
    for (int d = 0; d < steps; d++)
        span = fire_span_part(span, v >> d & 1, 2, grain);
    return span;
}
#endif
