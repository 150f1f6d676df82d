/* grads.h - all gradients of a net in one stretch of memory, in the order in which
 * backward finishes them, so that a bucket of them is a span:
 *
 *   | scalars | statistics | last layer's ... | ... | first layer's |
 *   |<------- head ------->|
 *
 * Scalars are the loss and the net's outputs: they are added up over lanes and
 * workers in the same way, at no cost of their own. They and the running statistics
 * (BatchNorm's) are final when forward ends, and must not lose a bit on their way.
 *
 * Lanes add up like a binary counter, which gives the canonical tree
 * ((0+1)+(2+3))+((4+5)+...) whatever their number, in log2(lanes) buffers. */
#ifndef FIRE_TRAIN_EXCHANGE_GRADS_H
#define FIRE_TRAIN_EXCHANGE_GRADS_H
#include "comm/comm.h"
#include "net/net.h"

enum { FIRE_MAX_SCALARS = 4096, FIRE_MAX_LEVELS = 20 };

/* The first scalars; outputs of the net follow. */
typedef enum fire_scalar {
    FIRE_SCALAR_LOSS,
    FIRE_SCALAR_STOP,     /* how many workers were asked to stop */
    FIRE_SCALAR_SNAPSHOT, /* ... or for a snapshot */
    FIRE_SCALAR_OUTPUTS,
} fire_scalar_t;

typedef struct fire_grads {
    fire_net_t  *net;
    fire_place_t place;      /* of the net */
    fire_comm_t *comm;       /* whose memory it is, or NULL */
    int64_t      n;          /* floats in all */
    int64_t      nscalar;    /* the first ones */
    int64_t      statistics; /* where they begin */
    int64_t      head;       /* scalars and statistics, padded */
    int         *order;      /* parameters as they lie in memory */
    int64_t     *offset;     /* [nparam] of each parameter, by its number */
    fire_span_t *span;       /* [nlayer] gradients that are final after its backward */
    float       *sum;        /* for the host: what is exchanged, and the scalars */
    float       *here;    /* the net's gradients, on its place; `sum` itself on a CPU.
                           * After the last lane, the sum over this worker's lanes */
    float       *weights; /* laid out alike, for a sharded update; else NULL */
    float       *level[FIRE_MAX_LEVELS]; /* here: sums of 1, 2, 4 ... lanes that wait */
} fire_grads_t;

typedef struct fire_grads_options {
    fire_comm_t *comm;    /* NULL: one worker */
    int          lanes;   /* that this worker runs */
    bool         weights; /* also lay out the weights */
} fire_grads_options_t;

/* Lay the net's parameter diffs (and data) into one stretch. */
fire_status_t fire_grads_create(fire_net_t *net, const fire_grads_options_t *options,
                                fire_grads_t **grads_p);
void          fire_grads_destroy(fire_grads_t *grads); /* NULL is allowed */

/* Offsets behind which a bucket may end, ascending, beginning with `head`; *n_p of
 * them, for the caller to free. */
fire_status_t fire_grads_cuts(const fire_grads_t *grads, int64_t **cut_p, int *n_p);
/* Start [first, first + n) from zero. Parameters are only told so: who is first to add
 * overwrites instead, and settle() writes the zeros where nobody added. */
fire_status_t fire_grads_clear(fire_grads_t *grads, int64_t first, int64_t n);
fire_status_t fire_grads_settle(fire_grads_t *grads, int64_t first, int64_t n);
/* Lane `lane` (0, 1 ... lanes-1, this worker's) is complete from `first` on for n
 * floats: add or keep. Before the last lane, the span is left to be cleared; after it,
 * it holds the total. */
fire_status_t fire_grads_add_lane(fire_grads_t *grads, int lane, int lanes,
                                  int64_t first, int64_t n);
/* Bring a span from the net's place to `sum`, or back; nothing to do on a CPU. */
fire_status_t fire_grads_fetch(fire_grads_t *grads, int64_t first, int64_t n);
fire_status_t fire_grads_push(fire_grads_t *grads, int64_t first, int64_t n);
#endif
