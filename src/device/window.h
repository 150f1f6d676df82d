/* window.h - how a kernel slides over the spatial axes of an image. */
#ifndef FIRE_DEVICE_WINDOW_H
#define FIRE_DEVICE_WINDOW_H
#include <stdint.h>

enum { FIRE_MAX_SPATIAL = 8 };

typedef struct fire_window {
    int     axes; /* spatial axes */
    int64_t kernel[FIRE_MAX_SPATIAL], stride[FIRE_MAX_SPATIAL];
    int64_t pad[FIRE_MAX_SPATIAL], dilation[FIRE_MAX_SPATIAL];
} fire_window_t;
#endif
