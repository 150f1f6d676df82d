/* proposals.h - finds windows of a picture that may show an object of any kind:
 * selective search (Uijlings and others, "Selective Search for Object Recognition",
 * 2013).
 *
 * Start with regions of similar colour (segment.h). Merge the two most similar
 * neighbours, again and again, until one region is left. The bounding box of every
 * region that existed on the way is a window. Similarity is the sum of four measures:
 * colour, texture, size and fill.
 *
 * Written from the paper, with fewer variations than its authors use: four sizes of
 * first regions, one colour space (RGB), each once with and once without colour in the
 * similarity. */
#ifndef FIRE_DATA_PICTURE_PROPOSALS_H
#define FIRE_DATA_PICTURE_PROPOSALS_H
#include "data/picture/picture.h"

/* Find the windows of a picture: each once, those of large regions first, none with a
 * side below min_side. The list depends on the picture only. End *rect_p with
 * fire_free(). */
fire_status_t fire_proposals_find(const fire_picture_t *in, int min_side,
                                  fire_rect_t **rect_p, int64_t *n_p);
#endif
