/* blocked.h - the layout that our SIMD kernels work on: channels in blocks,
 *
 *     (num, ceil(channels / 16), height * width, 16)
 *
 * so that one vector holds 16 channels of one place (height, width) of an image. The
 * same as oneDNN's nChw16c or, with blocks of 8, nChw8c. The last block is padded with
 * zeros, and every kernel must leave them zero. */
#ifndef FIRE_DEVICE_CPU_BLOCKED_H
#define FIRE_DEVICE_CPU_BLOCKED_H
#include "device/device.h"

typedef struct fire_blocked {
    fire_opaque_t        opaque; /* first: fire_format_t.opaque points here */
    fire_dtype_t         dtype;
    int64_t              block;                /* channels of one block: 16 or 8 */
    int64_t              num, channels, plane; /* plane: places of one image */
    int64_t              blocks;               /* of one image */
    struct fire_blocked *next;                 /* of all formats */
} fire_blocked_t;

/* The format of an array (num, channels, ...) in blocks; the same arguments always give
 * the same format. Needs two axes at least. */
fire_status_t fire_blocked_format(fire_dtype_t dtype, int64_t block, int ndim,
                                  const int64_t *dim, fire_format_t *format_p);

/* Channels of a block that fill one vector register of this machine. */
int64_t fire_blocked_preferred(void);

/* The description of a blocked format; NULL for any other format. */
const fire_blocked_t *fire_blocked_of(const fire_format_t *format);
#endif
