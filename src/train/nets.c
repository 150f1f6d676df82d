/* nets.c - the training net and the test nets that a solver file asks for. */
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "model/load.h"
#include "model/message.h"
#include "train/trainer_state.h"

/* Where a net comes from: a message inside the solver file, or a file of its own. */
typedef struct net_source {
    const Caffe__NetParameter *param;
    const char                *path;
} net_source_t;

/* The state that selects a net's layers: phase, overridden by the net's own `state`,
 * then by the solver's. make_net() adds level and stages of the command line, for the
 * training net only. */
static fire_status_t merge_state(Caffe__Phase phase, const Caffe__NetParameter *param,
                                 const Caffe__NetState *solver_state,
                                 Caffe__NetState      **state_p)
{
    Caffe__NetState *state;
    fire_status_t    st;

    FIRE_TRY(fire_message_create(&caffe__net_state__descriptor,
                                 (ProtobufCMessage **)&state));
    state->has_phase = true;
    state->phase     = phase;
    if (param->state != NULL)
        FIRE_TRY_GOTO(st, fire_message_merge(param->state, state), err_state);
    if (solver_state != NULL)
        FIRE_TRY_GOTO(st, fire_message_merge(solver_state, state), err_state);
    *state_p = state;
    return FIRE_OK;

err_state:
    fire_message_free(state);
    return st;
}

/* Load a net if it is in a file, select its layers and build it. Errors name the
 * file. */
static fire_status_t make_net(const fire_trainer_t *t, net_source_t source,
                              Caffe__Phase phase, const Caffe__NetState *solver_state,
                              const fire_moment_t *moment, fire_net_t **net_p)
{
    fire_net_options_t   o      = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *loaded = NULL;
    Caffe__NetState     *state  = NULL;
    fire_status_t        st;

    if (source.param == NULL) FIRE_TRY(fire_net_param_load_text(source.path, &loaded));
    if (loaded != NULL) source.param = loaded;
    FIRE_TRY_GOTO(st, merge_state(phase, source.param, solver_state, &state), out);
    if (phase == CAFFE__PHASE__TRAIN) {
        for (int i = 0; i < t->options.nstage; i++)
            FIRE_TRY_GOTO(
                st, fire_message_add_string(state, "stage", t->options.stage[i]), out);
        if (t->options.level != 0) state->level = t->options.level;
    }
    o.ctx         = t->options.ctx;
    o.moment      = *moment;
    o.phase       = state->phase;
    o.level       = state->level;
    o.nstage      = (int)state->n_stage;
    o.stage       = (const char **)state->stage;
    o.whole_state = true;
    if (phase == CAFFE__PHASE__TRAIN) {
        o.nobserve   = t->options.nobserve;
        o.observe    = t->options.observe;
        o.may_forget = t->options.observed;
    }
    st = fire_net_create(source.param, &o, net_p);
    if (st < 0 && source.path != NULL) fire_error_prefix(st, "%s", source.path);
    /* on the CPU, fusion of layers in place changes no gradient of a blob */
    if (st >= 0 && t->options.observed && o.ctx.place == FIRE_GPU)
        st = fire_net_unfuse(*net_p);
out:
    fire_message_free(state);
    fire_message_free(loaded);
    return st;
}

/* Exactly one of four fields must name the training net. */
static fire_status_t train_source(const Caffe__SolverParameter *p,
                                  net_source_t                 *source_p)
{
    net_source_t all[] = {{p->net_param, NULL},
                          {NULL, p->net},
                          {p->train_net_param, NULL},
                          {NULL, p->train_net}};
    int          found = 0;

    for (int i = 0; i < 4; i++)
        if (all[i].param != NULL || all[i].path != NULL) {
            *source_p = all[i];
            found++;
        }
    if (found != 1)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the solver must name its training net once, in net, net_param, "
            "train_net or train_net_param; it does so %d times",
            found);
    return FIRE_OK;
}

/* The i-th test net, in Caffe's order: test_net_param, test_net, then net_param or net
 * for the remaining entries of test_iter. */
static net_source_t test_source(const Caffe__SolverParameter *p, size_t i)
{
    if (i < p->n_test_net_param) return (net_source_t){p->test_net_param[i], NULL};
    i -= p->n_test_net_param;
    if (i < p->n_test_net) return (net_source_t){NULL, p->test_net[i]};
    return (net_source_t){p->net_param, p->net};
}

/* Caffe's rules: one test_iter per test net; with a common net, as many more as there
 * are entries left. */
static fire_status_t count_test_nets(const Caffe__SolverParameter *p, int *n_p)
{
    size_t own     = p->n_test_net_param + p->n_test_net;
    bool   generic = p->net_param != NULL || p->net != NULL;

    if (generic ? p->n_test_iter < own : p->n_test_iter != own)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the solver has %zu test_iter for %zu test nets; give one for "
                         "each",
                         p->n_test_iter, own);
    if (p->n_test_state > 0 && p->n_test_state != p->n_test_iter)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the solver has %zu test_state for %zu test nets; give none or "
            "one for each",
            p->n_test_state, p->n_test_iter);
    if (p->n_test_iter > 0 && p->test_interval <= 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the solver has test nets but no test_interval > 0");
    for (size_t i = 0; i < p->n_test_iter; i++)
        if (p->test_iter[i] < 0)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "test_iter is %d; it must be 0, for no test, or more",
                             p->test_iter[i]);
    *n_p = (int)p->n_test_iter;
    return FIRE_OK;
}

/* A net in the solver file itself is there; a file must be readable. */
static fire_status_t check_source(net_source_t source)
{
    return source.path != NULL ? fire_file_check_or_installed(source.path) : FIRE_OK;
}

fire_status_t fire_trainer_check_nets(const Caffe__SolverParameter *p)
{
    net_source_t source;
    int          ntest;

    FIRE_TRY(train_source(p, &source));
    FIRE_TRY(count_test_nets(p, &ntest));
    FIRE_TRY(check_source(source));
    for (int i = 0; i < ntest; i++)
        FIRE_TRY(check_source(test_source(p, (size_t)i)));
    return FIRE_OK;
}

/* Is batch_size of all workers together, or of each one (BVLC Caffe's multi-GPU
 * rule)? */
static fire_batch_rule_t batch_rule(const Caffe__FireParameter *f)
{
    return f != NULL && strcmp(f->batch, "per-worker") == 0 ? FIRE_BATCH_PER_WORKER
                                                            : FIRE_BATCH_GLOBAL;
}

/* The training net runs this worker's lanes and shuffles; test nets have one lane, take
 * turns over batches (test.c) and share the weights of the training net. */
fire_status_t fire_trainer_make_nets(fire_trainer_t *t)
{
    const Caffe__SolverParameter *p = t->param;
    fire_moment_t                 m = FIRE_MOMENT_INIT;
    net_source_t                  source;
    int                           ntest = 0;

    m.seed = p->random_seed >= 0 ? (uint64_t)p->random_seed : 1;
    FIRE_TRY(train_source(p, &source));
    FIRE_TRY(count_test_nets(p, &ntest));
    FIRE_TRY(FIRE_NEW(&t->test, ntest));
    m.rule       = batch_rule(p->fire);
    m.lanes      = t->lanes;
    m.lane       = t->lane_first;
    m.lane_first = t->lane_first;
    m.lane_count = t->lane_count;
    m.lane_steps = p->iter_size;
    m.shuffle    = p->fire != NULL && p->fire->shuffle;
    FIRE_TRY(make_net(t, source, CAFFE__PHASE__TRAIN, p->train_state, &m, &t->net));
    m.shuffle = false;
    m.lanes   = 1;
    m.lane = m.lane_first = m.lane_count = m.lane_steps = 0;
    for (int i = 0; i < ntest; i++) {
        FIRE_TRY(make_net(t, test_source(p, (size_t)i), CAFFE__PHASE__TEST,
                          p->n_test_state > 0 ? p->test_state[i] : NULL, &m,
                          &t->test[i].net));
        t->test[i].iterations = p->test_iter[i];
        t->ntest++;
        FIRE_TRY(fire_net_share(t->test[i].net, t->net));
    }
    return FIRE_OK;
}
