/* grads.h - all gradients of a net in one stretch of memory, in the order in which
 * backward finishes them, so that a bucket of them is a span:
 *
 *   | scalars | last layer's ... | ... | first layer's |
 *
 * Scalars are the loss and the net's outputs: they are added up over lanes and
 * workers in the same way, at no cost of their own.
 *
 * Lanes add up like a binary counter, which gives the canonical tree
 * ((0+1)+(2+3))+((4+5)+...) whatever their number, in log2(lanes) buffers. */
#ifndef FIRE_TRAIN_GRADS_H
#define FIRE_TRAIN_GRADS_H
#include "net/net.h"

enum { FIRE_MAX_SCALARS = 4096, FIRE_MAX_LEVELS = 20 };

typedef struct fire_grads {
    fire_net_t *net;
    int64_t     n;       /* floats in all */
    int64_t     nscalar; /* at the head */
    int        *order;   /* parameters as they lie in memory */
    int64_t    *offset;  /* [nparam] of each parameter, by its number */
    float      *sum;     /* the net's gradients; after the last lane, their sum */
    float      *level[FIRE_MAX_LEVELS]; /* sums of 1, 2, 4 ... lanes that wait */
} fire_grads_t;

/* Lay the net's parameter diffs into one stretch. lanes: how many this worker runs. */
fire_status_t fire_grads_create(fire_net_t *net, int lanes, fire_grads_t **grads_p);
void          fire_grads_destroy(fire_grads_t *grads); /* NULL is allowed */

void fire_grads_clear(fire_grads_t *grads);
/* Lane `lane` (0, 1 ... lanes-1, this worker's) is complete from `first` on for n
 * floats: add or keep. Before the last lane, sum is left to be cleared; after it, that
 * span of sum holds the total. */
void fire_grads_add_lane(fire_grads_t *grads, int lane, int lanes, int64_t first,
                         int64_t n);
#endif
