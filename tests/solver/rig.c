/* rig.c - opens solvers over a tiny net. */
#include "rig.h"

#include "model/load.h"
#include "model/text.h"

static Caffe__SolverParameter *parse(const char *text)
{
    ProtobufCMessage       *m;
    Caffe__SolverParameter *p;

    CHECK_OK(fire_text_parse(text, strlen(text), "solver",
                             &caffe__solver_parameter__descriptor, &m));
    p = (Caffe__SolverParameter *)m;
    if (!p->has_base_lr) p->base_lr = 0.5f;
    if (p->lr_policy == NULL)
        CHECK_OK(fire_message_add_string(p, "lr_policy", "fixed"));
    return p;
}

static rig_t open_net(const char *solver, const char *kernels)
{
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    rig_t              r = {.param = parse(solver)};

    o.phase       = CAFFE__PHASE__TRAIN;
    o.ctx.kernels = kernels;
    CHECK_OK(fire_net_param_load_text(test_source("tests/solver/nets/weights.prototxt"),
                                      &r.net_param));
    CHECK_OK(fire_net_create(r.net_param, &o, &r.net));
    return r;
}

rig_t rig_open_net(const char *solver)
{
    return open_net(solver, NULL);
}

rig_t rig_open(const char *solver)
{
    rig_t r = open_net(solver, NULL);

    CHECK_OK(fire_solver_create(r.param, r.net, &r.solver));
    return r;
}

rig_t rig_open_literal(const char *solver)
{
    rig_t r = open_net(solver, "all=ref");

    CHECK_OK(fire_solver_create(r.param, r.net, &r.solver));
    CHECK(r.solver->literal);
    return r;
}

void rig_close(rig_t *r)
{
    fire_solver_destroy(r->solver);
    fire_net_destroy(r->net);
    fire_message_free(r->param);
    fire_message_free(r->net_param);
}

static float *part_of(const rig_t *r, int param, fire_part_t part)
{
    float *x;

    CHECK_OK(fire_blob_update(r->net->learn[param].blob, part, FIRE_CPU, &x));
    return x;
}

float *rig_weights(const rig_t *r, int param)
{
    return part_of(r, param, FIRE_DATA);
}

float *rig_gradients(const rig_t *r, int param)
{
    return part_of(r, param, FIRE_DIFF);
}

float rig_step(rig_t *r, float gradient)
{
    memset(rig_gradients(r, 0), 0, 4 * sizeof(float));
    memset(rig_gradients(r, 1), 0, 2 * sizeof(float));
    rig_gradients(r, 0)[0] = gradient;
    CHECK_OK(fire_solver_begin(r->solver));
    CHECK_OK(fire_solver_clip(r->solver));
    for (int i = 0; i < r->net->nparam; i++)
        CHECK_OK(fire_solver_update(r->solver, i, 0, r->net->learn[i].blob->count));
    CHECK_OK(fire_solver_flush(r->solver));
    fire_solver_end(r->solver);
    return rig_weights(r, 0)[0];
}
