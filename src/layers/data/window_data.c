/* window_data.c - WindowData: windows of images, warped to crop_size, as R-CNN trains
 * on (Girshick and others, 2014). A batch has background windows first, then a fraction
 * fg_fraction of foreground ones; which ones is drawn anew for every sample.
 *
 *   top 0: (N, 3, crop_size, crop_size)
 *   top 1: (N) labels; 0 is background */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/transform/transform.h"
#include "data/window_list.h"
#include "layers/data/feed.h"

/* The state of the layer; read-only once the prefetcher runs. */
typedef struct window_data {
    fire_feed_t                       feed; /* must be first */
    const Caffe__WindowDataParameter *param;
    fire_transform_t                  transform;
    fire_window_list_t                list;
    int                               crop, context_pad;
    float                             scale; /* factor of what is pasted */
    /* crop_mode "square": extend windows to squares */
    bool                square;
    fire_caffe_draws_t *draws; /* Caffe's random numbers, or NULL */
} window_data_t;

/* The part of an image that is used (corners included), and its place in the result. */
typedef struct cut {
    int x1, y1, x2, y2;
    int width, height; /* after warping */
    int left, top;     /* padding before it */
} cut_t;

/* Random number `which` of a sample, below n: 0 chooses the window, 1 the mirror. Caffe
 * draws the second only if mirroring is on. */
static uint64_t draw(const window_data_t *d, uint64_t seed, int64_t sample, int which,
                     uint64_t n)
{
    bool mirror = d->transform.mirror;

    if (d->draws != NULL)
        return fire_caffe_draws_at(d->draws, sample * (1 + mirror) + which) % n;
    return fire_rng_below(fire_rng_key(seed, FIRE_RNG_CROP, d->transform.stream, 0),
                          2 * (uint64_t)sample + (uint64_t)which, n);
}

/* What is random about a sample; a function of seed and sample number. */
typedef struct choice {
    const fire_image_window_t *window;
    bool                       mirror;
} choice_t;

/* Choose window and mirror of a row. Its position in the whole batch decides if it is
 * foreground. */
static choice_t choose(const window_data_t *d, const fire_batch_t *batch, int64_t row)
{
    int64_t batch_size = d->param->batch_size;
    int64_t nfg        = (int64_t)((float)batch_size * d->param->fg_fraction);
    int64_t sample     = batch->slice.first + row * batch->slice.stride;
    int64_t place =
        batch->moment.rule == FIRE_BATCH_PER_WORKER ? row : sample % batch_size;
    uint64_t                    seed = batch->moment.seed;
    const fire_image_windows_t *from = &d->list.kind[place >= batch_size - nfg];

    return (choice_t){
        .window = &from->item[draw(d, seed, sample, 0, (uint64_t)from->count)],
        .mirror = d->transform.mirror && draw(d, seed, sample, 1, 2) == 1};
}

/* Round a coordinate, limited to the ten digits that a window file may have: far
 * outside of every image, its exact value does not matter. */
static int placed(float at)
{
    return (int)roundf(fmaxf(-1e9f, fminf(at, 1e9f)));
}

/* A length in pixels of the image, in pixels of the result. */
static int scaled(int n, float scale)
{
    return placed((float)n * scale);
}

static int above_0(int n)
{
    return n > 0 ? n : 0;
}

/* Enlarge the window so that context_pad pixels of the result are around the original
 * one, and to a square if wanted. */
static void expand(cut_t *c, const window_data_t *d)
{
    float scale  = (float)d->crop / (float)(d->crop - 2 * d->context_pad);
    float half_h = (float)(c->y2 - c->y1 + 1) / 2.0f;
    float half_w = (float)(c->x2 - c->x1 + 1) / 2.0f;
    float mid_x = (float)c->x1 + half_w, mid_y = (float)c->y1 + half_h;

    if (d->square) half_h = half_w = fmaxf(half_h, half_w);
    c->x1 = placed(mid_x - half_w * scale);
    c->x2 = placed(mid_x + half_w * scale);
    c->y1 = placed(mid_y - half_h * scale);
    c->y2 = placed(mid_y + half_h * scale);
}

/* Cut off what is outside of the image; it becomes padding in the result. */
static void clip(cut_t *c, const window_data_t *d, fire_extent_t image, bool mirror)
{
    float scale_x = (float)d->crop / (float)(c->x2 - c->x1 + 1);
    float scale_y = (float)d->crop / (float)(c->y2 - c->y1 + 1);
    int   out_l = above_0(-c->x1), out_r = above_0(c->x2 - image.width + 1);
    int   out_t = above_0(-c->y1), out_b = above_0(c->y2 - image.height + 1);

    c->x1 += out_l;
    c->x2 -= out_r;
    c->y1 += out_t;
    c->y2 -= out_b;
    c->left   = scaled(mirror ? out_r : out_l, scale_x);
    c->top    = scaled(out_t, scale_y);
    c->width  = scaled(c->x2 - c->x1 + 1, scale_x);
    c->height = scaled(c->y2 - c->y1 + 1, scale_y);
    if (c->left + c->width > d->crop) c->width = d->crop - c->left;
    if (c->top + c->height > d->crop) c->height = d->crop - c->top;
}

/* Decide which part of the image goes where in the result. */
static fire_status_t plan(const window_data_t *d, choice_t choice, fire_extent_t image,
                          cut_t *cut_p)
{
    const fire_image_window_t *w = choice.window;
    cut_t c    = {w->x1, w->y1, w->x2, w->y2, .width = d->crop, .height = d->crop};
    bool  some = c.x1 <= c.x2 && c.y1 <= c.y2;

    if (some && (d->context_pad > 0 || d->square)) {
        expand(&c, d);
        clip(&c, d, image, choice.mirror);
    }
    if (c.x1 < 0 || c.y1 < 0 || c.x2 >= image.width || c.y2 >= image.height ||
        c.x1 > c.x2 || c.y1 > c.y2 || c.width < 1 || c.height < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "window %d %d %d %d is not inside of the image, %d x %d",
                         w->x1, w->y1, w->x2, w->y2, image.width, image.height);
    *cut_p = c;
    return FIRE_OK;
}

/* Write (x - mean) * scale to the result, whose padding stays 0. */
static void paste(const window_data_t *d, const fire_pixels_t *in, const cut_t *c,
                  bool mirror, float *out)
{
    const fire_transform_t *t = &d->transform;
    fire_extent_t           e = t->mean_extent;
    /* border of the mean image that is not used */
    int edge = (e.width - d->crop) / 2;

    memset(out, 0, (size_t)fire_extent_count(d->feed.options.extent) * sizeof(*out));
    for (int ch = 0; ch < in->extent.channels; ch++)
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++) {
                int64_t from =
                    y * in->step_y + (mirror ? c->width - 1 - x : x) * in->step_x;
                int64_t row = y + c->top, col = x + c->left;
                float   mean = 0;

                if (t->mean != NULL)
                    mean = t->mean[((int64_t)ch * e.height + row + edge) * e.width +
                                   col + edge];
                else if (t->nvalue > 0)
                    mean = t->value[t->nvalue == 1 ? 0 : ch];
                out[((int64_t)ch * d->crop + row) * d->crop + col] =
                    ((float)in->bytes[from + ch] - mean) * d->scale;
            }
}

/* Read an image, cut out and warp the window, write it to out. */
static fire_status_t load_window(const window_data_t *d, choice_t choice,
                                 const char *path, fire_workspace_t *scratch,
                                 uint64_t seed, int64_t sample, float *out)
{
    fire_draw_t   draw = fire_draw(seed, d->transform.stream, sample);
    fire_pixels_t image, warped;
    cut_t         cut;

    FIRE_TRY(fire_image_file_decode(path, FIRE_COLOR_BGR, 0, 0, scratch, &image));
    FIRE_TRY(plan(d, choice, image.extent, &cut));
    image.bytes += cut.y1 * image.step_y + cut.x1 * image.step_x;
    image.extent.height = cut.y2 - cut.y1 + 1;
    image.extent.width  = cut.x2 - cut.x1 + 1;
    FIRE_TRY(
        fire_image_resize(&image, cut.height, cut.width, &scratch->resized, &warped));
    if (d->feed.jitter.active)
        FIRE_TRY(
            fire_jitter_values(&d->feed.jitter, seed, sample, &draw, scratch, &warped));
    paste(d, &warped, &cut, choice.mirror, out);
    return FIRE_OK;
}

/* The load function of the prefetcher. */
static fire_status_t load_row(void *arg, fire_workspace_t *scratch, fire_batch_t *batch,
                              int64_t row)
{
    window_data_t *d      = arg;
    choice_t       choice = choose(d, batch, row);
    char           path[4096];
    float         *out;
    fire_status_t  st;

    snprintf(path, sizeof(path), "%s%s", d->param->root_folder,
             d->list.image[choice.window->image]);
    FIRE_TRY(fire_batch_row(batch, row, d->feed.options.extent, &out));
    st = load_window(d, choice, path, scratch, batch->moment.seed,
                     batch->slice.first + row * batch->slice.stride, out);
    if (st < 0) return fire_error_prefix(st, "%s", path);
    batch->label[row] = (float)choice.window->label;
    return FIRE_OK;
}

/* Check the prototxt and copy what is used per sample. */
static fire_status_t check_param(window_data_t *d)
{
    const fire_transform_t           *t = &d->transform;
    const Caffe__WindowDataParameter *p = d->param;

    if (p->source == NULL || p->batch_size == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "window_data_param needs a `source` and a positive `batch_size`");
    if (t->crop <= 0 || 2 * (uint64_t)p->context_pad >= (uint64_t)t->crop)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "transform_param needs a crop_size above twice context_pad");
    if (t->mean != NULL && (t->mean_extent.channels != 3 ||
                            t->mean_extent.width != t->mean_extent.height ||
                            t->mean_extent.width < t->crop))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "mean file \"%s\" is not a square image of crop_size or more",
                         t->mean_file);
    if (t->nvalue > 1 && t->nvalue != 3)
        return FIRE_FAIL(FIRE_ERR_INVALID, "give 1 or 3 mean_values, not %d",
                         t->nvalue);
    d->scale       = t->scale * p->scale; /* Caffe knows the second one only */
    d->crop        = t->crop;
    d->context_pad = (int)p->context_pad;
    d->square      = strcmp(p->crop_mode, "square") == 0;
    return FIRE_OK;
}

/* Read the window file; a batch needs windows of both kinds it is made of. */
static fire_status_t load_list(window_data_t *d)
{
    const Caffe__WindowDataParameter *p = d->param;
    int64_t nfg = (int64_t)((float)p->batch_size * p->fg_fraction);

    FIRE_TRY(
        fire_window_list_load(p->source, p->fg_threshold, p->bg_threshold, &d->list));
    FIRE_LOG(INFO, "%s: %lld images, %lld background and %lld foreground windows",
             p->source, (long long)d->list.nimage, (long long)d->list.kind[0].count,
             (long long)d->list.kind[1].count);
    if ((nfg > 0 && d->list.kind[1].count == 0) ||
        (nfg < p->batch_size && d->list.kind[0].count == 0))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: has no %s windows", p->source,
                         d->list.kind[0].count == 0 ? "background" : "foreground");
    return FIRE_OK;
}

/* Windows are chosen and resized by the layer itself: only their values may change. */
static fire_status_t setup_jitter(fire_layer_t *l)
{
    window_data_t                        *d = FIRE_STATE(l, window_data_t);
    const Caffe__TransformationParameter *p = l->param->transform_param;
    const char                           *moves;

    FIRE_TRY(fire_jitter_init(&d->feed.jitter, &d->transform, p, l->phase));
    moves = fire_jitter_moves(&d->feed.jitter);
    if (moves == NULL && d->feed.jitter.augment.cutout > 0)
        moves = "augment_param's cutout";
    if (moves == NULL && d->feed.jitter.mix.alpha > 0) moves = "augment_param's mixup";
    if (moves == NULL) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "%s does not work with WindowData, which chooses windows itself; "
                     "colours and noise do",
                     moves);
}

static fire_status_t window_setup(fire_layer_t *l)
{
    window_data_t *d = FIRE_STATE(l, window_data_t);

    d->param = l->param->window_data_param;
    if (d->param == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "window_data_param is missing");
    FIRE_TRY(fire_transform_init(&d->transform, l->param->transform_param, l->phase,
                                 l->param->name));
    FIRE_TRY(check_param(d));
    FIRE_TRY(setup_jitter(l));
    FIRE_TRY(fire_transform_seed(&d->transform, l->ctx->mt));
    if (l->ctx->mt != NULL)
        FIRE_TRY(fire_caffe_draws_create(fire_mt_u32(l->ctx->mt), &d->draws));
    FIRE_TRY(load_list(d));
    d->feed.options = (fire_prefetch_options_t){.load       = load_row,
                                                .arg        = d,
                                                .batch_size = d->param->batch_size,
                                                .extent     = {3, d->crop, d->crop},
                                                .depth      = FIRE_FEED_DEPTH};
    FIRE_TRY(fire_transform_seed(&d->transform, l->ctx->mt));
    return fire_feed_setup(l);
}

static void window_teardown(fire_layer_t *l)
{
    window_data_t *d = FIRE_STATE(l, window_data_t);

    fire_feed_teardown(l);
    fire_window_list_fini(&d->list);
    fire_caffe_draws_destroy(d->draws);
    fire_transform_fini(&d->transform);
}

const fire_layer_ops_t fire_layer_window_data = {
    .type       = "WindowData",
    .bottoms    = {0, 0},
    .tops       = {2, 2},
    .flags      = FIRE_LAYER_SOURCE,
    .state_size = sizeof(window_data_t),
    .setup      = window_setup,
    .reshape    = fire_feed_reshape,
    .teardown   = window_teardown,
    .kernels    = fire_feed_kernels,
};
