/* window_list.h - reads R-CNN's window files: images, and boxes in them that show an
 * object (foreground) or not (background). For each image the file has:
 *
 *   # number
 *   path
 *   channels
 *   height
 *   width
 *   number of windows, and then for each window:
 *   class overlap x1 y1 x2 y2 */
#ifndef FIRE_DATA_WINDOW_LIST_H
#define FIRE_DATA_WINDOW_LIST_H
#include "base/error.h"

/* One box: pixels x1 ... x2 and y1 ... y2 of an image, both ends included. */
typedef struct fire_image_window {
    int image; /* index into fire_window_list.image */
    int label; /* class; 0 is background */
    int x1, y1, x2, y2;
} fire_image_window_t;

/* A growing array of boxes. */
typedef struct fire_image_windows {
    fire_image_window_t *item;
    int64_t              count, cap;
} fire_image_windows_t;

typedef struct fire_window_list {
    char *text; /* contents of the file, cut into paths */
    /* [nimage] paths; point into `text` */
    const char         **image;
    int64_t              nimage, cap;
    fire_image_windows_t kind[2]; /* [0] background, [1] foreground */
} fire_window_list_t;

/* Read a window file. A window whose overlap (with the nearest object) is at least
 * fg_threshold is foreground; one below bg_threshold is background and gets label 0;
 * all others are dropped. End *list_p with fire_window_list_fini(). */
fire_status_t fire_window_list_load(const char *file, float fg_threshold,
                                    float bg_threshold, fire_window_list_t *list_p);
void          fire_window_list_fini(fire_window_list_t *list);
#endif
