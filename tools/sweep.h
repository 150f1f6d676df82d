/* sweep.h - a grid of trainings: batch sizes times learning rates, a run directory for
 * each point. */
#ifndef FIRE_TOOLS_SWEEP_H
#define FIRE_TOOLS_SWEEP_H
#include "model/load.h"

enum { MOST_ON_AXIS = 64 };

typedef struct axis {
    int    n;
    double value[MOST_ON_AXIS];
} axis_t;

/* How the rate of a point follows from its batch. */
typedef enum scaling { SCALE_NONE, SCALE_LINEAR, SCALE_SQRT } scaling_t;

typedef struct grid {
    const char             *dir;  /* that of a point lies in it */
    Caffe__SolverParameter *base; /* training net and test nets inside */
    axis_t                  batch, rate;
    int64_t                 reference; /* batch that rates and intervals are for */
    scaling_t               scaling;
    bool                    same_iterations; /* else the same number of epochs */
} grid_t;

/* What the command line says of it. */
typedef struct grid_flags {
    const char *batches, *rates, *scaling, *hold;
} grid_flags_t;

/* Takes the solver over, also if it fails. End with grid_close(). */
fire_status_t grid_open(const char *dir, Caffe__SolverParameter *solver,
                        const grid_flags_t *flags, grid_t *grid_p);
void          grid_close(grid_t *grid);

int     grid_points(const grid_t *grid);
int64_t grid_batch(const grid_t *grid, int point);
double  grid_rate(const grid_t *grid, int point); /* at the reference batch */
/* "batch64_lr0.01", and where it is kept; end *dir_p with fire_free(). */
void          grid_name(const grid_t *grid, int point, char name[64]);
fire_status_t grid_dir(const grid_t *grid, int point, char **dir_p);
/* The solver of a point; end it with fire_message_free(). */
fire_status_t grid_solver(const grid_t *grid, int point,
                          Caffe__SolverParameter **solver_p);

/* ---- what has come of it ---- */

typedef enum outcome {
    POINT_OPEN,     /* not begun, or broken off */
    POINT_DONE,     /* to its last iteration */
    POINT_DIVERGED, /* stopped, as the loss was no number any more */
    POINT_FAILED,   /* with an error */
} outcome_t;

typedef struct result {
    outcome_t outcome;
    char      measure[64]; /* name of the test output that counts, "" without tests */
    double    last, best;  /* its values; NAN: none */
    double    loss, seconds, speed; /* the last loss; images per second */
    int64_t   iter;
} result_t;

/* What the log of the point tells; POINT_OPEN if there is none. */
fire_status_t result_read(const grid_t *grid, int point, result_t *result_p);
/* All results: rows are batches, columns are rates; and a line each as CSV. */
void          results_print(const grid_t *grid, const result_t *result);
fire_status_t results_save(const grid_t *grid, const result_t *result);
#endif
