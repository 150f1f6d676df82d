/* test_adapt.c - LARS and LARC against numbers worked out by hand. */
#include "rig.h"

/* One step with |w| = 10 and |g| = 5 of the 2 x 2 weights; the first weight before was
 * 10, its gradient 3. */
static float step(const char *solver)
{
    rig_t  r = rig_open(solver);
    float *w, *g, after;

    CHECK_OK(fire_blob_write(r.net->learn[0].blob, FIRE_DATA, FIRE_CPU, &w));
    CHECK_OK(fire_blob_write(r.net->learn[0].blob, FIRE_DIFF, FIRE_CPU, &g));
    memcpy(w, (float[]){10, 0, 0, 0}, 4 * sizeof(float));
    memcpy(g, (float[]){3, 4, 0, 0}, 4 * sizeof(float));
    CHECK_OK(fire_solver_begin(r.solver));
    CHECK_OK(fire_solver_update(r.solver, 0, 0, 4));
    after = w[0];
    rig_close(&r);
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
    rig_t  r = rig_open(SOLVER "fire { adapt: 'lars' }");
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
    rig_close(&r);
}

TEST(an_unknown_way_to_adapt_is_refused)
{
    rig_t r = rig_open_net(SOLVER "fire { adapt: 'lamb' }");

    CHECK_FAILS(fire_solver_create(r.param, r.net, &r.solver), FIRE_ERR_INVALID,
                "known are none, lars, larc");
    rig_close(&r);
}
