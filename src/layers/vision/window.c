#include "layers/vision/window.h"

/* The fields of one property: name_h/name_w (2-D only) or a list of 0, 1 or `axes`
 * values; `otherwise` where nothing is given (-1: something must be). */
typedef struct setting {
    const char     *name;
    bool            has_hw;
    uint32_t        h, w;
    size_t          n;
    const uint32_t *list;
    int64_t         otherwise, least;
} setting_t;

static fire_status_t read_setting(const setting_t *s, int axes, int64_t *value)
{
    if (s->has_hw) {
        if (axes != 2)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%s_h and %s_w are for 2 spatial axes, here are %d",
                             s->name, s->name, axes);
        if (s->n > 0)
            return FIRE_FAIL(FIRE_ERR_INVALID, "give %s or %s_h and %s_w, not both",
                             s->name, s->name, s->name);
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
    for (int i = 0; i < axes; i++)
        if (value[i] < s->least || value[i] > INT32_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID, "%s %lld is out of range (at least %d)",
                             s->name, (long long)value[i], (int)s->least);
    return FIRE_OK;
}

fire_status_t fire_window_read(const Caffe__ConvolutionParameter *p, int axes,
                               fire_window_t *w_p)
{
    fire_window_t   w      = {.axes = axes};
    const setting_t kernel = {"kernel_size",
                              p->has_kernel_h || p->has_kernel_w,
                              p->kernel_h,
                              p->kernel_w,
                              p->n_kernel_size,
                              p->kernel_size,
                              -1,
                              1};
    const setting_t stride = {"stride",    p->has_stride_h || p->has_stride_w,
                              p->stride_h, p->stride_w,
                              p->n_stride, p->stride,
                              1,           1};
    const setting_t pad    = {
           "pad", p->has_pad_h || p->has_pad_w, p->pad_h, p->pad_w, p->n_pad, p->pad, 0,
           0};
    const setting_t dilation = {.name      = "dilation",
                                .n         = p->n_dilation,
                                .list      = p->dilation,
                                .otherwise = 1,
                                .least     = 1};

    if (axes > FIRE_MAX_SPATIAL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "%d spatial axes, at most %d are known",
                         axes, FIRE_MAX_SPATIAL);
    FIRE_TRY(read_setting(&kernel, axes, w.kernel));
    FIRE_TRY(read_setting(&stride, axes, w.stride));
    FIRE_TRY(read_setting(&pad, axes, w.pad));
    FIRE_TRY(read_setting(&dilation, axes, w.dilation));
    *w_p = w;
    return FIRE_OK;
}

int64_t fire_window_size(const fire_window_t *w)
{
    int64_t n = 1;

    for (int i = 0; i < w->axes; i++)
        n *= w->kernel[i];
    return n;
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

/* One row of columns: the places along the last axis that fall into the image are
 * first ... end-1; place x reads image element `from` + x * stride. */
typedef struct row {
    int64_t first, end, from;
} row_t;

static row_t find_row(const fire_window_t *w, const int64_t *in, const int64_t *out,
                      const int64_t *kernel_at, const int64_t *place)
{
    int     last = w->axes - 1;
    int64_t base = 0, shift, stride = w->stride[last];
    row_t   r = {0};

    for (int i = 0; i < last; i++) {
        int64_t at =
            place[i] * w->stride[i] - w->pad[i] + kernel_at[i] * w->dilation[i];

        if (at < 0 || at >= in[i]) return r; /* all of it lies in the padding */
        base = (base + at) * in[i + 1];
    }
    shift   = kernel_at[last] * w->dilation[last] - w->pad[last];
    r.first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    r.end   = in[last] > shift ? (in[last] - shift + stride - 1) / stride : 0;
    r.end   = r.end > out[last] ? out[last] : r.end;
    r.first = r.first > r.end ? r.end : r.first;
    r.from  = base + shift;
    return r;
}

static void gather_row(row_t r, int64_t n, int64_t stride, const float *image,
                       float *columns)
{
    for (int64_t x = 0; x < r.first; x++)
        columns[x] = 0.0f;
    if (stride == 1)
        for (int64_t x = r.first; x < r.end; x++)
            columns[x] = image[r.from + x];
    else
        for (int64_t x = r.first; x < r.end; x++)
            columns[x] = image[r.from + x * stride];
    for (int64_t x = r.end; x < n; x++)
        columns[x] = 0.0f;
}

static void scatter_row(row_t r, int64_t stride, const float *columns, float *image)
{
    for (int64_t x = r.first; x < r.end; x++)
        image[r.from + x * stride] += columns[x];
}

/* Visit the rows in the order of the columns; exactly one of gather and scatter. */
static void walk(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *image, float *columns_out,
                 const float *columns, float *image_out)
{
    int     last   = w->axes - 1;
    int64_t stride = w->stride[last], n = out[last], plane = 1, at = 0;

    for (int i = 0; i < w->axes; i++)
        plane *= in[i];
    for (int64_t c = 0; c < channels; c++) {
        int64_t kernel_at[FIRE_MAX_SPATIAL] = {0};

        do {
            int64_t place[FIRE_MAX_SPATIAL] = {0};

            do {
                row_t r = find_row(w, in, out, kernel_at, place);

                if (columns_out != NULL)
                    gather_row(r, n, stride, image + c * plane, columns_out + at);
                else
                    scatter_row(r, stride, columns + at, image_out + c * plane);
                at += n;
            } while (advance(last, out, place));
        } while (advance(w->axes, w->kernel, kernel_at));
    }
}

void fire_im2col(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *image, float *columns)
{
    walk(w, channels, in, out, image, columns, NULL, NULL);
}

void fire_col2im(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *columns, float *image)
{
    int64_t n = channels;

    for (int i = 0; i < w->axes; i++)
        n *= in[i];
    for (int64_t i = 0; i < n; i++)
        image[i] = 0.0f;
    walk(w, channels, in, out, NULL, NULL, columns, image);
}
