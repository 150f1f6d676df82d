/* copy.h - what a snapshot consists of, as of one moment: training may change weights and
 * history while the files are written. */
#ifndef FIRE_TRAIN_SNAPSHOT_COPY_H
#define FIRE_TRAIN_SNAPSHOT_COPY_H
#include "caffe.pb-c.h"
#include "base/error.h"

typedef struct fire_trainer fire_trainer_t;

/* Where to write: files are <prefix>_iter_<n>.<extension>. */
typedef struct fire_copy_place {
    const char *prefix;
    int         keep;      /* newest snapshots to keep there; 0: all */
    bool        best;      /* not of a moment that the solver asks for */
    bool        in_memory; /* for this user's eyes alone, and not told in the log */
} fire_copy_place_t;

typedef struct fire_copy {
    Caffe__NetParameter *weights, *means; /* means NULL: there are none */
    Caffe__SolverState  *state;           /* all but the model's name and checksum */
    char                *model, *average, *path; /* files: of weights, means, state */
    char                *prefix;
    int                  keep;
    bool                 best, in_memory;
    int64_t              iter, bytes; /* bytes: of weights and history */
} fire_copy_t;

/* All workers call it; those that write get a copy, the others NULL. End *copy_p with
 * fire_copy_free(). */
fire_status_t fire_copy_take(fire_trainer_t *trainer, const fire_copy_place_t *place,
                             bool writes, fire_copy_t **copy_p);
void          fire_copy_free(fire_copy_t *copy); /* NULL is allowed */

/* Bytes of weights and history. */
int64_t fire_copy_bytes(const fire_trainer_t *trainer);

/* Write the files and remove those that are superfluous now. Any thread may call it; it
 * says nothing in the log. */
fire_status_t fire_copy_write(fire_copy_t *copy);
#endif
