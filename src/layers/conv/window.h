/* window.h - how a kernel slides over the spatial axes of an image: sizes of the
 * result, and the rearrangement of patches into columns (im2col) that turns a
 * convolution into a matrix product. Any number of axes. */
#ifndef FIRE_LAYERS_CONV_WINDOW_H
#define FIRE_LAYERS_CONV_WINDOW_H
#include "device/window.h"
#include "layers/layer.h"

FIRE_BEGIN_C
/* Kernel, stride, pad and dilation as the prototxt gives them: one value for all
 * axes, one each, or the _h/_w fields. */
fire_status_t fire_window_read(const Caffe__ConvolutionParameter *p, int axes,
                               fire_window_t *w_p);

/* Elements of the kernel; does it look at single positions only? */
int64_t fire_window_size(const fire_window_t *w);
bool    fire_window_is_pointwise(const fire_window_t *w);

/* Number of places where the kernel fits into an image of size `in`. */
fire_status_t fire_window_places(const fire_window_t *w, const int64_t *in,
                                 int64_t *out_p);

/* The rows of a window's work: for every tap (element of the kernel) and every row of
 * places (along the last axis), which places meet the image, and where.
 *
 *     fire_window_rows_t r = fire_window_rows(w, in, out);
 *     while (fire_window_next_row(&r)) ...place r.at + x meets image element
 *         r.from + x * stride for x = r.first ... r.end - 1... */
typedef struct fire_window_rows {
    const fire_window_t *w;
    const int64_t       *in, *out;
    int64_t              tap, at, first, end, from;
    int64_t              tap_index[FIRE_MAX_SPATIAL], place[FIRE_MAX_SPATIAL];
    int64_t              tap_first, tap_end; /* of rows that are not all padding */
    bool                 begun;
} fire_window_rows_t;

static inline fire_window_rows_t fire_window_rows(const fire_window_t *w,
                                                  const int64_t *in, const int64_t *out)
{
    return (fire_window_rows_t){.w = w, .in = in, .out = out};
}

bool fire_window_next_row(fire_window_rows_t *r);

/* image: channels x in[], columns: channels x kernel[] x out[]. Columns that reach
 * into the padding get zeros. col2im() adds up what im2col() spread, onto zeros. */
void fire_im2col(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *image, float *columns);
void fire_col2im(const fire_window_t *w, int64_t channels, const int64_t *in,
                 const int64_t *out, const float *columns, float *image);
FIRE_END_C
#endif
