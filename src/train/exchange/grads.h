/* grads.h - all gradients of a net as one array, in the order in which backward
 * finishes them, so that a bucket of them is a span and nothing is copied to send it:
 *
 *   | scalars | statistics | last layer's ... | ... | first layer's |
 *   |<------- head ------->|
 *   0                      head                                     n
 *
 * Scalars are the loss, the requests of users and the net's outputs: they are summed
 * over lanes and workers along with the gradients. They and the running statistics
 * (BatchNorm's) are final when forward ends, and are never compressed.
 *
 * Lanes are added like a binary counter, which gives the canonical tree
 * ((0+1)+(2+3))+((4+5)+...) for any number of lanes, in log2(lanes) buffers. Where the
 * lanes of a worker are no subtree of it, its sums are those of its roots
 * (comm/pattern/roots.h): arrays one after another, `slot` by slot. */
#ifndef FIRE_TRAIN_EXCHANGE_GRADS_H
#define FIRE_TRAIN_EXCHANGE_GRADS_H
#include "comm/comm.h"
#include "comm/pattern/roots.h"
#include "net/net.h"

enum {
    FIRE_MAX_SCALARS = 4096, /* a net with more outputs does without them here */
    FIRE_MAX_LEVELS  = 20,   /* up to 2^20 lanes */
};

/* The first scalars; outputs of the net follow. */
typedef enum fire_scalar {
    FIRE_SCALAR_LOSS,
    FIRE_SCALAR_STOP,     /* number of workers whose user asked to stop */
    FIRE_SCALAR_SNAPSHOT, /* ... or asked for a snapshot */
    FIRE_SCALAR_CONTROL,  /* ... or left a control file */
    FIRE_SCALAR_SAVE,     /* rank 0 wants to try again to write a snapshot */
    FIRE_SCALAR_MEMORY,   /* rank 0 wants a copy of the state in memory */
    FIRE_SCALAR_OUTPUTS,
} fire_scalar_t;

typedef struct fire_grads {
    fire_net_t  *net;
    fire_place_t place;      /* where the net computes */
    fire_comm_t *comm;       /* allocated `sum` and `weights`; or NULL */
    int64_t      n;          /* floats in all */
    int64_t      nscalar;    /* scalars: here[0 ... nscalar) */
    int64_t      statistics; /* offset of the first one */
    int64_t      head;       /* offset of the first gradient */
    int         *order;      /* [nparam] numbers of the parameters, by offset */
    int64_t     *offset;     /* [nparam] by number of the parameter */
    fire_span_t *span;       /* [nlayer] gradients that are final when that layer's
                                backward ends; len 0: none */
    int          nroot;      /* of this worker's lanes, and slots */
    fire_root_t  root[FIRE_MAX_ROOTS]; /* [nroot] by number of this worker's lanes */
    float       *sum; /* [nroot * n] on the host: what is exchanged, and the scalars */
    float *here;    /* [nroot * n] where the net computes; the same memory as `sum` on a
                       CPU. Slot 0 is the diffs of its parameters: it holds one lane's
                       gradients and, after the last lane, the sum of the last root */
    float *weights; /* [n] the same layout, for a sharded update; else NULL */
    fire_region_t *keep[3]; /* of sum, here, weights, unless the communicator has them:
                               blobs and views may outlive the net */
    float         *level[FIRE_MAX_LEVELS]; /* [n] each, at `place`: sums of 1, 2, 4 ...
                                     lanes that wait for as many more */
} fire_grads_t;

typedef struct fire_grads_options {
    fire_comm_t *comm;  /* NULL: one worker */
    int          lanes; /* of this worker */
    int  first;   /* the first of them in the tree over `all` lanes, which other */
    int  all;     /* workers continue; all 0: a tree over `lanes` lanes */
    int  slots;   /* the most roots that a worker has; 0: as this one */
    bool weights; /* also lay out the weights */
} fire_grads_options_t;

/* Allocate the array and make it the memory of the net's parameter diffs (and data).
 * With a communicator, parameters must not be used after fire_grads_destroy(). */
fire_status_t fire_grads_create(fire_net_t *net, const fire_grads_options_t *options,
                                fire_grads_t **grads_p);
void          fire_grads_destroy(fire_grads_t *grads); /* NULL is allowed */

/* Offsets at which a bucket may end: `head`, then the end of each layer's gradients,
 * ascending; *n_p of them, for the caller to free. */
fire_status_t fire_grads_cuts(const fire_grads_t *grads, int64_t **cut_p, int *n_p);
/* Begin [first, first + n) at zero. The head is written; gradients are only marked as
 * zero, so that the first layer that adds to them overwrites instead of adding.
 * settle() writes the zeros where no layer added. */
fire_status_t fire_grads_clear(fire_grads_t *grads, int64_t first, int64_t n);
fire_status_t fire_grads_settle(fire_grads_t *grads, int64_t first, int64_t n);
/* here[first, first + n) is complete for lane `lane` of this worker (0, 1 ... in this
 * order): add it to the lanes before. After the last lane, the span holds the sum, of
 * each root in its slot; before that, the caller clears it for the next lane. */
fire_status_t fire_grads_add_lane(fire_grads_t *grads, int lane, int64_t first,
                                  int64_t n);
/* Add all roots into slot 0, and zero the others: for those who look at the gradients
 * of a worker. With several roots, the sum over workers then has other last bits. */
fire_status_t fire_grads_fold(fire_grads_t *grads);
/* Zero all slots but the first. */
fire_status_t fire_grads_clear_slots(fire_grads_t *grads);
/* Copy a span of all slots from `here` to `sum` (fetch), or of slot 0 back (push).
 * Nothing to do on a CPU. */
fire_status_t fire_grads_fetch(fire_grads_t *grads, int64_t first, int64_t n);
fire_status_t fire_grads_push(fire_grads_t *grads, int64_t first, int64_t n);
#endif
