/* trainer.h - a training run on one worker, of one or many: nets, solver, position in
 * the data, testing, snapshots. This is the only training loop there is; one worker
 * without communication is its simplest case.
 *
 * The global batch is cut into lanes (docs/design/0002-lanes.md). A worker runs its
 * lanes one after another and adds their gradients along a fixed tree, so the result
 * does not depend on how lanes are spread over workers.
 *
 * A trainer belongs to the thread that created it. With several workers, each has a
 * trainer of its own, and all of them make the same calls in the same order.
 *
 * Use, without error handling:
 *
 *     fire_trainer_create(param, &options, &t);
 *     fire_trainer_restore(t, "lenet_iter_5000.solverstate");   (optional)
 *     fire_trainer_solve(t);
 *     fire_trainer_destroy(t); */
#ifndef FIRE_TRAIN_TRAINER_H
#define FIRE_TRAIN_TRAINER_H
#include "comm/comm.h"
#include "net/net.h"
#include "solver/solver.h"
#include "train/profile.h"

typedef struct fire_trainer fire_trainer_t;

/* What the user of this worker requests (by a signal, say); asked for once per
 * iteration. The request is added up with the gradients, so all workers act on it in
 * the same iteration. */
typedef enum fire_action { FIRE_GO_ON, FIRE_SNAPSHOT, FIRE_STOP } fire_action_t;

typedef enum fire_train_event_kind {
    FIRE_TRAIN_START,
    FIRE_TRAIN_ITERATION, /* every iteration: its own loss, lr, seconds */
    FIRE_TRAIN_DISPLAY,   /* every `display` iterations: smoothed loss, lr, outputs */
    FIRE_TRAIN_MEASURED,  /* about every tenth iteration, with options.measure */
    FIRE_TRAIN_TEST,      /* one output of one test net */
    FIRE_TRAIN_SNAPSHOT,
    FIRE_TRAIN_DONE,
} fire_train_event_kind_t;

/* Pointers are valid during the callback only. */
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
    const char               *name;       /* TEST: output; SNAPSHOT: file */
    double                    value;      /* TEST: mean over test_iter batches */
    const fire_measured_t    *measured;   /* MEASURED */
} fire_train_event_t;

typedef struct fire_trainer_options {
    fire_ctx_t   ctx;   /* where nets compute: device, precision, threads, kernels */
    fire_comm_t *comm;  /* the workers; NULL: only this one. The caller owns it */
    int          level; /* NetState of the training net, from the command line */
    int          nstage;
    const char **stage;   /* [nstage] */
    bool         measure; /* time phases and layers; sends FIRE_TRAIN_MEASURED */
    int64_t      trace;   /* keep single activities of the first so many iterations;
                             0: of a few iterations only */
    void        *arg;     /* first argument of the callbacks, which may be NULL */
    fire_action_t (*action)(void *arg);
    void (*event)(void *arg, const fire_train_event_t *e);
} fire_trainer_options_t;

#define FIRE_TRAINER_OPTIONS_INIT ((fire_trainer_options_t){.ctx = FIRE_CTX_INIT})

/* param must outlive the trainer; fire_solver_param_load() has loaded it. */
fire_status_t fire_trainer_create(const Caffe__SolverParameter *param,
                                  const fire_trainer_options_t *options,
                                  fire_trainer_t              **trainer_p);
void          fire_trainer_destroy(fire_trainer_t *trainer); /* NULL is allowed */

/* Weights for fine-tuning; paths: model files, separated by commas. */
fire_status_t fire_trainer_load_weights(fire_trainer_t *trainer, const char *paths);
/* Continue from a .solverstate or .solverstate.h5 and the model that it names. */
fire_status_t fire_trainer_restore(fire_trainer_t *trainer, const char *path);
/* Write model and state: <prefix>_iter_<n>.caffemodel and .solverstate. */
fire_status_t fire_trainer_snapshot(fire_trainer_t *trainer);

/* Train up to max_iter, with display, tests and snapshots as the solver asks. */
fire_status_t fire_trainer_solve(fire_trainer_t *trainer);
/* The same for so many iterations. */
fire_status_t fire_trainer_step(fire_trainer_t *trainer, int64_t iterations);
/* Run one test net now: its outputs are logged and sent as FIRE_TRAIN_TEST. */
fire_status_t fire_trainer_test(fire_trainer_t *trainer, int test_net);

/* One iteration without display, test or snapshot; returns its loss. Updates may still
 * be under way afterwards: call sync() before reading weights. */
fire_status_t fire_trainer_iterate(fire_trainer_t *trainer, double *loss_p);
fire_status_t fire_trainer_sync(fire_trainer_t *trainer);

/* ---- iterate() in two steps, so that the host can work ahead of a GPU ---- */

/* An iteration that launch() has queued and land() has not yet waited for. */
typedef struct fire_flight {
    int64_t iter; /* iterations done when it ends */
    float   rate; /* its learning rate */
} fire_flight_t;

/* launch() queues an iteration; land() waits for the oldest one and returns its loss.
 * Before the next launch(), at most fire_trainer_ahead() may be left in flight: 0
 * where the host takes part in every iteration. */
fire_status_t fire_trainer_launch(fire_trainer_t *trainer);
fire_status_t fire_trainer_land(fire_trainer_t *trainer, fire_flight_t *flight_p,
                                double *loss_p);
int           fire_trainer_ahead(const fire_trainer_t *trainer);
int           fire_trainer_nflight(const fire_trainer_t *trainer);

/* ---- what a trainer holds; all of it ends with the trainer ---- */

int          fire_trainer_rank(const fire_trainer_t *trainer);
int          fire_trainer_size(const fire_trainer_t *trainer);  /* number of workers */
fire_comm_t *fire_trainer_comm(const fire_trainer_t *trainer);  /* NULL: one worker */
int          fire_trainer_lanes(const fire_trainer_t *trainer); /* of all workers */
int64_t fire_trainer_batch(const fire_trainer_t *trainer); /* images, all workers */
int64_t fire_trainer_iter(const fire_trainer_t *trainer);  /* iterations done */
float   fire_trainer_rate(const fire_trainer_t *trainer);  /* of the last iteration */
const Caffe__SolverParameter *fire_trainer_param(const fire_trainer_t *trainer);
const fire_ctx_t             *fire_trainer_ctx(const fire_trainer_t *trainer);

fire_net_t    *fire_trainer_net(const fire_trainer_t *trainer); /* the training net */
int            fire_trainer_ntest(const fire_trainer_t *trainer);
fire_net_t    *fire_trainer_test_net(const fire_trainer_t *trainer, int i);
fire_solver_t *fire_trainer_solver(const fire_trainer_t *trainer);

/* Switch off what options.measure asked for, and on again, between iterations. */
void fire_trainer_set_measuring(fire_trainer_t *trainer, bool on);
#endif
