/* follow.h - what a training does by itself while it runs (docs/guide/train.md): keep the
 * best snapshot, stop early or lower the rate where tests get no better, average the
 * weights, act on numbers that are not finite, obey a control file.
 *
 * All decisions are made from numbers that are the same on all workers, so all of them
 * decide alike without asking each other. */
#ifndef FIRE_TRAIN_FOLLOW_FOLLOW_H
#define FIRE_TRAIN_FOLLOW_FOLLOW_H
#include "blob/blob.h"
#include "caffe.pb-c.h"

typedef struct fire_trainer fire_trainer_t;

typedef enum fire_on_nan {
    FIRE_NAN_WARN,
    FIRE_NAN_STOP,
    FIRE_NAN_SKIP,
    FIRE_NAN_ROLLBACK
} fire_on_nan_t;

enum { FIRE_GUILTY = 256 }; /* bytes of the text that names a layer */

typedef struct fire_follow {
    /* The output that `best` names. */
    bool    seen;      /* in this test */
    bool    higher;    /* higher is better */
    double  value;     /* of this test */
    int64_t tested;    /* iteration of the last test; -1: none */
    double  best;      /* the best value, if best_iter >= 0 */
    int64_t best_iter; /* where it was; -1: no value yet */
    int     waited;    /* tests since then */
    int     stalled;   /* likewise, or since the rate dropped */
    bool    stopped;   /* by early_stop */

    /* plateau_winsize: the least mean loss, and where it was met or the rate dropped. */
    double  least_loss;
    int64_t least_iter;

    fire_on_nan_t on_nan;
    int           rollbacks;
    int64_t       came_from; /* iteration whose snapshot the last rollback took, if none
                                has been written since; else INT64_MAX */
    double        since;     /* only snapshots written later are gone back to */
    char          guilty[FIRE_GUILTY]; /* the layer in which the lane that just ran lost
                                          its finite numbers; "": not known */

    double looked;                 /* for a control file, by fire_clock_now() */
    bool   control, control_asked; /* this worker has found one; one of them has */

    /* Averages of the weights. */
    fire_blob_t **mean;     /* [nparam]; NULL: none */
    int64_t       averaged; /* weights that they are means of */
} fire_follow_t;

/* Settings alone (check), and against the nets (start; restore() may follow). */
fire_status_t fire_follow_check(const Caffe__SolverParameter *param);
fire_status_t fire_follow_start(fire_trainer_t *trainer);
void          fire_follow_end(fire_trainer_t *trainer);

/* ---- tests (watch.c) ---- */

/* An output of a test net was computed; then all test nets have run. */
void fire_follow_value(fire_trainer_t *trainer, const char *name, double weight,
                       double value);
fire_status_t fire_follow_tested(fire_trainer_t *trainer);
/* Before an iteration: plateau_winsize lowers the rate by the mean of training losses. */
void fire_follow_loss(fire_trainer_t *trainer, double mean);

/* ---- averages (average.c) ---- */

fire_status_t fire_average_start(fire_trainer_t *trainer);
/* After each update. */
fire_status_t fire_average_add(fire_trainer_t *trainer);
/* Exchange weights and means, if there are means; a second call changes them back. */
fire_status_t fire_average_swap(fire_trainer_t *trainer);
fire_status_t fire_average_save(const fire_trainer_t *trainer, Caffe__FireState *ours);
fire_status_t fire_average_load(fire_trainer_t *trainer, const Caffe__FireState *ours,
                                const char *path);

/* ---- numbers that are not finite (nan.c, guilty.c) ---- */

/* After the forward pass of a lane whose loss is `loss`: if it is not finite, find out
 * where. The pass is run again for that, which changes no value. */
fire_status_t fire_nan_forward(fire_trainer_t *trainer, float loss);
/* After an iteration with that loss: warn, skip, stop or roll back. */
fire_status_t fire_nan_settle(fire_trainer_t *trainer, int64_t iter, double loss);
/* Find the first layer of this lane's pass that gives or holds what is not finite:
 * forward, or with `backward` in its gradients too. */
fire_status_t fire_nan_find(fire_trainer_t *trainer, bool backward);

/* ---- settings that change (control.c) ---- */

/* Has rank 0's user left a file? Then all workers call apply() after an iteration. */
bool          fire_control_is_there(fire_trainer_t *trainer);
fire_status_t fire_control_apply(fire_trainer_t *trainer);

/* ---- snapshots ---- */

fire_status_t fire_follow_save(const fire_trainer_t *trainer, Caffe__FireState *ours);
fire_status_t fire_follow_restore(fire_trainer_t *trainer, const Caffe__FireState *ours,
                                  const char *path);
#endif
