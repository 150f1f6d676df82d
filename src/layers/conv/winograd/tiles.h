/* tiles.h - one direction of a convolution by Winograd's algorithm, whatever the
 * size of its tiles: where tiles begin, where taps lie. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_TILES_H
#define FIRE_LAYERS_CONV_WINOGRAD_TILES_H
#include "device/cpu/simd.h"
#include "layers/conv/winograd/winograd.h"

enum {
    FIRE_WINO_LARGE = 8,  /* places along the edge of a tile */
    FIRE_WINO_SMALL = 4,  /* of a tile of 3x3 taps, on small maps and in bfloat16 */
    FIRE_WINO_EDGE  = 6,  /* most taps or outputs along the edge of a tile */
    FIRE_WINO_ROWS  = 12, /* rows of a product at a time: as many sums as registers
                           * hold beside the factors */
};

/* From `in` to `out`. */
typedef struct fire_wino_pass {
    fire_dtype_t dtype;               /* of activations */
    int          tile, taps, outputs; /* places, taps and outputs along a tile's edge */
    int64_t      num, in[2], out[2], pad[2];
    int64_t      in_channels, out_channels, in_blocks, out_blocks;
    int64_t      depth;             /* channels of a group that go into one output */
    int64_t      in_step, out_step; /* blocks of a group */
    int64_t      across, per_image, tiles;
    int64_t      chunk; /* tiles that go through together; left to the caller */
} fire_wino_pass_t;

/* back: from the gradient of the outputs to that of the inputs */
fire_wino_pass_t fire_wino_pass_make(const fire_winograd_t *c, bool back, int tile);

/* A part of an image; a place has 16 channels, a row `width` places. Of the tile only
 * rows y0 ... y1 - 1 and columns x0 ... x1 - 1 lie inside, the rest counts as zero. */
typedef struct fire_wino_tile {
    int64_t width, corner; /* corner: the place where the tile begins */
    int     y0, y1, x0, x1;
} fire_wino_tile_t;

/* What tile t reads and writes, in the first block of channels. */
fire_wino_tile_t fire_wino_input_tile(const fire_wino_pass_t *w, int64_t t);
fire_wino_tile_t fire_wino_output_tile(const fire_wino_pass_t *w, int64_t t);

/* Tiles in order, without a division for each. */
typedef struct fire_wino_at {
    int64_t image, y, x; /* y, x: in tiles */
} fire_wino_at_t;

static inline fire_wino_at_t fire_wino_at(const fire_wino_pass_t *w, int64_t t)
{
    return (fire_wino_at_t){t / w->per_image, t % w->per_image / w->across,
                            t % w->across};
}

static inline fire_wino_at_t fire_wino_next(const fire_wino_pass_t *w,
                                            fire_wino_at_t          at)
{
    if (++at.x < w->across) return at;
    at.x = 0;
    if (++at.y < w->per_image / w->across) return at;
    return (fire_wino_at_t){at.image + 1, 0, 0};
}

static inline int fire_wino_clamp(int64_t x, int64_t high)
{
    return (int)(x < 0 ? 0 : x < high ? x : high);
}

/* n places a side, from (y, x) of image `image` on. */
static inline fire_wino_tile_t fire_wino_clip(const int64_t *dim, int64_t image,
                                              int64_t y, int64_t x, int n)
{
    return (fire_wino_tile_t){.width  = dim[1],
                              .corner = (image * dim[0] + y) * dim[1] + x,
                              .y0     = fire_wino_clamp(-y, n),
                              .y1     = fire_wino_clamp(dim[0] - y, n),
                              .x0     = fire_wino_clamp(-x, n),
                              .x1     = fire_wino_clamp(dim[1] - x, n)};
}

static inline fire_wino_tile_t fire_wino_input_tile_at(const fire_wino_pass_t *w,
                                                       fire_wino_at_t          at)
{
    return fire_wino_clip(w->in, at.image * w->in_blocks, at.y * w->outputs - w->pad[0],
                          at.x * w->outputs - w->pad[1], w->tile);
}

static inline fire_wino_tile_t fire_wino_output_tile_at(const fire_wino_pass_t *w,
                                                        fire_wino_at_t          at)
{
    return fire_wino_clip(w->out, at.image * w->out_blocks, at.y * w->outputs,
                          at.x * w->outputs, w->outputs);
}

/* Where the taps lie that lead from channel k of a group to channel 0 of a block of
 * outputs, and how far apart those of neighbours are. */
typedef struct fire_wino_taps {
    int64_t first, lane;
} fire_wino_taps_t;

fire_wino_taps_t fire_wino_find_taps(const fire_wino_pass_t *w, bool back,
                                     int64_t block, int64_t k);
int fire_wino_lanes(const fire_wino_pass_t *w, int64_t block); /* that are in use */

/* These taps for all 16 channels of the block, as (tap, 16); zeros where there is no such
 * channel. n: w->taps, as a constant */
FIRE_SIMD void fire_wino_gather_taps(int n, const fire_wino_pass_t *w, bool back,
                                     const float *weights, int64_t block, int64_t k,
                                     float *taps)
{
    fire_wino_taps_t at   = fire_wino_find_taps(w, back, block, k);
    int              size = n * n, lanes = k < w->depth ? fire_wino_lanes(w, block) : 0;

    if (lanes < FIRE_LANES)
        memset(taps, 0, (size_t)(size * FIRE_LANES) * sizeof(*taps));
    for (int j = 0; j < lanes; j++)
        for (int i = 0; i < size; i++)
            taps[(back ? size - 1 - i : i) * FIRE_LANES + j] =
                weights[at.first + j * at.lane + i];
}

/* Transformed arrays are panels: (point, block of 16 channels, row, 16), where a row is a
 * tile or a channel. From point to point there is one vector more than the panel needs:
 * else all points of a tile would compete for the same lines of the cache. */
static inline int64_t fire_wino_point_step(int64_t blocks, int64_t rows)
{
    return (blocks * rows + 1) * FIRE_LANES;
}

static inline int64_t fire_wino_points(const fire_wino_pass_t *w)
{
    return w->tile * w->tile;
}

static inline size_t fire_wino_panel_bytes(const fire_wino_pass_t *w, size_t real,
                                           int64_t blocks, int64_t rows)
{
    return (size_t)(fire_wino_points(w) * fire_wino_point_step(blocks, rows)) * real;
}

/* The steps of one direction, on panels of numbers of one kind. */
typedef struct fire_wino_steps {
    size_t real; /* bytes of a number */
    /* tile t of all channels into row `row` of a panel of `rows` */
    void (*read_input)(const fire_wino_pass_t *w, int64_t t, const void *x, int64_t row,
                       int64_t rows, void *panel);
    /* taps into panel (point, block of outputs, channel of the group, 16) */
    void (*read_taps)(const fire_wino_pass_t *w, bool back, const float *weights,
                      int64_t block, int64_t k, void *panel);
    /* c = a b, of one point; a has `depth` columns in blocks of 16, a_block apart */
    void (*multiply)(int64_t rows, int64_t depth, const void *a, int64_t a_block,
                     const void *b, void *c);
    /* a block of channels of tile t */
    void (*write_output)(const fire_wino_pass_t *w, int64_t t, int64_t block,
                         const void *src, const float *bias, float slope, void *y);
} fire_wino_steps_t;

extern const fire_wino_steps_t fire_wino_f32;
extern const fire_wino_steps_t fire_wino_f64; /* of 5x5 taps in float32 */

/* dweights += their gradient, with sums in float32. tile: its edge, in places */
fire_status_t fire_winograd_f32_weights(const fire_winograd_t *c, int tile,
                                        const void *x, const void *dy, float *dweights,
                                        fire_pool_t *pool);

static inline int64_t fire_ceil_div(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}
#endif
