/* rig.h - a solver and a net with four weights and two biases, for steps whose results
 * are worked out by hand. */
#ifndef FIRE_TESTS_SOLVER_RIG_H
#define FIRE_TESTS_SOLVER_RIG_H
#include "net/net_state.h"
#include "solver/solver.h"
#include "test.h"

typedef struct rig {
    Caffe__NetParameter    *net_param;
    Caffe__SolverParameter *param;
    fire_net_t             *net;
    fire_solver_t          *solver;
} rig_t;

/* The solver's text may leave out base_lr (0.5) and lr_policy (fixed). */
rig_t rig_open(const char *solver);
/* The same without creating the solver: for tests in which that fails. */
rig_t rig_open_net(const char *solver);
/* With Caffe's rounding: `--kernel all=ref`. */
rig_t rig_open_literal(const char *solver);
void  rig_close(rig_t *r);

/* Values of parameter `param` (0: weights, 1: biases) and of its gradient. */
float *rig_weights(const rig_t *r, int param);
float *rig_gradients(const rig_t *r, int param);

/* Both parameters are 0 but for w[0]: one step with this gradient for it; the new
 * w[0]. */
float rig_step(rig_t *r, float gradient);
#endif
