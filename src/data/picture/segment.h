/* segment.h - cuts a picture into regions of similar colour, by "Efficient Graph-Based
 * Image Segmentation" (Felzenszwalb and Huttenlocher, 2004): two neighbouring regions
 * stay apart if the colour difference between them is larger than the differences
 * inside of each, plus scale / size. */
#ifndef FIRE_DATA_PICTURE_SEGMENT_H
#define FIRE_DATA_PICTURE_SEGMENT_H
#include "data/picture/picture.h"

/* Set label (height, width) to region numbers 0 ... *nlabel_p - 1, in row order of
 * their first pixels. scale: the larger, the larger the regions (100 to 500 for
 * photographs with values 0 to 1). Regions below min_size pixels join a neighbour. */
fire_status_t fire_segment(const fire_picture_t *in, float scale, int min_size,
                           int *label, int *nlabel_p);
#endif
