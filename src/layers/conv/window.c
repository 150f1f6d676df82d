/* window.c - see window.h. */
#include "layers/conv/window.h"

/* The fields of one property: stem_h and stem_w (two axes only), or a list of 0, 1 or
 * `axes` values, or a shape. otherwise: the default, -1 if there is none; least: the
 * smallest valid value */
typedef struct setting {
    const char             *name, *stem;
    bool                    has_hw;
    uint32_t                h, w;
    size_t                  n;
    const uint32_t         *list;
    int64_t                 otherwise, least;
    const Caffe__BlobShape *shape; /* NULL: none */
    const uint32_t         *depth; /* of the first of three axes; NULL: as the others */
} setting_t;

/* stem_shape: one value, or one for each axis. */
static fire_status_t read_shape(const setting_t *s, int axes, int64_t *value)
{
    if (s->n > 0 || s->has_hw)
        return FIRE_FAIL(FIRE_ERR_INVALID, "give %s or %s_shape, not both", s->name,
                         s->stem);
    if (s->shape->n_dim != 1 && s->shape->n_dim != (size_t)axes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%zu values of %s_shape for %d spatial axes; give one, or one "
                         "for each",
                         s->shape->n_dim, s->stem, axes);
    for (int i = 0; i < axes; i++)
        value[i] = s->shape->dim[s->shape->n_dim == 1 ? 0 : i];
    return FIRE_OK;
}

/* Read one property into value[axes], with the checks of Caffe and of its range. */
static fire_status_t read_setting(const setting_t *s, int axes, int64_t *value)
{
    if (s->shape != NULL) {
        FIRE_TRY(read_shape(s, axes, value));
    } else if (s->has_hw) {
        if (axes != 2)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%s_h and %s_w are for 2 spatial axes, here are %d",
                             s->stem, s->stem, axes);
        if (s->n > 0)
            return FIRE_FAIL(FIRE_ERR_INVALID, "give %s or %s_h and %s_w, not both",
                             s->name, s->stem, s->stem);
        value[0] = s->h;
        value[1] = s->w;
    } else if (s->n == 0 && s->otherwise < 0 && axes > 0) {
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s is missing", s->name);
    } else if (s->n > 1 && s->n != (size_t)axes) {
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%zu values of %s for %d spatial axes; give one, or one for "
                         "each",
                         s->n, s->name, axes);
    } else {
        for (int i = 0; i < axes; i++)
            value[i] = s->n == 0 ? s->otherwise : s->list[s->n == 1 ? 0 : i];
    }
    if (s->depth != NULL) value[0] = *s->depth;
    for (int i = 0; i < axes; i++)
        if (value[i] < s->least || value[i] > INT32_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID, "%s %lld is out of the range %d to %d",
                             s->name, (long long)value[i], (int)s->least, INT32_MAX);
    return FIRE_OK;
}

/* Limit the kernel's elements, so that products of sizes with it fit into an
 * int64_t. */
static fire_status_t check_kernel(int axes, const int64_t *kernel)
{
    int64_t taps = 1;

    for (int i = 0; i < axes; i++) {
        taps *= kernel[i];
        if (taps > INT32_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "kernel_size: a kernel of more than %d elements is "
                             "refused",
                             INT32_MAX);
    }
    return FIRE_OK;
}

/* C3D's fields for time are all given, or have their defaults, where kernel_depth is. */
static fire_status_t check_depth(const Caffe__ConvolutionParameter *p, int axes)
{
    if ((p->has_temporal_stride || p->has_temporal_pad) && !p->has_kernel_depth)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "temporal_stride and temporal_pad need kernel_depth");
    if (p->has_kernel_depth && axes != 3)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "kernel_depth is for 3 spatial axes (length, height, width), "
                         "here are %d",
                         axes);
    return FIRE_OK;
}

fire_status_t fire_window_read(const Caffe__ConvolutionParameter *p, int axes,
                               fire_window_t *w_p)
{
    fire_window_t   w        = {.axes = axes};
    bool            deep     = p->has_kernel_depth;
    bool            holes    = p->n_dilation == 0; /* `hole` stands for dilation */
    const setting_t kernel   = {"kernel_size",
                                "kernel",
                                p->has_kernel_h || p->has_kernel_w,
                                p->kernel_h,
                                p->kernel_w,
                                p->n_kernel_size,
                                p->kernel_size,
                                -1,
                                1,
                                p->kernel_shape,
                              deep ? &p->kernel_depth : NULL};
    const setting_t stride   = {"stride",
                                "stride",
                                p->has_stride_h || p->has_stride_w,
                                p->stride_h,
                                p->stride_w,
                                p->n_stride,
                                p->stride,
                                1,
                                1,
                                p->stride_shape,
                              deep ? &p->temporal_stride : NULL};
    const setting_t pad      = {"pad",
                                "pad",
                                p->has_pad_h || p->has_pad_w,
                                p->pad_h,
                                p->pad_w,
                                p->n_pad,
                                p->pad,
                                0,
                                0,
                                p->pad_shape,
                           deep ? &p->temporal_pad : NULL};
    const setting_t dilation = {.name      = "dilation",
                                .stem      = "hole",
                                .has_hw    = p->has_hole_h || p->has_hole_w,
                                .h         = p->has_hole_h ? p->hole_h : 1,
                                .w         = p->has_hole_w ? p->hole_w : 1,
                                .n         = holes ? p->n_hole : p->n_dilation,
                                .list      = holes ? p->hole : p->dilation,
                                .otherwise = 1,
                                .least     = 1};

    if (axes > FIRE_MAX_SPATIAL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "%d spatial axes, at most %d are known",
                         axes, FIRE_MAX_SPATIAL);
    FIRE_TRY(check_depth(p, axes));
    FIRE_TRY(read_setting(&kernel, axes, w.kernel));
    FIRE_TRY(check_kernel(axes, w.kernel));
    FIRE_TRY(read_setting(&stride, axes, w.stride));
    FIRE_TRY(read_setting(&pad, axes, w.pad));
    FIRE_TRY(read_setting(&dilation, axes, w.dilation));
    *w_p = w;
    return FIRE_OK;
}

static int64_t product(int axes, const int64_t *dim)
{
    int64_t n = 1;

    for (int i = 0; i < axes; i++)
        n *= dim[i];
    return n;
}

int64_t fire_window_size(const fire_window_t *w)
{
    return product(w->axes, w->kernel);
}

bool fire_window_is_pointwise(const fire_window_t *w)
{
    for (int i = 0; i < w->axes; i++)
        if (w->kernel[i] != 1 || w->stride[i] != 1 || w->pad[i] != 0) return false;
    return true;
}

fire_status_t fire_window_places(const fire_window_t *w, const int64_t *in,
                                 int64_t *out_p)
{
    for (int i = 0; i < w->axes; i++) {
        int64_t extent = w->dilation[i] * (w->kernel[i] - 1) + 1;
        int64_t room   = in[i] + 2 * w->pad[i] - extent;

        if (room < 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the kernel is larger than the input: on spatial axis %d "
                             "kernel %lld with dilation %lld covers %lld, the input "
                             "has %lld + 2 * %lld of padding",
                             i, (long long)w->kernel[i], (long long)w->dilation[i],
                             (long long)extent, (long long)in[i], (long long)w->pad[i]);
        out_p[i] = room / w->stride[i] + 1;
    }
    return FIRE_OK;
}

/* Step through all index vectors below `limit`, last axis fastest; false at the end. */
static bool advance(int axes, const int64_t *limit, int64_t *index)
{
    for (int i = axes - 1; i >= 0; i--) {
        if (++index[i] < limit[i]) return true;
        index[i] = 0;
    }
    return false;
}

/* The places along the last axis that see the image through this tap. */
static void begin_tap(fire_window_rows_t *r)
{
    const fire_window_t *w      = r->w;
    int                  last   = w->axes - 1;
    int64_t              stride = w->stride[last], in = r->in[last];
    int64_t              shift = r->tap_index[last] * w->dilation[last] - w->pad[last];

    r->tap_first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    r->tap_end   = in > shift ? (in - shift + stride - 1) / stride : 0;
    if (r->tap_end > r->out[last]) r->tap_end = r->out[last];
    if (r->tap_first > r->tap_end) r->tap_first = r->tap_end;
}

/* Set first, end and from of the current row: nothing where the row is all padding. */
static void find_row(fire_window_rows_t *r)
{
    const fire_window_t *w    = r->w;
    int                  last = w->axes - 1;
    int64_t              base = 0;

    r->first = r->tap_first;
    r->end   = r->tap_end;
    for (int i = 0; i < last; i++) {
        int64_t at =
            r->place[i] * w->stride[i] - w->pad[i] + r->tap_index[i] * w->dilation[i];

        if (at < 0 || at >= r->in[i]) r->first = r->end = 0; /* all padding */
        base = (base + at) * r->in[i + 1];
    }
    r->from = base + r->tap_index[last] * w->dilation[last] - w->pad[last];
}

bool fire_window_next_row(fire_window_rows_t *r)
{
    int last = r->w->axes - 1;

    if (!r->begun) {
        r->begun = true;
        begin_tap(r);
    } else if (advance(last, r->out, r->place)) {
        r->at += r->out[last];
    } else {
        if (!advance(r->w->axes, r->w->kernel, r->tap_index)) return false;
        r->tap++;
        r->at = 0;
        begin_tap(r);
    }
    find_row(r);
    return true;
}

/* One row of columns: n places, of which first ... end - 1 read the image. */
static void gather_row(const fire_window_rows_t *r, int64_t n, int64_t stride,
                       const float *image, float *columns)
{
    for (int64_t x = 0; x < r->first; x++)
        columns[x] = 0.0f;
    if (stride == 1)
        for (int64_t x = r->first; x < r->end; x++)
            columns[x] = image[r->from + x];
    else
        for (int64_t x = r->first; x < r->end; x++)
            columns[x] = image[r->from + x * stride];
    for (int64_t x = r->end; x < n; x++)
        columns[x] = 0.0f;
}

void fire_im2col(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *image, float *columns)
{
    int64_t plane = product(w->axes, in), places = product(w->axes, out);
    int64_t taps = fire_window_size(w);
    int     last = w->axes - 1;

    for (int64_t c = 0; c < channels; c++, image += plane, columns += taps * places) {
        fire_window_rows_t r = fire_window_rows(w, in, out);

        while (fire_window_next_row(&r))
            gather_row(&r, out[last], w->stride[last], image,
                       columns + r.tap * places + r.at);
    }
}

void fire_col2im(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *columns, float *image)
{
    int64_t plane = product(w->axes, in), places = product(w->axes, out);
    int64_t taps = fire_window_size(w), stride = w->stride[w->axes - 1];

    for (int64_t c = 0; c < channels; c++, image += plane, columns += taps * places) {
        fire_window_rows_t r = fire_window_rows(w, in, out);

        for (int64_t i = 0; i < plane; i++)
            image[i] = 0.0f;
        while (fire_window_next_row(&r))
            for (int64_t x = r.first; x < r.end; x++)
                image[r.from + x * stride] += columns[r.tap * places + r.at + x];
    }
}
