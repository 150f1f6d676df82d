/* window.h - the geometry of a sliding window (convolution, im2col): its size, stride,
 * padding and dilation along each spatial axis, in elements. */
#ifndef FIRE_DEVICE_WINDOW_H
#define FIRE_DEVICE_WINDOW_H
#include <stdint.h>

enum { FIRE_MAX_SPATIAL = 8 };

typedef struct fire_window {
    int     axes; /* spatial axes in use; 2 for images, height first */
    int64_t kernel[FIRE_MAX_SPATIAL], stride[FIRE_MAX_SPATIAL];
    int64_t pad[FIRE_MAX_SPATIAL], dilation[FIRE_MAX_SPATIAL];
} fire_window_t;
#endif
