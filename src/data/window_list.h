/* window_list.h - R-CNN's window files: images, and boxes in them that are objects
 * (foreground) or not (background). For each image:
 *
 *   # number
 *   path
 *   channels
 *   height
 *   width
 *   number of windows, and then for each:
 *   class overlap x1 y1 x2 y2                                                       */
#ifndef FIRE_DATA_WINDOW_LIST_H
#define FIRE_DATA_WINDOW_LIST_H
#include "base/error.h"

typedef struct fire_image_window {
    int image, label;
    int x1, y1, x2, y2; /* both corners are inside */
} fire_image_window_t;

typedef struct fire_image_windows {
    fire_image_window_t *item;
    int64_t              count, cap;
} fire_image_windows_t;

typedef struct fire_window_list {
    char                *text; /* holds the paths */
    const char         **image;
    int64_t              nimage, cap;
    fire_image_windows_t kind[2]; /* background, foreground */
} fire_window_list_t;

/* A window is foreground if its overlap is at least fg_threshold, background if it is
 * below bg_threshold (then its label is 0), and left out otherwise. */
fire_status_t fire_window_list_load(const char *file, float fg_threshold,
                                    float bg_threshold, fire_window_list_t *list_p);
void          fire_window_list_fini(fire_window_list_t *list);
#endif
