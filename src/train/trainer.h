/* trainer.h - a training run on one worker of one or many: nets, solver, data
 * position, testing, snapshots. The only training loop there is: one worker without
 * communication is the simplest case of it.
 *
 * Works in lanes (docs/design/0002-lanes.md): this worker runs its lanes of the global
 * batch one after another and adds their gradients in the canonical tree, so that the result
 * does not depend on how lanes are spread over workers. */
#ifndef FIRE_TRAIN_TRAINER_H
#define FIRE_TRAIN_TRAINER_H
#include "comm/nccl_sum.h"
#include "net/net.h"
#include "solver/solver.h"
#include "train/exchange/exchange.h"
#include "train/exchange/grads.h"
#include "train/profile.h"
#include "train/recording.h"

/* What the user asks for from outside (signals); looked at once per iteration. */
typedef enum fire_action { FIRE_GO_ON, FIRE_SNAPSHOT, FIRE_STOP } fire_action_t;

typedef enum fire_train_event_kind {
    FIRE_TRAIN_START,
    FIRE_TRAIN_ITERATION, /* every one: its own loss, lr, seconds */
    FIRE_TRAIN_DISPLAY,   /* those that are logged: smoothed loss, lr, outputs */
    FIRE_TRAIN_MEASURED,  /* now and then, if the trainer measures */
    FIRE_TRAIN_TEST,      /* one output of one test net */
    FIRE_TRAIN_SNAPSHOT,
    FIRE_TRAIN_DONE,
} fire_train_event_kind_t;

typedef struct fire_train_output {
    const char *name;
    double      value;
} fire_train_output_t;

typedef struct fire_train_event {
    fire_train_event_kind_t    kind;
    int64_t                    iter, max_iter;
    int64_t                    batch;    /* images per iteration, all workers */
    double                     loss, lr; /* ITERATION, DISPLAY */
    double                     seconds;  /* ITERATION */
    int                        noutput;  /* DISPLAY: of the training net */
    const fire_train_output_t *output;
    double                     loss_scale; /* DISPLAY: of fp16; 0: there is none */
    int                        test_net;   /* TEST */
    const char                *name;       /* TEST: output; SNAPSHOT: file */
    double                     value;      /* TEST */
    const fire_measured_t     *measured;   /* MEASURED */
} fire_train_event_t;

typedef struct fire_trainer_options {
    fire_ctx_t   ctx;
    fire_comm_t *comm;  /* the workers; NULL: this one alone. The caller owns it */
    int          level; /* of the training net, from the command line */
    int          nstage;
    const char **stage;
    bool         measure; /* where time goes: gives FIRE_TRAIN_MEASURED */
    int64_t      trace;   /* measured spans of so many iterations; 0: of a few */
    void        *arg;     /* for the callbacks, which may be NULL */
    fire_action_t (*action)(void *arg);
    void (*event)(void *arg, const fire_train_event_t *e);
} fire_trainer_options_t;

#define FIRE_TRAINER_OPTIONS_INIT ((fire_trainer_options_t){.ctx = FIRE_CTX_INIT})

typedef struct fire_test_net {
    fire_net_t *net;
    int         iterations;
} fire_test_net_t;

/* An iteration that was started and of whose loss nobody has heard yet. */
typedef struct fire_flight {
    int64_t iter; /* after it */
    float   rate;
} fire_flight_t;

/* Iterations that a GPU may have before it; one more readback belongs to the one that starts. */
enum { FIRE_AHEAD = FIRE_GPU_READBACKS - 1 };

typedef struct fire_trainer {
    const Caffe__SolverParameter *param; /* the caller's */
    fire_trainer_options_t        options;
    fire_net_t                   *net;
    fire_solver_t                *solver;
    int                           ntest;
    fire_test_net_t              *test;
    fire_grads_t                 *grads;
    fire_exchange_t              *exchange;       /* NULL: one worker, or nccl */
    fire_nccl_t                  *nccl;           /* sums over GPUs; NULL: not so */
    int64_t                       bucket, summed; /* nccl: floats, this iteration */
    int                           lanes, lane_first, lane_count;
    int64_t                       batch; /* global */
    int                           lane;  /* being run, this worker's 0, 1 ... */
    bool                          first_pass, last_pass; /* of the lane */
    fire_action_t                 wish;                  /* of this worker's user */

    fire_recording_t *recording; /* of an iteration, on a GPU; NULL: none is possible */
    int               unrecorded; /* iterations that ran to warm up */
    fire_gpu_readback_t
                 *readback; /* for scalars; NULL: the host takes part in iterations */
    fire_flight_t flight[FIRE_GPU_READBACKS];
    int           nflight;
    double        landed; /* when the last one did */

    fire_mt_t      *mt;         /* Caffe's random numbers; NULL: ours */
    fire_profile_t *profile;    /* NULL: not measured */
    int64_t         began_iter; /* where this run took up */

    double *window; /* the last average_loss losses */
    int64_t nwindow;
    double  smoothed_loss;
    double  display_time; /* when the last display line was written */
    int64_t display_iter;
    bool    stopped; /* on request */
} fire_trainer_t;

/* param must outlive the trainer; it has been loaded by fire_solver_param_load(). */
fire_status_t fire_trainer_create(const Caffe__SolverParameter *param,
                                  const fire_trainer_options_t *options,
                                  fire_trainer_t              **trainer_p);
void          fire_trainer_destroy(fire_trainer_t *trainer); /* NULL is allowed */

/* Weights for fine-tuning: a comma-separated list of model files. */
fire_status_t fire_trainer_load_weights(fire_trainer_t *trainer, const char *paths);
/* Go on from a .solverstate or .solverstate.h5 and the model it names. */
fire_status_t fire_trainer_restore(fire_trainer_t *trainer, const char *path);
/* Write model and state now: <prefix>_iter_<n>.caffemodel and .solverstate. */
fire_status_t fire_trainer_snapshot(fire_trainer_t *trainer);

fire_status_t fire_trainer_solve(fire_trainer_t *trainer); /* up to max_iter */
fire_status_t fire_trainer_step(fire_trainer_t *trainer, int64_t iterations);
fire_status_t fire_trainer_test(fire_trainer_t *trainer, int test_net);

/* One iteration without display, test or snapshot; its loss. Updates may still be
 * under way when it returns: sync() before looking at weights. */
fire_status_t fire_trainer_iterate(fire_trainer_t *trainer, double *loss_p);
/* The same in two steps: a GPU that works for one worker alone need not be waited for,
 * and up to FIRE_AHEAD iterations may be left before the next is launched. Landed are
 * they one by one, in order: what is left to do on the host, loss and all. */
fire_status_t fire_trainer_launch(fire_trainer_t *trainer);
fire_status_t fire_trainer_land(fire_trainer_t *trainer, fire_flight_t *flight_p,
                                double *loss_p);
fire_status_t fire_trainer_sync(fire_trainer_t *trainer);

int fire_trainer_rank(const fire_trainer_t *trainer);
int fire_trainer_size(const fire_trainer_t *trainer); /* workers */

/* ---- parts of the trainer, one file each ---- */
fire_status_t fire_trainer_check_nets(const Caffe__SolverParameter *param);
fire_status_t fire_trainer_make_nets(fire_trainer_t *trainer);
fire_status_t fire_trainer_take_lanes(fire_trainer_t *trainer);
fire_status_t fire_trainer_make_exchange(fire_trainer_t *trainer);
/* `comm` nccl: open it where it can be; the head, what backward finished, the rest. */
fire_status_t fire_trainer_open_nccl(fire_trainer_t                *trainer,
                                     const fire_exchange_options_t *options);
fire_status_t fire_trainer_sum_head(fire_trainer_t *trainer);
fire_status_t fire_trainer_sum_ready(fire_trainer_t *trainer, int64_t upto);
fire_status_t fire_trainer_sum_rest(fire_trainer_t *trainer);
fire_status_t fire_trainer_make_recording(fire_trainer_t *trainer);
/* This pass's loss and outputs, weighted, join the scalars; on a GPU, without waiting
 * for it, added to those so far or afresh. */
fire_status_t fire_trainer_add_scalars(fire_trainer_t *trainer, float loss);
fire_status_t fire_trainer_add_scalars_gpu(fire_trainer_t *trainer, bool afresh);
fire_status_t fire_trainer_make_post(fire_trainer_t *trainer);
/* On a GPU: what is in use, for the log; what is needed, as an error. */
void          fire_trainer_log_memory(const fire_trainer_t *trainer);
fire_status_t fire_trainer_out_of_memory(const fire_trainer_t *trainer);
fire_status_t fire_trainer_keep_data(fire_trainer_t *trainer); /* data_store */
/* Show other workers that this one is at work; do they live? Call it between layers. */
fire_status_t fire_trainer_beat(fire_trainer_t *trainer);
/* Every worker's status becomes everybody's. */
fire_status_t fire_trainer_agree(fire_trainer_t *trainer, fire_status_t mine);
fire_status_t fire_trainer_check_prefix(const fire_trainer_t *trainer);
/* All workers call them; `ours` of save is NULL but for the first. */
fire_status_t fire_trainer_save_residual(fire_trainer_t *t, Caffe__FireState *ours);
fire_status_t fire_trainer_load_residual(fire_trainer_t         *t,
                                         const Caffe__FireState *ours);
/* Measuring: before an iteration; when nothing is under way between workers, which is
 * the moment to tell what was measured; after the last iteration. */
void          fire_trainer_measure_begin(fire_trainer_t *trainer);
fire_status_t fire_trainer_measure(fire_trainer_t *trainer);
fire_status_t fire_trainer_measure_end(fire_trainer_t *trainer);
void          fire_trainer_emit(fire_trainer_t *trainer, fire_train_event_t e);
#endif
