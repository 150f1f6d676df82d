/* proposals.h - windows of a picture that may show an object, whatever it is: regions of
 * like colour, then the two most alike of all neighbours made one, again and again until
 * one is left (selective search, Uijlings and others 2013). Each region on the way gives
 * its bounding box. Written from the paper with fewer variations than its authors use:
 * four sizes of first regions, one colour space, likeness by colour, texture, size and
 * fill, and once more without colour. */
#ifndef FIRE_DATA_PICTURE_PROPOSALS_H
#define FIRE_DATA_PICTURE_PROPOSALS_H
#include "data/picture/picture.h"

/* Each window once, large regions first; none is lower or narrower than min_side. A
 * picture gives the same list every time. End *rect_p with fire_free(). */
fire_status_t fire_proposals_find(const fire_picture_t *in, int min_side,
                                  fire_rect_t **rect_p, int64_t *n_p);
#endif
