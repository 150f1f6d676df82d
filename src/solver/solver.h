/* solver.h - from gradients to new weights: learning rate, clipping, regularisation,
 * the six update rules, and the state that a snapshot keeps.
 *
 * A step is begin(), update() for every span of every parameter once its gradient is
 * final, in any order, then end(). Spans let a trainer update what has arrived while
 * the rest is under way, or only its own share. */
#ifndef FIRE_SOLVER_SOLVER_H
#define FIRE_SOLVER_SOLVER_H
#include "net/net.h"
#include "solver/update.h"

typedef struct fire_solver fire_solver_t;

/* An update rule; rules.def lists them. */
typedef struct fire_rule {
    const char *type; /* as solver files spell it */
    int         nhistory;
    bool        no_momentum; /* refuses a momentum, as Caffe does */
    void (*apply)(const fire_update_t *u);
    void (*literal)(const fire_update_t *u); /* in Caffe's own steps */
} fire_rule_t;

/* Rates per layer (adapt.c). */
typedef enum fire_adapt {
    FIRE_ADAPT_NONE,
    FIRE_ADAPT_LARS,
    FIRE_ADAPT_LARC
} fire_adapt_t;

struct fire_solver {
    const Caffe__SolverParameter *param; /* the caller's */
    fire_net_t                   *net;
    const fire_rule_t            *rule;
    fire_adapt_t                  adapt;
    bool                          literal; /* `--kernel all=ref` or Adam=ref */
    int64_t                       iter;
    int                           current_step; /* of the multistep policy */
    float                         rate;         /* of this iteration */
    float                         clip_scale;
    float                         correction; /* Adam's, of this iteration */
    fire_blob_t                 **history;    /* [rule->nhistory][net->nparam] */
    int                           lanes;      /* that statistics are averaged over */
    fire_update_t                *batch;      /* [nparam + 1] GPU: not launched yet */
    int                           nbatch;
};

fire_status_t fire_rule_find(const char *type, const fire_rule_t **rule_p);

/* Rule, policy and numbers, before there is a net. */
fire_status_t fire_solver_check(const Caffe__SolverParameter *param);
fire_status_t fire_solver_check_rate(const Caffe__SolverParameter *param);

/* param and net must outlive the solver. */
fire_status_t fire_solver_create(const Caffe__SolverParameter *param, fire_net_t *net,
                                 fire_solver_t **solver_p);
void          fire_solver_destroy(fire_solver_t *solver); /* NULL is allowed */

/* The learning rate of iteration solver->iter (before lr_mult). */
float fire_solver_rate(fire_solver_t *solver);

/* Settle the rate. clip(), where clip_gradients asks for it, comes before the first
 * update and wants all gradients final. With `adapt`, an update is of a whole
 * parameter. */
fire_status_t fire_solver_begin(fire_solver_t *solver);
fire_status_t fire_solver_clip(fire_solver_t *solver);
fire_status_t fire_solver_update(fire_solver_t *solver, int param, int64_t first,
                                 int64_t n);
/* Start what a GPU still has to do of the updates so far; after each group of them. */
fire_status_t fire_solver_flush(fire_solver_t *solver);
void          fire_solver_end(fire_solver_t *solver);

/* Parts of an update: the rate of a layer; a sum of squares, by whom it may. */
fire_status_t fire_adapt_find(const char *name, fire_adapt_t *adapt_p);
fire_status_t fire_solver_adapt(const fire_solver_t *s, const fire_param_t *p,
                                fire_update_t *u);
fire_status_t fire_solver_squares(const fire_solver_t *s, float *x, int64_t n,
                                  double *sum_p);

/* The state as Caffe keeps it, without the path of the weights that go with it. */
fire_status_t fire_solver_save(const fire_solver_t *solver,
                               Caffe__SolverState **state_p);
fire_status_t fire_solver_load(fire_solver_t *solver, const Caffe__SolverState *state,
                               const char *source);
#endif
