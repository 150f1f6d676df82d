/* trainer_state.h - the trainer's members, and what its files call of each other. Only
 * files of src/train include it; others use trainer.h. */
#ifndef FIRE_TRAIN_TRAINER_STATE_H
#define FIRE_TRAIN_TRAINER_STATE_H
#include <stdatomic.h>
#include "base/log.h"
#include "base/random/mt.h"
#include "base/text/text.h"
#include "net/net_state.h"
#include "train/exchange/reducer.h"
#include "train/follow/follow.h"
#include "train/gpu/recording.h"
#include "train/snapshot/memory.h"
#include "train/snapshot/saver.h"
#include "train/trainer.h"

/* A net that only tests; it shares the weights of the training net. */
typedef struct fire_test_net {
    fire_net_t *net;
    int         iterations; /* test_iter: batches of one test */
} fire_test_net_t;

/* Iterations that may be in flight when the next one is launched; the one that is
 * launched needs a readback of its own. */
enum { FIRE_AHEAD = FIRE_GPU_READBACKS - 1 };

struct fire_trainer {
    const Caffe__SolverParameter *param; /* the caller's, or own.param */
    fire_trainer_options_t  options;     /* likewise, with ctx.mt set for rng: caffe */
    fire_trainer_parts_t    own;         /* param NULL: all belongs to the caller */
    Caffe__SolverParameter *changing;    /* of a trainer with a control file: `param` */
    fire_trainer_hooks_t    user;        /* of fire_trainer_set_hooks() */
    atomic_int              asked;       /* fire_action_t of fire_trainer_request() */
    fire_str_t              text;        /* of fire_trainer_text() */

    fire_net_t      *net; /* the training net */
    fire_solver_t   *solver;
    int              ntest;
    fire_test_net_t *test;    /* [ntest] */
    fire_grads_t    *grads;   /* memory of the net's gradients, and scalars */
    fire_reducer_t  *reducer; /* sums over workers, applies the sums */
    fire_mt_t       *mt;      /* Caffe's random numbers; NULL: ours */
    int              lanes, lane_first, lane_count; /* of all workers; of this one */
    int             *share; /* [workers + 1] the first lane of each */
    int64_t          batch; /* images per pass, of all workers */

    /* Position inside of an iteration. */
    int           lane;                  /* this worker's 0, 1 ... lane_count - 1 */
    bool          first_pass, last_pass; /* of the lane's iter_size passes */
    fire_action_t request;               /* of this worker's user, this iteration */
    bool          apart;                 /* gradients stay here until they are handed
                                            over by fire_trainer_update() or a hook */
    bool          half;                  /* gradients() has run, update() has not */

    /* Iterations on a GPU. */
    fire_recording_t    *recording;  /* NULL: iterations cannot be recorded */
    int                  unrecorded; /* iterations that ran without, to warm up */
    fire_gpu_readback_t *readback;   /* brings scalars to the host later; NULL: the
                                          host takes part in every iteration */
    fire_flight_t flight[FIRE_GPU_READBACKS]; /* launched, not landed, oldest first */
    int           nflight;
    double        landed; /* time at which the last one landed (fire_clock_now) */

    /* Measuring. */
    fire_profile_t  *profile; /* NULL: not measured */
    fire_profile_t  *paused;  /* the profile while measuring is switched off */
    fire_net_hooks_t paused_hooks;
    int64_t          began_iter; /* iteration at which this step() began */

    fire_follow_t follow;

    /* What log lines show. */
    double *window;  /* [average_loss] the last losses, a ring */
    int64_t nwindow; /* losses written to it so far */
    double  smoothed_loss;
    double  display_time; /* when the last display line was written */
    int64_t display_iter; /* and at which iteration */
    bool    stopped;      /* a worker's user asked for it */
    bool    diverged;     /* a loss was no finite number */

    fire_memory_t memory; /* the newest state in shared memory */

    /* Snapshots. */
    fire_saver_t saver;     /* of rank 0: writes them beside training */
    bool         saves;     /* one was begun, and not waited for yet */
    bool    snapshot_asked; /* a worker's user asked for one, it is not written yet */
    bool    saves_again;    /* rank 0 asks all workers for another try ... */
    bool    save_asked;     /* ... and they know */
    int64_t retry_at;       /* iteration at which to try again (rank 0) */
    int64_t retry_after;    /* iterations waited for that; 0: the last was written */
    double  failing_since;  /* when the first failed since one was written; 0: none */
};

/* ---- setting up (trainer.c calls them in this order) ---- */

/* Which lanes are this worker's (lanes.c). */
fire_status_t fire_trainer_take_lanes(fire_trainer_t *trainer);
/* With lane_weights "auto": time a pass on each worker, before gradients are laid out,
 * and share lanes anew. */
fire_status_t fire_trainer_weigh_lanes(fire_trainer_t *trainer);
/* Can snapshots be written where the solver wants them (snapshot/snapshot.c)? */
fire_status_t fire_trainer_check_prefix(const fire_trainer_t *trainer);
/* Nets of a solver file: are they named as they must be; make them (nets.c). */
fire_status_t fire_trainer_check_nets(const Caffe__SolverParameter *param);
fire_status_t fire_trainer_make_nets(fire_trainer_t *trainer);
/* data_store: "memory": keep this worker's share of the data set (store.c). */
fire_status_t fire_trainer_keep_data(fire_trainer_t *trainer);
/* A graph of an iteration, where a GPU can replay one (gpu/replay.c). */
fire_status_t fire_trainer_make_recording(fire_trainer_t *trainer);
/* A queue that brings scalars to the host while a GPU continues (iterate.c). */
fire_status_t fire_trainer_make_readback(fire_trainer_t *trainer);

/* ---- inside of an iteration ---- */

/* Replay the recorded iteration if there is one that fits, record it if it is time to;
 * else run(t), which computes it step by step (gpu/replay.c). Not `whole`: run(t) does
 * less than an iteration, or more. */
fire_status_t fire_trainer_replay(fire_trainer_t *trainer, bool whole,
                                  fire_status_t (*run)(fire_trainer_t *t));
/* Set lane number, loss weight and hooks of the net for one of this worker's lanes
 * (iterate.c). */
void fire_trainer_enter_lane(fire_trainer_t *trainer, int lane);

/* Add loss and outputs of the pass that just ran, times their weight in the mean, to
 * the scalars in grads (scalars.c). The GPU's version only queues the additions;
 * `clear` begins from zero. */
fire_status_t fire_trainer_add_scalars(fire_trainer_t *trainer, float loss);
fire_status_t fire_trainer_add_scalars_gpu(fire_trainer_t *trainer, bool clear);
/* The request of this worker's user, which is done with then (loop.c). */
fire_action_t fire_trainer_take_request(fire_trainer_t *trainer);
/* Does the user want to stop? Requests of another kind stay. */
bool fire_trainer_take_stop(fire_trainer_t *trainer);
/* Call it between layers: shows other workers that this one is alive, and fails if
 * one of them is not. */
fire_status_t fire_trainer_beat(fire_trainer_t *trainer);
/* Have that called in passes of a net that no gradients are wanted of. */
void fire_trainer_watch(fire_trainer_t *trainer, fire_net_t *net);

/* ---- public functions (enter.c) ---- */

/* A call of one: what its thread goes back to, and whether it may begin. */
typedef struct fire_trainer_call {
    fire_log_context_t before;
    fire_status_t      st;
} fire_trainer_call_t;

/* enter() before anything else, or listen() where updates may be under way; leave() at
 * the end, which passes the status on. */
fire_trainer_call_t fire_trainer_listen(fire_trainer_t *trainer);
fire_trainer_call_t fire_trainer_enter(fire_trainer_t *trainer);
fire_status_t fire_trainer_leave(fire_trainer_t *trainer, fire_trainer_call_t call,
                                 fire_status_t st);
/* Call a function of fire_trainer_set_hooks() that may look at values and change
 * them. */
fire_status_t fire_trainer_call_hook(fire_trainer_t *trainer,
                                     fire_status_t (*hook)(void *arg));
/* Wait until no updates are under way. */
fire_status_t fire_trainer_wait(fire_trainer_t *trainer);

/* ---- snapshots (snapshot/) ---- */

const char *fire_trainer_prefix(const fire_trainer_t *trainer); /* of their files */
/* Everything in a state but residuals, which come from all workers, and checksums. */
fire_status_t fire_trainer_make_state(const fire_trainer_t *trainer,
                                      Caffe__SolverState  **state_p);
/* Begin to write one, beside training, in iterations when it is due. While the last one
 * is being written this one is left out, with a warning, unless it `must` be. If it
 * cannot be written, rank 0 warns and must_save_again() says when all should save
 * again. */
fire_status_t fire_trainer_save(fire_trainer_t *trainer, bool must);
bool          fire_trainer_must_save_again(const fire_trainer_t *trainer);
/* One as the best, in place of the last best one. */
fire_status_t fire_trainer_snapshot_best(fire_trainer_t *trainer);
/* After each iteration: look whether one has been written; fails if none could be for
 * too long. */
fire_status_t fire_trainer_collect_snapshot(fire_trainer_t *trainer);
/* Wait until none is being written. */
fire_status_t fire_trainer_settle(fire_trainer_t *trainer);
/* One that is complete on return, or warned of; the last one, tried for seconds. */
fire_status_t fire_trainer_save_now(fire_trainer_t *trainer);
fire_status_t fire_trainer_save_last(fire_trainer_t *trainer);
/* Continue from the newest one of this run, of an iteration below a number. */
fire_status_t fire_trainer_go_back(fire_trainer_t *trainer, int64_t below,
                                   bool *found_p);

/* ---- between workers ---- */

/* Every worker's status becomes that of all: the worst one (lanes.c). */
fire_status_t fire_trainer_agree(fire_trainer_t *trainer, fire_status_t mine);
/* What made a snapshot; warn if this run is another (snapshot/origin.c). */
fire_status_t fire_trainer_save_origin(const fire_trainer_t *t, Caffe__FireState *ours);
void fire_trainer_compare_origin(const fire_trainer_t *t, const Caffe__FireState *ours);
/* Error feedback of compression in snapshots (snapshot/residual.c). All workers call
 * them; for save, ours is NULL except on rank 0. */
fire_status_t fire_trainer_save_residual(fire_trainer_t *t, Caffe__FireState *ours);
fire_status_t fire_trainer_load_residual(fire_trainer_t         *t,
                                         const Caffe__FireState *ours);

/* ---- for logs ---- */

/* Measuring (measure.c): before an iteration; at the moment of it when nothing is in
 * flight between workers, which is when measurements are gathered; after the last. */
void          fire_trainer_measure_begin(fire_trainer_t *trainer);
fire_status_t fire_trainer_measure(fire_trainer_t *trainer);
fire_status_t fire_trainer_measure_end(fire_trainer_t *trainer);
/* GPU memory in use, for the log; what a net needs, as an error (gpu/memory.c). */
void          fire_trainer_log_memory(const fire_trainer_t *trainer);
fire_status_t fire_trainer_out_of_memory(const fire_trainer_t *trainer);
/* Complete the event with iteration and batch, and hand it to the caller's callback. */
void fire_trainer_emit(fire_trainer_t *trainer, fire_train_event_t e);
#endif
