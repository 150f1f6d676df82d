/* test_adapt.c - LARS and LARC against numbers worked out by hand, and the other
 * settings for large batches. */
#include "net/net_state.h"
#include "solver/solver.h"
#include "test.h"

#include "model/text.h"

static const char net_text[] =
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: [1, 2] } } }"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' inner_product_param "
    "{ "
    "num_output: 2 } }";

typedef struct rig {
    Caffe__NetParameter    *net_param;
    Caffe__SolverParameter *param;
    fire_net_t             *net;
    fire_solver_t          *solver;
} rig_t;

static void *parse(const char *text, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *m;

    CHECK_OK(fire_text_parse(text, strlen(text), "text", type, &m));
    return m;
}

static rig_t open_rig(const char *solver)
{
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    rig_t              r;

    o.phase     = CAFFE__PHASE__TRAIN;
    r.net_param = parse(net_text, &caffe__net_parameter__descriptor);
    r.param     = parse(solver, &caffe__solver_parameter__descriptor);
    CHECK_OK(fire_net_create(r.net_param, &o, &r.net));
    CHECK_OK(fire_solver_create(r.param, r.net, &r.solver));
    return r;
}

static void close_rig(rig_t *r)
{
    fire_solver_destroy(r->solver);
    fire_net_destroy(r->net);
    fire_message_free(r->param);
    fire_message_free(r->net_param);
}

/* One step with |w| = 10 and |g| = 5 of the 2 x 2 weights; the first weight before was
 * 10, its gradient 3. */
static float step(const char *solver)
{
    rig_t  r = open_rig(solver);
    float *w, *g, after;

    CHECK_OK(fire_blob_write(r.net->learn[0].blob, FIRE_DATA, FIRE_CPU, &w));
    CHECK_OK(fire_blob_write(r.net->learn[0].blob, FIRE_DIFF, FIRE_CPU, &g));
    memcpy(w, (float[]){10, 0, 0, 0}, 4 * sizeof(float));
    memcpy(g, (float[]){3, 4, 0, 0}, 4 * sizeof(float));
    CHECK_OK(fire_solver_begin(r.solver));
    CHECK_OK(fire_solver_update(r.solver, 0, 0, 4));
    after = w[0];
    close_rig(&r);
    return after;
}

#define SOLVER "base_lr: 0.5 lr_policy: 'fixed' weight_decay: 0.1 "

TEST(without_adapting_the_common_rate_holds)
{
    CHECK_NEAR(step(SOLVER), 10 - 0.5 * (3 + 0.1 * 10), 1e-6);
}

/* trust = 0.2 * 10 / (5 + 0.1 * 10) = 1 / 3 */
TEST(lars_multiplies_the_rate_by_the_trust)
{
    CHECK_NEAR(step(SOLVER "fire { adapt: 'lars' adapt_eta: 0.2 }"),
               10 - 0.5 / 3 * (3 + 0.1 * 10), 1e-5);
}

TEST(larc_takes_the_trust_where_it_is_less_than_the_rate)
{
    CHECK_NEAR(step(SOLVER "fire { adapt: 'larc' adapt_eta: 0.2 }"),
               10 - 1.0 / 3 * (3 + 0.1 * 10), 1e-5);
    CHECK_NEAR(step(SOLVER "fire { adapt: 'larc' adapt_eta: 20 }"),
               10 - 0.5 * (3 + 0.1 * 10), 1e-6);
}

TEST(vectors_and_zeros_keep_the_common_rate)
{
    rig_t  r = open_rig(SOLVER "fire { adapt: 'lars' }");
    float *w, *g;

    for (int i = 0; i < 2; i++) { /* weights are zero; the bias is a vector */
        CHECK_OK(fire_blob_write(r.net->learn[i].blob, FIRE_DATA, FIRE_CPU, &w));
        CHECK_OK(fire_blob_write(r.net->learn[i].blob, FIRE_DIFF, FIRE_CPU, &g));
        w[0] = (float)i;
        g[0] = 1;
        CHECK_OK(fire_solver_begin(r.solver));
        CHECK_OK(fire_solver_update(r.solver, i, 0, r.net->learn[i].blob->count));
        CHECK_NEAR(w[0], i - 0.5 * (1 + 0.1 * i), 1e-6);
    }
    close_rig(&r);
}

TEST(an_unknown_way_to_adapt_is_refused)
{
    rig_t              r = {.param = parse(SOLVER "fire { adapt: 'lamb' }",
                                           &caffe__solver_parameter__descriptor)};
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;

    r.net_param = parse(net_text, &caffe__net_parameter__descriptor);
    CHECK_OK(fire_net_create(r.net_param, &o, &r.net));
    CHECK_FAILS(fire_solver_create(r.param, r.net, &r.solver), FIRE_ERR_INVALID,
                "known are none, lars, larc");
    close_rig(&r);
}

/* ---- the common rate for large batches ---- */

static float rate_at(const char *solver, int64_t iter)
{
    rig_t r = open_rig(solver);
    float rate;

    r.solver->iter = iter;
    rate           = fire_solver_rate(r.solver);
    close_rig(&r);
    return rate;
}

TEST(warm_up_leads_from_a_share_of_the_scaled_rate_to_all_of_it)
{
    static const char solver[] =
        "base_lr: 0.1 lr_policy: 'fixed' fire { scale_lr: 8 warmup_iter: 10 "
        "warmup_ratio: 0.25 }";

    CHECK_NEAR(rate_at(solver, 0), 0.2, 1e-6);
    CHECK_NEAR(rate_at(solver, 5), 0.5, 1e-6);
    CHECK_NEAR(rate_at(solver, 10), 0.8, 1e-6);
    CHECK_NEAR(rate_at(solver, 500), 0.8, 1e-6);
}

TEST(poly_and_cosine_go_on_under_a_warm_up)
{
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'poly' power: 2 max_iter: 100 fire { "
                       "warmup_iter: 20 warmup_ratio: 0 }",
                       10),
               0.9 * 0.9 * 0.5, 1e-6);
    CHECK_NEAR(rate_at("base_lr: 1 lr_policy: 'cosine' max_iter: 100 fire { "
                       "warmup_iter: 10 }",
                       50),
               0.5, 1e-6);
}
