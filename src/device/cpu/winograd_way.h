/* winograd_way.h - one direction of a convolution by Winograd's algorithm, whatever the
 * size of its tiles: where tiles begin, where taps lie. */
#ifndef FIRE_DEVICE_CPU_WINOGRAD_WAY_H
#define FIRE_DEVICE_CPU_WINOGRAD_WAY_H
#include "device/cpu/simd.h"
#include "device/cpu/winograd.h"

enum { FIRE_SIDE = 6 }; /* most taps or outputs along the edge of a tile */

/* From `in` to `out`. */
typedef struct fire_way {
    fire_dtype_t dtype;            /* of activations */
    int          tile, taps, side; /* places, taps and outputs along a tile's edge */
    int64_t      num, in[2], out[2], pad[2];
    int64_t      in_channels, out_channels, in_blocks, out_blocks;
    int64_t      depth;             /* channels of a group that go into one output */
    int64_t      in_step, out_step; /* blocks of a group */
    int64_t      across, per_image, tiles;
    int64_t      chunk; /* tiles that go through together; left to the caller */
} fire_way_t;

/* back: from the gradient of the outputs to that of the inputs */
fire_way_t fire_way_make(const fire_winograd_t *c, bool back, int tile);

/* A part of an image; a place has 16 channels, a row `width` places. Of the tile only
 * rows y0 ... y1 - 1 and columns x0 ... x1 - 1 lie inside, the rest counts as zero. */
typedef struct fire_tile_part {
    int64_t width, corner; /* corner: the place where the tile begins */
    int     y0, y1, x0, x1;
} fire_tile_part_t;

/* What tile t reads and writes, in the first block of channels. */
fire_tile_part_t fire_way_input(const fire_way_t *w, int64_t t);
fire_tile_part_t fire_way_output(const fire_way_t *w, int64_t t);

/* Where the taps lie that lead from channel k of a group to channel 0 of a block of
 * outputs, and how far apart those of neighbours are. */
typedef struct fire_taps_at {
    int64_t first, lane;
} fire_taps_at_t;

fire_taps_at_t fire_way_find_taps(const fire_way_t *w, bool back, int64_t block,
                                  int64_t k);
int            fire_way_lanes(const fire_way_t *w, int64_t block); /* that are in use */

/* These taps for all 16 channels of the block, as (tap, 16); zeros where there is no such
 * channel. n: w->taps, as a constant */
FIRE_SIMD void fire_way_taps(int n, const fire_way_t *w, bool back,
                             const float *weights, int64_t block, int64_t k,
                             float *taps)
{
    fire_taps_at_t at   = fire_way_find_taps(w, back, block, k);
    int            size = n * n, lanes = k < w->depth ? fire_way_lanes(w, block) : 0;

    if (lanes < FIRE_LANES)
        memset(taps, 0, (size_t)(size * FIRE_LANES) * sizeof(*taps));
    for (int j = 0; j < lanes; j++)
        for (int i = 0; i < size; i++)
            taps[(back ? size - 1 - i : i) * FIRE_LANES + j] =
                weights[at.first + j * at.lane + i];
}

static inline int64_t fire_ceil_div(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}

static inline int fire_within(int64_t x, int64_t high)
{
    return (int)(x < 0 ? 0 : x < high ? x : high);
}
#endif
