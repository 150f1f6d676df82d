/* sweep.h - a grid of trainings: batch sizes times learning rates, a run directory for
 * each point. */
#ifndef FIRE_SWEEP_SWEEP_H
#define FIRE_SWEEP_SWEEP_H
#include "base/text/text.h"
#include "launch/run_workers.h"
#include "model/load.h"
#include "train/trainer.h"

/* ---- the grid (grid.c) ---- */

enum { FIRE_SWEEP_AXIS = 64 }; /* values on an axis, at most */

typedef struct fire_sweep_axis {
    int    n;
    double value[FIRE_SWEEP_AXIS];
} fire_sweep_axis_t;

/* How the learning rate of a point follows from its batch size. */
typedef enum fire_sweep_scaling {
    FIRE_SCALE_NONE,
    FIRE_SCALE_LINEAR, /* twice the batch, twice the rate */
    FIRE_SCALE_SQRT,
} fire_sweep_scaling_t;

typedef struct fire_sweep {
    const char             *dir;  /* the caller's; a point's run is a folder inside */
    Caffe__SolverParameter *base; /* training net and test nets inside */
    fire_sweep_axis_t       batch, rate;
    int64_t                 reference; /* batch that rates and intervals are for */
    fire_sweep_scaling_t    scaling;
    bool                    same_iterations; /* else the same number of epochs */
} fire_sweep_t;

/* As a user writes them. */
typedef struct fire_sweep_settings {
    const char *batches, *rates; /* "64,128"; "": the net's or the solver's own */
    const char *scaling;         /* "none", "linear", "sqrt" */
    const char *hold;            /* "epochs", "iterations" */
} fire_sweep_settings_t;

/* The sweep owns the solver from then on, also if this fails. */
fire_status_t fire_sweep_open(const char *dir, Caffe__SolverParameter *solver,
                              const fire_sweep_settings_t *settings,
                              fire_sweep_t                *sweep_p);
void          fire_sweep_close(fire_sweep_t *s);

/* Points are numbered from 0, row by row: a row is a batch size. */
int     fire_sweep_points(const fire_sweep_t *s);
int64_t fire_sweep_batch(const fire_sweep_t *s, int point);
double  fire_sweep_rate(const fire_sweep_t *s, int point); /* at the reference batch */
/* "batch64_lr0.01", and its run directory; end *dir_p with fire_free(). */
void          fire_sweep_name(const fire_sweep_t *s, int point, char name[64]);
fire_status_t fire_sweep_dir(const fire_sweep_t *s, int point, char **dir_p);
/* The solver of a point; end it with fire_message_free(). */
fire_status_t fire_sweep_solver(const fire_sweep_t *s, int point,
                                Caffe__SolverParameter **solver_p);

/* ---- results (table.c) ---- */

typedef enum fire_point_outcome {
    FIRE_POINT_OPEN,     /* not begun, or broken off */
    FIRE_POINT_DONE,     /* trained to its last iteration */
    FIRE_POINT_DIVERGED, /* stopped when the loss was no longer a number */
    FIRE_POINT_FAILED,   /* ended with an error */
} fire_point_outcome_t;

typedef struct fire_point_result {
    fire_point_outcome_t outcome;
    char    measure[64]; /* the test output that is compared; "": there are no tests */
    double  last, best;  /* its values; NAN: none */
    double  loss;        /* the last one */
    double  seconds;     /* of the whole run */
    double  speed;       /* images per second, mean */
    int64_t iter;
} fire_point_result_t;

/* From the log of the point; FIRE_POINT_OPEN if there is none. */
fire_status_t fire_sweep_read_result(const fire_sweep_t *s, int point,
                                     fire_point_result_t *result_p);
/* Trained to the end, or for as long as the loss was a number. */
bool fire_point_is_finished(const fire_point_result_t *r);

/* Append a table, [points] results: rows are batches, columns are rates. */
fire_status_t fire_sweep_table(const fire_sweep_t *s, const fire_point_result_t *result,
                               fire_str_t *out);
/* A line for each point in <dir>/sweep.csv. */
fire_status_t fire_sweep_save_csv(const fire_sweep_t        *s,
                                  const fire_point_result_t *result);

/* ---- training (run.c) ---- */

/* What the points have in common, and callbacks, which get `arg`. */
typedef struct fire_sweep_run {
    const fire_sweep_t    *sweep;
    fire_trainer_options_t options; /* its callbacks are set for each point */
    void                  *arg;
    bool (*stop)(void *arg); /* is the user asking to stop? Any worker calls it */
    /* Choose the device of a worker, and give it back after each point. */
    fire_status_t (*open_device)(void *arg, int rank, fire_ctx_t *ctx);
    void (*close_device)(void *arg, fire_ctx_t *ctx);
    /* Of rank 0, after each iteration. */
    void (*progress)(void *arg, const char *point, int64_t iter, int64_t max_iter);
} fire_sweep_run_t;

/* Train this worker's share of the points that are not finished, one after another.
 * Every worker calls it. A point that fails is logged, and the others go on. */
fire_status_t fire_sweep_train(const fire_sweep_run_t *run,
                               const fire_worker_t    *worker);
#endif
