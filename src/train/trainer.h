/* trainer.h (internal) - a trainer as the library and the program see it, beyond the
 * public calls of <fire/trainer.h>: create one from a SolverParameter, measuring,
 * iterations without what is due between them. This is the only training loop there
 * is; one worker without communication is its simplest case.
 *
 * The global batch is cut into lanes (docs/design/0002-lanes.md). A worker runs its
 * lanes one after another and adds their gradients along a fixed tree, so the result
 * does not depend on how lanes are spread over workers. */
#ifndef FIRE_TRAIN_TRAINER_H
#define FIRE_TRAIN_TRAINER_H
#include <fire/trainer.h>
#include "base/log.h"
#include "comm/comm.h"
#include "net/net.h"
#include "solver/solver.h"
#include "train/profile.h"

typedef struct fire_trainer_options {
    fire_ctx_t   ctx;   /* where nets compute: device, precision, threads, kernels */
    fire_comm_t *comm;  /* the workers; NULL: only this one. The caller owns it */
    int          level; /* NetState of the training net, from the command line */
    int          nstage;
    const char **stage;    /* [nstage] */
    bool         observed; /* nets keep every value, without lean */
    int nobserve; /* names of blobs of the training net that keep their values */
    const char *const *observe;
    bool               measure; /* time phases and layers */
    int64_t            trace; /* keep single activities of the first so many iterations;
                             0: of a few iterations only */
    const char *control;      /* a file by which the user changes settings, or NULL; it
                            must outlive the trainer */
    void       *arg;          /* first argument of the callbacks, which may be NULL */
    /* What the user of this worker requests (by a signal, say), besides
     * fire_trainer_request(); asked for once per iteration. Requests are added up with
     * the gradients, so all workers act on them in the same iteration. */
    fire_action_t (*action)(void *arg);
    void (*event)(void *arg, const fire_train_event_t *e);
    /* About every tenth iteration, on rank 0. */
    void (*measured)(void *arg, const fire_measured_t *m);
} fire_trainer_options_t;

#define FIRE_TRAINER_OPTIONS_INIT ((fire_trainer_options_t){.ctx = FIRE_CTX_INIT})

/* param must outlive the trainer; fire_solver_param_load() has loaded it. */
fire_status_t fire_trainer_create(const Caffe__SolverParameter *param,
                                  const fire_trainer_options_t *options,
                                  fire_trainer_t              **trainer_p);
/* What a trainer was created with, to hand over: all of it ends with the trainer. */
typedef struct fire_trainer_parts {
    Caffe__SolverParameter *param;
    fire_stream_t          *stream;  /* NULL on the CPU */
    int                     gpu;     /* its number */
    char                   *kernels; /* ctx.kernels */
    fire_log_context_t      log;     /* of its public functions, with its route */
} fire_trainer_parts_t;

void fire_trainer_parts_fini(fire_trainer_parts_t *parts);
/* From now on the settings may be changed, and the nets be run by the user. */
void fire_trainer_own(fire_trainer_t *trainer, const fire_trainer_parts_t *parts);
/* Continue from a snapshot ("": none), or from the state of this job that is kept in
 * memory if it is newer. *found_p: there was one of them. */
fire_status_t fire_trainer_recover(fire_trainer_t *trainer, const char *path,
                                   bool *found_p);
/* After a failure of this worker: tell the others, which wait for it. Returns st. */
fire_status_t fire_trainer_inform(fire_trainer_t *trainer, fire_status_t st);

/* One iteration without display, test or snapshot; returns its loss. Updates may still
 * be under way afterwards: call sync() before reading weights. */
fire_status_t fire_trainer_iterate(fire_trainer_t *trainer, double *loss_p);

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

fire_comm_t *fire_trainer_comm(const fire_trainer_t *trainer); /* NULL: one worker */
const Caffe__SolverParameter *fire_trainer_param(const fire_trainer_t *trainer);
const fire_ctx_t             *fire_trainer_ctx(const fire_trainer_t *trainer);

fire_solver_t *fire_trainer_solver(const fire_trainer_t *trainer);

/* Switch off what options.measure asked for, and on again, between iterations. */
void fire_trainer_set_measuring(fire_trainer_t *trainer, bool on);
#endif
