/* pooling_simd.h - what both passes of the pooling kernel on blocked channels share.
 *
 * Arrays are blocked: (image, block of channels, height, width, lane), with 16 or 8
 * channels (lanes) to a block: one vector holds one place of all of them. */
#ifndef FIRE_LAYERS_POOLING_POOLING_SIMD_H
#define FIRE_LAYERS_POOLING_POOLING_SIMD_H
#include "device/cpu/blocked.h"
#include "device/cpu/simd.h"
#include "layers/pooling/pooling.h"

/* MAX remembers in a byte which tap of its window each output came from; this value:
 * none, as nothing in the window was larger than -FLT_MAX. So windows have fewer
 * taps. */
enum { FIRE_POOLING_MAX_WINDOW = 255 };

/* One forward or backward pass over a bottom; constant while threads run. */
typedef struct fire_pooling_pass {
    const fire_pool_windows_t *shape;
    const fire_blocked_t      *in, *out; /* formats of the bottom and of the top */
    bool                       max;      /* else AVE */
} fire_pooling_pass_t;

/* One block of channels of one image. place: the tap each output came from, (height,
 * width, lane) of the top; NULL where nobody needs it */
void fire_pooling_simd_forward_block(const fire_pooling_pass_t *s, const void *x,
                                     void *y, uint8_t *place);
/* share: for AVE, scratch memory for one block of the top in float32 */
void fire_pooling_simd_backward_block(const fire_pooling_pass_t *s, const void *dy,
                                      const uint8_t *place, float *share, void *dx);

/* The window of one output along one axis: its rows or columns inside of the image. */
typedef struct fire_pooling_side {
    int64_t begin, end;
    int64_t skip;   /* how many it has before these, in the padding */
    int64_t length; /* all that AVE divides by: padding counts, overhang does not */
} fire_pooling_side_t;

FIRE_SIMD fire_pooling_side_t fire_pooling_side(const fire_pool_windows_t *p, int axis,
                                                int64_t output)
{
    int64_t from = output * p->stride[axis] - p->pad[axis], to = from + p->kernel[axis];
    int64_t reach         = p->in[axis] + p->pad[axis];
    fire_pooling_side_t s = {.begin = from < 0 ? 0 : from,
                             .end   = to < p->in[axis] ? to : p->in[axis]};

    s.skip   = s.begin - from;
    s.length = (to < reach ? to : reach) - from;
    return s;
}
#endif
