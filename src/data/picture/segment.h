/* segment.h - a picture cut into regions of like colour, by the method of Felzenszwalb
 * and Huttenlocher (2004): two regions stay apart if the step between them is larger
 * than the steps inside of each, with some patience for small ones. */
#ifndef FIRE_DATA_PICTURE_SEGMENT_H
#define FIRE_DATA_PICTURE_SEGMENT_H
#include "data/picture/picture.h"

/* scale: the patience; the larger, the larger the regions (100 to 500 for photographs
 * with values 0 to 1). Regions below min_size pixels join a neighbour. label (height x
 * width) gets 0, 1, ... in the order in which rows meet them. */
fire_status_t fire_segment(const fire_picture_t *in, float scale, int min_size,
                           int *label, int *nlabel_p);
#endif
