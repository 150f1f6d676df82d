/* blocked.h - activations with channels in blocks: (num, channels / 16, places, 16),
 * so that one vector holds 16 channels of one place. It is oneDNN's nChw16c (or
 * nChw8c), and what our own vector kernels work on. The last block is filled up with
 * zeros; every kernel must leave them zero. */
#ifndef FIRE_DEVICE_CPU_BLOCKED_H
#define FIRE_DEVICE_CPU_BLOCKED_H
#include "device/device.h"

typedef struct fire_blocked {
    fire_opaque_t        opaque; /* first: a format points here */
    fire_dtype_t         dtype;
    int64_t              block; /* channels in one block */
    int64_t              num, channels, plane;
    int64_t              blocks; /* of one image: channels / block, rounded up */
    struct fire_blocked *next;
} fire_blocked_t;

/* The format of an array (num, channels, ...) in blocks; the same arguments always give
 * the same format. Needs two axes at least. */
fire_status_t fire_blocked_format(fire_dtype_t dtype, int64_t block, int ndim,
                                  const int64_t *dim, fire_format_t *format_p);

/* Channels in one block that suit this machine: one vector register full. */
int64_t fire_blocked_preferred(void);

/* The description behind such a format; NULL for all others. */
const fire_blocked_t *fire_blocked_of(const fire_format_t *format);
#endif
