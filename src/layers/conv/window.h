/* window.h - a window that slides over the spatial axes of an image: reading it from
 * the prototxt, the size of the result, and im2col, which copies patches into columns
 * and so turns a convolution into a matrix product. Any number of axes; CPU. */
#ifndef FIRE_LAYERS_CONV_WINDOW_H
#define FIRE_LAYERS_CONV_WINDOW_H
#include "device/window.h"
#include "layers/layer.h"

FIRE_BEGIN_C
/* Read kernel_size, stride, pad and dilation: one value for all axes, one for each, or
 * the _h and _w fields. Fails if they are missing, contradict each other or are out of
 * range. */
fire_status_t fire_window_read(const Caffe__ConvolutionParameter *p, int axes,
                               fire_window_t *w_p);

/* Elements of the kernel. Is it 1x1 with stride 1 and no padding, so that columns equal
 * the image? */
int64_t fire_window_size(const fire_window_t *w);
bool    fire_window_is_pointwise(const fire_window_t *w);

/* Along each axis, the number of places where the kernel fits into an image of size
 * `in`. */
fire_status_t fire_window_places(const fire_window_t *w, const int64_t *in,
                                 int64_t *out_p);

/* An iterator over all taps (elements of the kernel) and rows of places (along the last
 * axis): which places of the row see the image through this tap, and where.
 *
 *     fire_window_rows_t r = fire_window_rows(w, in, out);
 *     while (fire_window_next_row(&r))
 *         for x = r.first ... r.end - 1: place r.at + x sees image element
 *         r.from + x * stride; the other places of the row see padding */
typedef struct fire_window_rows {
    const fire_window_t *w;
    const int64_t       *in, *out;
    int64_t              tap, at, first, end, from;
    int64_t              tap_index[FIRE_MAX_SPATIAL], place[FIRE_MAX_SPATIAL];
    int64_t              tap_first, tap_end; /* places inside the image */
    bool                 begun;
} fire_window_rows_t;

static inline fire_window_rows_t fire_window_rows(const fire_window_t *w,
                                                  const int64_t *in, const int64_t *out)
{
    return (fire_window_rows_t){.w = w, .in = in, .out = out};
}

bool fire_window_next_row(fire_window_rows_t *r);

/* image: (channels, in...), columns: (channels, kernel..., out...). Elements of columns
 * in the padding are 0. col2im() is the transpose: each image element becomes the sum
 * of all elements that im2col() copies it to. */
void fire_im2col(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *image, float *columns);
void fire_col2im(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *columns, float *image);
FIRE_END_C
#endif
