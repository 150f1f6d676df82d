/* tiles.h - the geometry of Winograd's algorithm, for any size of tiles: which inputs
 * and outputs a tile covers, where its taps are among the weights, and the panels in
 * which transformed values are kept. */
#ifndef FIRE_LAYERS_CONV_WINOGRAD_TILES_H
#define FIRE_LAYERS_CONV_WINOGRAD_TILES_H
#include "device/cpu/simd.h"
#include "layers/conv/winograd/winograd.h"

enum {
    FIRE_WINO_LARGE = 8, /* alpha: places along the edge of a tile */
    FIRE_WINO_SMALL = 4, /* the same of 3x3 taps, on small maps and in bfloat16 */
    FIRE_WINO_EDGE  = 6, /* most taps or outputs along the edge of a tile */
    FIRE_WINO_ROWS  = 12 /* rows of a product at a time: sums that fit into registers */
};

/* One pass over a convolution: forward from x to y, or backward from dy to dx. That is
 * a convolution too, with taps turned around and channels swapped. `in` is what is
 * read. */
typedef struct fire_wino_pass {
    fire_dtype_t dtype;               /* of activations */
    int          tile, taps, outputs; /* alpha, r, m: along an edge */
    int64_t      num, in[2], out[2], pad[2];
    int64_t      in_channels, out_channels, in_blocks, out_blocks;
    int64_t      depth;             /* input channels of one output: those of a group */
    int64_t      in_step, out_step; /* blocks of a group */
    int64_t      across, per_image, tiles; /* tiles of a row, of an image, of all */
    int64_t      chunk; /* tiles handled together; set by the caller */
} fire_wino_pass_t;

/* back: from the gradient of the outputs to that of the inputs. tile: alpha */
fire_wino_pass_t fire_wino_pass_make(const fire_winograd_t *c, bool back, int tile);

/* A tile of an image: rows y0 ... y1 - 1 and columns x0 ... x1 - 1 of it are inside the
 * image, the others count as zero. Offsets are in places of 16 channels. */
typedef struct fire_wino_tile {
    int64_t width;  /* places of a row of the image */
    int64_t corner; /* offset of the tile's first place */
    int     y0, y1, x0, x1;
} fire_wino_tile_t;

/* What tile t reads and writes, in the first block of channels of its image. */
fire_wino_tile_t fire_wino_input_tile(const fire_wino_pass_t *w, int64_t t);
fire_wino_tile_t fire_wino_output_tile(const fire_wino_pass_t *w, int64_t t);

/* The position of a tile; stepping to the next one needs no division. */
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

/* A tile of n x n places from (y, x) on, clipped to plane `image` (image * blocks). */
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

/* Where the taps from channel k of a group to channel 0 of a block of outputs are among
 * the weights, and how many elements lie between those of neighbouring outputs. */
typedef struct fire_wino_taps {
    int64_t first, lane;
} fire_wino_taps_t;

fire_wino_taps_t fire_wino_find_taps(const fire_wino_pass_t *w, bool back,
                                     int64_t block, int64_t k);
int fire_wino_lanes(const fire_wino_pass_t *w, int64_t block); /* that are in use */

/* Gather these taps for all 16 channels of the block, as (tap, 16); zeros where there
 * is no channel. back: turned around. n: w->taps, as a constant */
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

/* Transformed arrays are panels (point, block of 16 channels, row, 16), where a row is
 * a tile or a channel. Returns the elements from point to point, which include one
 * vector of padding: without it, the points of a tile would compete for the same cache
 * sets. */
static inline int64_t fire_wino_point_step(int64_t blocks, int64_t rows)
{
    return (blocks * rows + 1) * FIRE_LANES;
}

/* Points of a tile, and bytes of a panel. */
static inline int64_t fire_wino_points(const fire_wino_pass_t *w)
{
    return w->tile * w->tile;
}

static inline size_t fire_wino_panel_bytes(const fire_wino_pass_t *w, size_t real,
                                           int64_t blocks, int64_t rows)
{
    return (size_t)(fire_wino_points(w) * fire_wino_point_step(blocks, rows)) * real;
}

/* The steps of a pass, for panels of one number format. */
typedef struct fire_wino_steps {
    size_t real; /* bytes of a number */
    /* B' d B: tile t of all channels, into row `row` of a panel of `rows` rows */
    void (*read_input)(const fire_wino_pass_t *w, int64_t t, const void *x, int64_t row,
                       int64_t rows, void *panel);
    /* G g G': into panel (point, block of outputs, channel of the group, 16) */
    void (*read_taps)(const fire_wino_pass_t *w, bool back, const float *weights,
                      int64_t block, int64_t k, void *panel);
    /* c = a b for one point; a has `depth` columns in blocks of 16, a_block apart */
    void (*multiply)(int64_t rows, int64_t depth, const void *a, int64_t a_block,
                     const void *b, void *c);
    /* A' c A + bias, then ReLU: a block of channels of tile t, where it is inside y */
    void (*write_output)(const fire_wino_pass_t *w, int64_t t, int64_t block,
                         const void *src, const float *bias, float slope, void *y);
} fire_wino_steps_t;

extern const fire_wino_steps_t fire_wino_f32;
extern const fire_wino_steps_t fire_wino_f64; /* of 5x5 taps in float32 */

/* dweights += the gradient of the weights, in float32. tile: alpha */
fire_status_t fire_winograd_f32_weights(const fire_winograd_t *c, int tile,
                                        const void *x, const void *dy, float *dweights,
                                        fire_pool_t *pool);

static inline int64_t fire_ceil_div(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}
#endif
