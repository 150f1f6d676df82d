/* trainer.h - training: nets, solver, position in the data, tests and snapshots of a
 * solver file, on this worker alone or together with others. What `firecaffe train`
 * does is done by these calls; from the same settings come the same weights, bit for
 * bit.
 *
 *     fire_trainer_from_file("solver.prototxt", NULL, &trainer);
 *     fire_trainer_solve(trainer);
 *     fire_trainer_destroy(trainer);
 *
 * Several workers: give each a communicator in its config (comm.h). Every worker has a
 * trainer of its own, and all make the same calls in the same order, except those that
 * only look (fire_trainer_iter() and the like) and fire_trainer_request(). A worker
 * that fails makes the calls of the others fail with FIRE_ERR_PEER. Rank 0 writes
 * snapshots; its log tells about all of them.
 *
 * A trainer is used by one thread at a time. Different trainers may run in different
 * threads. */
#ifndef FIRE_TRAINER_H
#define FIRE_TRAINER_H
#include <fire/comm.h>
#include <fire/log.h>
#include <fire/net.h>

FIRE_BEGIN_C
typedef struct fire_trainer fire_trainer_t;

/* ---- creating ---- */

/* For fire_trainer_config_t.gpu. */
enum {
    FIRE_GPU_OF_SOLVER = -2, /* as solver_mode and device_id of the solver say; the CPU
                                where there is no GPU */
    FIRE_GPU_NONE      = -1  /* on the CPU */
};

/* How to train. Begin with
 *     fire_trainer_config_t config = FIRE_TRAINER_CONFIG_INIT;
 * and change what should differ; on several workers the same, but for comm and gpu. What
 * the struct points to is read only while the trainer is created, unless a member says
 * more. */
typedef struct fire_trainer_config {
    size_t          size; /* sizeof(fire_trainer_config_t); set by the macro */
    fire_comm_t    *comm; /* the workers; NULL: only this one. It stays the caller's and
                          must outlive the trainer */
    const char     *fire; /* text of a FireParameter, "lanes: 8 comm: 'tree'": replaces
                          these settings in the solver's fire { }. NULL: none */
    fire_net_mode_t mode; /* of all nets, see net.h; lean by default */
    int             level; /* of the training net's state, for rules */
    int             nstage;
    const char *const *stage;   /* [nstage]; NULL if there are none */
    int                gpu;     /* number of a GPU, or one of the names above */
    int                threads; /* of the CPU. 0: one if the solver sets lanes, so that
                                   results do not depend on the machine; else as many as
                                   the worker may use */
    const char        *kernels; /* preferred kernels, "Convolution=ref,ReLU=onednn"; a
                                   type "all" stands for all. NULL: no preference */
    bool               exact;   /* no algorithm that trades accuracy for speed */
    bool               recompute; /* lean: save memory, compute cheap blobs twice */
    /* Sink of this trainer's messages; by default it has none of its own. Workers that
     * are given the same one may call it at the same time. */
    fire_log_target_t log;
    /* Who runs layers of type "Python" (python.h); it must outlive the trainer. NULL: an
     * interpreter that the library opens. */
    const struct fire_python_host *python;
    int nobserve; /* in FIRE_LEAN: names of blobs of the training net that */
    const char *const *observe; /* keep their values, [nobserve]; NULL if none do */
} fire_trainer_config_t;

/* clang-format off */
#define FIRE_TRAINER_CONFIG_INIT                                            \
    {                                                                       \
        sizeof(fire_trainer_config_t), NULL, NULL, FIRE_LEAN, 0, 0, NULL,   \
        FIRE_GPU_OF_SOLVER, 0, NULL, false, false,                          \
        {NULL, NULL, FIRE_DEBUG}, NULL, 0, NULL                             \
    }
/* clang-format on */

/* Create a trainer, with weights from fillers and then from the files that the solver's
 * `weights` name. Old solver files are upgraded.
 *   file     a solver.prototxt; without snapshot_prefix, snapshots go beside it, as in
 *            Caffe
 *   text     the text of one, `length` bytes; it need not end with a zero
 *   message  a SolverParameter in protobuf's binary form, `length` bytes
 * Names of files in it are relative to the current directory. config NULL:
 * FIRE_TRAINER_CONFIG_INIT. The caller ends the trainer with fire_trainer_destroy().
 *
 * Fails with FIRE_ERR_IO (a file cannot be read, snapshots cannot be written),
 * FIRE_ERR_PARSE, FIRE_ERR_INVALID (a setting that cannot be, or a config that needs a
 * newer library), FIRE_ERR_UNSUPPORTED, FIRE_ERR_DEVICE (there is no such GPU),
 * FIRE_ERR_NOMEM, FIRE_ERR_PEER and FIRE_ERR_COMM. */
FIRE_CALL fire_trainer_from_file(const char *path, const fire_trainer_config_t *config,
                                 fire_trainer_t **trainer_p);
FIRE_CALL fire_trainer_from_text(const char *text, size_t length,
                                 const fire_trainer_config_t *config,
                                 fire_trainer_t             **trainer_p);
FIRE_CALL fire_trainer_from_message(const void *message, size_t length,
                                    const fire_trainer_config_t *config,
                                    fire_trainer_t             **trainer_p);

/* Free a trainer and its nets. NULL is allowed. */
FIRE_API void fire_trainer_destroy(fire_trainer_t *trainer);

/* ---- training ---- */

/* Train up to max_iter, with display, tests and snapshots as the solver asks, and the
 * snapshot, loss and test at the end. Returns early, with FIRE_OK, after a request to
 * stop (fire_trainer_stopped()).
 *
 * Fails with what a layer, a hook or a snapshot reports; FIRE_ERR_PEER if another
 * worker failed, FIRE_ERR_TIMEOUT if one shows no sign of life. After a failure the
 * trainer can only be looked at and destroyed. */
FIRE_CALL fire_trainer_solve(fire_trainer_t *trainer);

/* The same for so many iterations, without what solve() does at the end. All weights
 * are up to date when it returns, and snapshots that were due are complete: during the
 * iterations they are written by a thread. */
FIRE_CALL fire_trainer_step(fire_trainer_t *trainer, int64_t iterations);

/* Run test net number i now. Its outputs are logged and sent as FIRE_TRAIN_TEST. Fails
 * with FIRE_ERR_INVALID if there is no such net. */
FIRE_CALL fire_trainer_test(fire_trainer_t *trainer, int i);

/* Half an iteration: run forward and backward of this worker's share of the next batch.
 * The gradients are in the diffs of the training net's parameters then, for the mean
 * loss over the batch of all workers, of which they are this worker's part. *loss_p
 * (NULL: not wanted) is its part of that loss: all workers' parts add up to it; one
 * worker alone has the whole loss. */
FIRE_CALL fire_trainer_gradients(fire_trainer_t *trainer, double *loss_p);

/* The other half: sum the gradients in the diffs over all workers, clip, regularise and
 * apply them; the iteration is one further. The caller may have changed or written the
 * diffs, also without fire_trainer_gradients() before it. */
FIRE_CALL fire_trainer_update(fire_trainer_t *trainer);

/* With several workers, the last updates may still be under way when `event` is called
 * (see below). sync() waits for them, and makes views of blobs show the values of now.
 * The calls above have done so when they return. */
FIRE_CALL fire_trainer_sync(fire_trainer_t *trainer);

typedef enum fire_action { FIRE_GO_ON, FIRE_SNAPSHOT, FIRE_STOP } fire_action_t;

/* Ask step() and solve() for a snapshot, or to stop: all workers do so after the
 * iteration in which the request is seen, solve() with the snapshot that the solver
 * wants after training. FIRE_GO_ON takes a request back. Any thread may call it, a hook
 * or a signal handler too, on any worker. */
FIRE_API void fire_trainer_request(fire_trainer_t *trainer, fire_action_t action);
/* Did the last step() or solve() end by a request? */
FIRE_API bool fire_trainer_stopped(const fire_trainer_t *trainer);

/* ---- what happens, while it happens ---- */

typedef enum fire_train_event_kind {
    FIRE_TRAIN_START,     /* solve() begins */
    FIRE_TRAIN_ITERATION, /* every iteration: its own loss, lr, seconds */
    FIRE_TRAIN_DISPLAY,   /* every `display` iterations: smoothed loss, lr, outputs */
    FIRE_TRAIN_TEST,      /* one output of one test net */
    FIRE_TRAIN_SNAPSHOT,  /* a snapshot was written; on rank 0 */
    FIRE_TRAIN_DONE       /* solve() has reached max_iter */
} fire_train_event_kind_t;

typedef struct fire_named_value {
    const char *name;
    double      value;
} fire_named_value_t;

/* Pointers are valid during the call only. Members that a kind does not name are 0. */
typedef struct fire_train_event {
    fire_train_event_kind_t   kind;
    int64_t                   iter, max_iter; /* iterations done; to do in all */
    int64_t                   batch;    /* images per pass, of all workers together */
    double                    loss, lr; /* ITERATION, DISPLAY */
    double                    seconds;  /* ITERATION: wall-clock time it took */
    int                       noutput;  /* DISPLAY: outputs of the training net */
    const fire_named_value_t *output;
    double                    loss_scale; /* DISPLAY: of fp16; 0 without one */
    int                       test_net;   /* TEST: its number */
    const char               *name;       /* TEST: output; SNAPSHOT: the state's file */
    double                    value;      /* TEST: mean over test_iter batches */
} fire_train_event_t;

/* Functions that the thread of step() and solve() calls; any may be NULL. They may look
 * at the trainer and its nets, make requests and change settings, but not train, load
 * or destroy. Before `event` looks at weights or uses the communicator it calls
 * fire_trainer_sync(). One that returns a failure (see fire_fail()) ends step(), which
 * returns that status. A trainer in FIRE_OBSERVED that has neither `start` nor
 * `gradients_ready` keeps the values of blobs of its displays and last iteration only. */
typedef struct fire_trainer_hooks {
    size_t size; /* sizeof(fire_trainer_hooks_t); set by the macro */
    void  *arg;  /* first argument of all */
    /* Before each iteration. */
    fire_status_t (*start)(void *arg);
    /* Backward has ended; the diffs hold what fire_trainer_gradients() leaves there,
     * and may be changed. Gradients of several workers are summed after it, not during
     * backward as without this hook. */
    fire_status_t (*gradients_ready)(void *arg);
    void (*event)(void *arg, const fire_train_event_t *event);
} fire_trainer_hooks_t;

#define FIRE_TRAINER_HOOKS_INIT                              \
    {                                                        \
        sizeof(fire_trainer_hooks_t), NULL, NULL, NULL, NULL \
    }

/* Have these called from now on. The struct is copied; the caller keeps `arg` valid.
 * NULL: none. Fails with FIRE_ERR_INVALID for hooks that need a newer library. */
FIRE_CALL fire_trainer_set_hooks(fire_trainer_t             *trainer,
                                 const fire_trainer_hooks_t *hooks);

/* ---- weights and snapshots ---- */

/* Load weights of the training net and the test nets, for fine-tuning. paths: model
 * files, separated by commas; fails as fire_net_load_file() does. */
FIRE_CALL fire_trainer_load_weights(fire_trainer_t *trainer, const char *paths);

/* Write model and state now: <snapshot_prefix>_iter_<n>.caffemodel and .solverstate,
 * or both with .h5 where the solver says snapshot_format: HDF5. */
FIRE_CALL fire_trainer_snapshot(fire_trainer_t *trainer);

/* Continue from a .solverstate or .solverstate.h5 and the model that it names: weights,
 * history, iteration, position in the data. Fails with FIRE_ERR_IO, FIRE_ERR_PARSE
 * (damaged: the checksums differ), FIRE_ERR_INVALID (of another net or solver). */
FIRE_CALL fire_trainer_restore(fire_trainer_t *trainer, const char *path);

/* Continue from the newest complete snapshot with the solver's snapshot_prefix;
 * *found_p tells whether there was one. Temporary files of a run that was killed are
 * removed. */
FIRE_CALL fire_trainer_resume(fire_trainer_t *trainer, bool *found_p);

/* Let the nets use the parameters of `other`'s layers of the same name, as
 * fire_net_share() does. Training this trainer changes the weights of `other` then.
 * Fails with FIRE_ERR_UNSUPPORTED where fire { update: "sharded" } is on. */
FIRE_CALL fire_trainer_share(fire_trainer_t *trainer, const fire_net_t *other);

/* ---- settings ---- */

/* Change settings of the solver, from the next iteration on: text of a SolverParameter
 * with only these, "momentum: 0.8 display: 0". All or none are changed.
 *
 * Fails with FIRE_ERR_PARSE (no such setting), FIRE_ERR_INVALID (a value that cannot
 * be), FIRE_ERR_UNSUPPORTED (a setting that only counts when a trainer is created, as
 * net or type). */
FIRE_CALL fire_trainer_set(fire_trainer_t *trainer, const char *text);

/* Read a setting that is a number, true (1) or false (0), given or by default:
 * "momentum". Fails with FIRE_ERR_INVALID if there is none of that name. */
FIRE_CALL fire_trainer_number(const fire_trainer_t *trainer, const char *name,
                              double *value_p);

/* All settings that are given, as the text of a solver file. It belongs to the trainer
 * and is valid until the next call. */
FIRE_CALL fire_trainer_text(fire_trainer_t *trainer, const char **text_p);

/* The learning rate, before the layers' lr_mult: of the last iteration; before the
 * first, what that will have. */
FIRE_API float fire_trainer_rate(const fire_trainer_t *trainer);
/* Train with this rate from the next iteration on, whatever lr_policy says; negative:
 * by lr_policy again. Snapshots do not keep it. Fails with FIRE_ERR_INVALID if it is
 * no finite number. */
FIRE_CALL fire_trainer_set_rate(fire_trainer_t *trainer, float rate);

/* Iterations done. */
FIRE_API int64_t fire_trainer_iter(const fire_trainer_t *trainer);
/* Count on from another number, >= 0: learning rate, tests and snapshots follow it. The
 * data go on where they are. */
FIRE_CALL fire_trainer_set_iter(fire_trainer_t *trainer, int64_t iter);

/* ---- looking ---- */

/* The training net and the test nets, 0 ... ntest - 1 (another number: NULL). They
 * belong to the trainer, and their settings to the calls above: look at them, write
 * their blobs, run them, but do not set hooks. A forward pass of the training net
 * outside step() sees the batch of the iteration before. */
FIRE_API fire_net_t *fire_trainer_net(const fire_trainer_t *trainer);
FIRE_API int         fire_trainer_ntest(const fire_trainer_t *trainer);
FIRE_API fire_net_t *fire_trainer_test_net(const fire_trainer_t *trainer, int i);

FIRE_API const char *fire_trainer_type(const fire_trainer_t *trainer); /* "SGD", ... */
/* Mean loss of the last average_loss iterations of this step(), as display shows it. */
FIRE_API double  fire_trainer_loss(const fire_trainer_t *trainer);
FIRE_API int     fire_trainer_rank(const fire_trainer_t *trainer);
FIRE_API int     fire_trainer_size(const fire_trainer_t *trainer);  /* workers */
FIRE_API int     fire_trainer_lanes(const fire_trainer_t *trainer); /* of all workers */
FIRE_API int64_t fire_trainer_batch(const fire_trainer_t *trainer); /* likewise */
FIRE_END_C
#endif
