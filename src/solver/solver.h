/* solver.h - from gradients to new weights: learning rate, clipping, regularisation,
 * the update rules, and the state that a snapshot keeps.
 *
 * A step is begin(), then update() for every span of every parameter, in any order, as
 * soon as its gradient is final, then end(). Spans let a trainer update what has been
 * summed while the rest is under way, or only its own share of the weights. */
#ifndef FIRE_SOLVER_SOLVER_H
#define FIRE_SOLVER_SOLVER_H
#include "net/net.h"
#include "solver/update.h"

typedef struct fire_solver fire_solver_t;

/* An update rule; rules.def lists them. */
typedef struct fire_rule {
    const char *type;     /* as solver files spell it */
    int         nhistory; /* arrays of the size of the weights that it keeps: 1 or 2 */
    bool        no_momentum; /* a momentum is an error, as in Caffe */
    bool        decoupled;   /* weight decay acts on weights, not on gradients */
    void (*apply)(const fire_update_t *u);
    void (*literal)(const fire_update_t *u); /* rounds as Caffe does */
} fire_rule_t;

/* Learning rates per layer (adapt.c). */
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
    bool    decoupled; /* weight decay, by the rule or by decoupled_decay */
    bool    literal;   /* `--kernel all=ref` or, say, Adam=ref: rounds as Caffe does */
    int64_t iter;      /* iterations done */
    int     current_step;   /* step and multistep: drops of the rate so far */
    float   rate;           /* of this iteration, before lr_mult */
    float   wanted_rate;    /* instead of what lr_policy says; negative: not set */
    float   rate_factor;    /* 1; less after a rollback */
    bool    inspects;       /* looks at all gradients before the first update */
    bool    holds;          /* does not apply gradients that are not finite */
    bool    bad;            /* those of this iteration are not, and were not applied */
    double  norm;           /* L2, of this iteration's gradients, if it inspects */
    float   clip_scale;     /* gradients are multiplied by it; 1: not clipped */
    float   correction;     /* Adam's bias correction of this iteration */
    fire_blob_t  **history; /* [rule->nhistory][net->nparam] */
    int            lanes;   /* that running statistics are means over */
    fire_update_t *batch;   /* [nparam + 1] GPU: updates not launched yet */
    int            nbatch;
};

fire_status_t fire_rule_find(const char *type, const fire_rule_t **rule_p);

/* Check rule, policy and numbers of a solver file; needs no net. */
fire_status_t fire_solver_check(const Caffe__SolverParameter *param);
fire_status_t fire_solver_check_rate(const Caffe__SolverParameter *param);

/* param and net must outlive the solver. */
fire_status_t fire_solver_create(const Caffe__SolverParameter *param, fire_net_t *net,
                                 fire_solver_t **solver_p);
void          fire_solver_destroy(fire_solver_t *solver); /* NULL is allowed */

/* The learning rate of iteration solver->iter (before lr_mult). */
float fire_solver_rate(fire_solver_t *solver);
/* Go on as if so many iterations were done. */
void fire_solver_set_iter(fire_solver_t *solver, int64_t iter);

/* begin() computes the iteration's rate. clip() is called before the first update(),
 * when all gradients are final; it does nothing unless the solver inspects, that is for
 * clip_gradients, grad_norm, and on_nan. update() takes
 * span [first, first + n) of parameter number `param`; with adapt (LARS, LARC) it must
 * be the whole parameter. */
fire_status_t fire_solver_begin(fire_solver_t *solver);
fire_status_t fire_solver_clip(fire_solver_t *solver);
fire_status_t fire_solver_update(fire_solver_t *solver, int param, int64_t first,
                                 int64_t n);
/* Launch the updates that are collected for a GPU: call it after each group of
 * update(). */
fire_status_t fire_solver_flush(fire_solver_t *solver);
void          fire_solver_end(fire_solver_t *solver);

/* Parts of an update, for src/solver only: the rate of a layer (changes u->rate); the
 * sum of x[i]^2, on the device of the net. */
fire_status_t fire_adapt_find(const char *name, fire_adapt_t *adapt_p);
fire_status_t fire_solver_adapt(const fire_solver_t *s, const fire_param_t *p,
                                fire_update_t *u);
fire_status_t fire_solver_squares(const fire_solver_t *s, float *x, int64_t n,
                                  double *sum_p);

/* To and from Caffe's SolverState: iteration, step and history. The caller adds the
 * path of the model. `source` is the file's name, for messages. */
fire_status_t fire_solver_save(const fire_solver_t *solver,
                               Caffe__SolverState **state_p);
fire_status_t fire_solver_load(fire_solver_t *solver, const Caffe__SolverState *state,
                               const char *source);
#endif
