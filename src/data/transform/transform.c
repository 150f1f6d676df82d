/* transform.c - transform_param on the CPU. */
#include "data/transform/transform.h"

#include <string.h>

#include "base/alloc.h"
#include "model/blob_proto.h"
#include "model/load.h"

/* Copy the mean image out of a BlobProto: (1, C, H, W) or (C, H, W). */
static fire_status_t read_mean(fire_transform_t *t, const Caffe__BlobProto *b)
{
    int64_t dim[FIRE_MAX_DIMS], count;
    int     ndim;

    FIRE_TRY(fire_blob_proto_shape(b, t->mean_file, &ndim, dim, &count));
    if (ndim < 3 || count <= 0 || count > INT32_MAX ||
        count != dim[ndim - 3] * dim[ndim - 2] * dim[ndim - 1])
        return FIRE_FAIL(FIRE_ERR_INVALID, "mean file \"%s\" does not hold one image",
                         t->mean_file);
    t->mean_extent =
        (fire_extent_t){(int)dim[ndim - 3], (int)dim[ndim - 2], (int)dim[ndim - 1]};
    FIRE_TRY(FIRE_NEW(&t->mean, count));
    FIRE_TRY(FIRE_NEW(&t->average, t->mean_extent.channels));
    FIRE_TRY(fire_blob_proto_read(b, FIRE_DATA, t->mean_file, count, t->mean));
    for (int64_t i = 0, plane = count / t->mean_extent.channels; i < count; i++)
        t->average[i / plane] += t->mean[i] / (float)plane;
    return FIRE_OK;
}

static fire_status_t load_mean(fire_transform_t *t)
{
    Caffe__BlobProto *b;
    fire_status_t     st;

    FIRE_TRY(fire_message_load_binary(t->mean_file, &caffe__blob_proto__descriptor,
                                      (ProtobufCMessage **)&b));
    st = read_mean(t, b);
    fire_message_free(b);
    return st;
}

fire_status_t fire_transform_init(fire_transform_t                     *t,
                                  const Caffe__TransformationParameter *p,
                                  Caffe__Phase phase, const char *layer)
{
    *t             = (fire_transform_t){.scale = 1, .stream = fire_rng_name(layer)};
    t->random_crop = phase == CAFFE__PHASE__TRAIN;
    if (p == NULL) return FIRE_OK;
    if (p->mean_file != NULL && p->n_mean_value > 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "transform_param has both mean_file and mean_value; keep one");
    if (p->force_color && p->force_gray)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "transform_param has both force_color and force_gray; keep one");
    if (p->crop_size > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "crop_size %u is too large", p->crop_size);
    t->scale       = p->scale;
    t->mirror      = p->mirror;
    t->crop        = (int)p->crop_size;
    t->force_color = p->force_color;
    t->force_gray  = p->force_gray;
    t->value       = p->mean_value;
    t->nvalue      = (int)p->n_mean_value;
    t->mean_file   = p->mean_file;
    return t->mean_file != NULL ? load_mean(t) : FIRE_OK;
}

void fire_transform_fini(fire_transform_t *t)
{
    fire_free(t->mean);
    fire_free(t->average);
    t->mean = t->average = NULL;
    fire_caffe_draws_destroy(t->draws);
    t->draws = NULL;
}

fire_status_t fire_transform_seed(fire_transform_t *t, fire_mt_t *mt)
{
    if (mt == NULL || (!t->mirror && !(t->random_crop && t->crop > 0))) return FIRE_OK;
    fire_caffe_draws_destroy(t->draws);
    t->draws = NULL;
    return fire_caffe_draws_create(fire_mt_u32(mt), &t->draws);
}

fire_status_t fire_transform_check_channels(const fire_transform_t *t, int channels)
{
    if (t->nvalue <= 1 || t->nvalue == channels) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "%d mean_values for an image with %d channels; give one, or "
                     "one for each channel",
                     t->nvalue, channels);
}

fire_status_t fire_transform_extent(const fire_transform_t *t, fire_extent_t in,
                                    fire_extent_t *out_p)
{
    if (t->crop > in.height || t->crop > in.width)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "crop_size %d is larger than the image, %d x %d", t->crop,
                         in.height, in.width);
    FIRE_TRY(fire_transform_check_channels(t, in.channels));
    if (t->mean != NULL && !fire_extent_equal(in, t->mean_extent))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "mean file \"%s\" is for images of %d x %d x %d, not %d x %d x %d",
            t->mean_file, t->mean_extent.channels, t->mean_extent.height,
            t->mean_extent.width, in.channels, in.height, in.width);
    if (t->crop > 0) in.height = in.width = t->crop;
    *out_p = in;
    return FIRE_OK;
}

uint8_t fire_transform_fill(const fire_transform_t *t, int c)
{
    if (t->nvalue > 0) return fire_image_byte(t->value[t->nvalue == 1 ? 0 : c]);
    return t->average != NULL && c < t->mean_extent.channels
               ? fire_image_byte(t->average[c])
               : 0;
}

/* The body of line_of_bytes() and line_of_floats(), which transform one line of one
 * channel: n elements of src with stride `step`. `mean` is that line of the mean image,
 * or NULL for the single `value`. Compilers vectorise the loop of stride 1. */
#define LINE_BODY                                              \
    if (mean != NULL)                                          \
        for (int x = 0; x < n; x++)                            \
            dst[x] = ((float)src[x * step] - mean[x]) * scale; \
    else if (step == 1)                                        \
        for (int x = 0; x < n; x++)                            \
            dst[x] = ((float)src[x] - value) * scale;          \
    else                                                       \
        for (int x = 0; x < n; x++)                            \
        dst[x] = ((float)src[x * step] - value) * scale

static void line_of_bytes(const uint8_t *restrict src, int64_t step, int n,
                          const float *restrict mean, float value, float scale,
                          float *restrict dst)
{
    LINE_BODY;
}

static void line_of_floats(const float *restrict src, int64_t step, int n,
                           const float *restrict mean, float value, float scale,
                           float *restrict dst)
{
    LINE_BODY;
}

static void reverse(float *line, int n)
{
    for (int a = 0, b = n - 1; a < b; a++, b--) {
        float keep = line[a];

        line[a] = line[b];
        line[b] = keep;
    }
}

/* The sample's random number below n. Caffe draws the mirror first, then top and left,
 * and draws nothing for what is not random. */
static int draw(const fire_transform_t *t, uint64_t seed, int64_t sample,
                fire_transform_draw_t which, int n)
{
    bool crops = t->random_crop && t->crop > 0;

    if (t->draws != NULL) {
        int64_t at = sample * (t->mirror + 2 * crops);

        return (
            int)(fire_caffe_draws_at(
                     t->draws,
                     at + (which == FIRE_DRAW_MIRROR ? 0 : (int)which + t->mirror)) %
                 (uint32_t)n);
    }
    return fire_transform_drawn(fire_rng_key(seed, FIRE_RNG_CROP, t->stream, 0), sample,
                                which, n);
}

fire_window_t fire_transform_window(const fire_transform_t *t, fire_extent_t in,
                                    uint64_t seed, int64_t sample)
{
    fire_window_t w = {.height = in.height, .width = in.width};

    if (t->crop > 0) {
        int spare_y = in.height - t->crop, spare_x = in.width - t->crop;

        w.height = w.width = t->crop;
        w.top              = spare_y / 2;
        w.left             = spare_x / 2;
        if (t->random_crop) {
            w.top  = draw(t, seed, sample, FIRE_DRAW_TOP, spare_y + 1);
            w.left = draw(t, seed, sample, FIRE_DRAW_LEFT, spare_x + 1);
        }
    }
    w.mirror = t->mirror && draw(t, seed, sample, FIRE_DRAW_MIRROR, 2) == 1;
    return w;
}

void fire_transform_apply(const fire_transform_t *t, const fire_pixels_t *in,
                          uint64_t seed, int64_t sample, float *out)
{
    fire_window_t w = fire_transform_window(t, in->extent, seed, sample);

    for (int c = 0; c < in->extent.channels; c++) {
        float value = t->nvalue == 0 ? 0 : t->value[t->nvalue == 1 ? 0 : c];

        for (int y = 0; y < w.height; y++, out += w.width) {
            int64_t at =
                c * in->step_c + (w.top + y) * in->step_y + w.left * in->step_x;
            int64_t      plane = (int64_t)c * in->extent.height + w.top + y;
            const float *mean =
                t->mean != NULL ? t->mean + plane * in->extent.width + w.left : NULL;

            if (in->bytes != NULL)
                line_of_bytes(in->bytes + at, in->step_x, w.width, mean, value,
                              t->scale, out);
            else
                line_of_floats(in->floats + at, in->step_x, w.width, mean, value,
                               t->scale, out);
            if (w.mirror) reverse(out, w.width);
        }
    }
}

void fire_transform_pack(const fire_transform_t *t, const fire_pixels_t *in,
                         uint64_t seed, int64_t sample, bool interleaved, uint8_t *out)
{
    fire_window_t  w = fire_transform_window(t, in->extent, seed, sample);
    int            C = in->extent.channels;
    fire_extent_t  e = {C, w.height, w.width};
    fire_pixels_t  o = interleaved ? fire_pixels_interleaved(out, e)
                                   : fire_pixels_planar(out, NULL, e);
    const uint8_t *from =
        in->bytes + (int64_t)w.top * in->step_y + (int64_t)w.left * in->step_x;
    /* Both interleaved: a line is one memcpy(). */
    bool whole_lines = interleaved && in->step_c == 1 && in->step_x == C;

    for (int y = 0; y < w.height; y++, from += in->step_y, out += o.step_y) {
        if (whole_lines) memcpy(out, from, (size_t)w.width * (size_t)C);
        for (int c = 0; c < C && !whole_lines; c++) {
            const uint8_t *src = from + c * in->step_c;
            uint8_t       *dst = out + c * o.step_c;

            if (in->step_x == 1 && o.step_x == 1)
                memcpy(dst, src, (size_t)w.width);
            else
                for (int x = 0; x < w.width; x++)
                    dst[x * o.step_x] = src[x * in->step_x];
        }
    }
}
