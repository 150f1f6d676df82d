/* test_rules.c - two steps of each update rule against its formula, written out again
 * in double precision. Tests src/solver/sgd.c, src/solver/nesterov.c,
 * src/solver/adagrad.c, src/solver/rmsprop.c, src/solver/adadelta.c,
 * src/solver/adam.c, src/solver/adamw.c. */
#include "rig.h"

enum { STEPS = 3 };

static const float  gradient[STEPS] = {2, -3, 0.5f};
static const double START = 1, RATE = 0.5;

/* Take the steps with the fast and with Caffe's rounding; both must give want[]. */
static void check(const char *solver, const double want[STEPS])
{
    for (int literal = 0; literal < 2; literal++) {
        rig_t r = literal ? rig_open_literal(solver) : rig_open(solver);

        rig_weights(&r, 0)[0] = (float)START;
        for (int i = 0; i < STEPS; i++) {
            float w = rig_step(&r, gradient[i]);

            if (!(fabs((double)w - want[i]) < 2e-6))
                test_fail(__FILE__, __LINE__, "%s: step %d gives %g, not %g", solver, i,
                          (double)w, want[i]);
            CHECK_NEAR(rig_weights(&r, 0)[1], 0, 0); /* no gradient, no update */
        }
        rig_close(&r);
    }
}

TEST(sgd_keeps_a_share_of_the_last_step)
{
    double want[STEPS], w = START, h = 0;

    for (int i = 0; i < STEPS; i++) {
        h       = RATE * (double)gradient[i] + 0.9 * h;
        want[i] = w -= h;
    }
    check("momentum: 0.9", want);
    CHECK_NEAR(want[1], 1 - 1 - (0.9 - 1.5), 1e-12); /* by hand */
}

TEST(nesterov_looks_ahead_along_its_momentum)
{
    double want[STEPS], w = START, h = 0;

    for (int i = 0; i < STEPS; i++) {
        double old = h;

        h       = RATE * (double)gradient[i] + 0.9 * h;
        want[i] = w -= (1 + 0.9) * h - 0.9 * old;
    }
    check("type: 'Nesterov' momentum: 0.9", want);
    CHECK_NEAR(want[0], 1 - 1.9, 1e-12);
}

TEST(adagrad_divides_by_the_root_of_all_squares)
{
    double want[STEPS], w = START, h = 0, delta = 1e-3;

    for (int i = 0; i < STEPS; i++) {
        double g = (double)gradient[i];

        h += g * g;
        want[i] = w -= RATE * g / (sqrt(h) + delta);
    }
    check("type: 'AdaGrad' delta: 1e-3", want);
    CHECK_NEAR(want[0], 1 - 0.5 * 2 / 2.001, 1e-12);
}

TEST(rmsprop_divides_by_the_root_of_a_decaying_mean)
{
    double want[STEPS], w = START, h = 0, delta = 1e-3;

    for (int i = 0; i < STEPS; i++) {
        double g = (double)gradient[i];

        h       = 0.75 * h + 0.25 * g * g;
        want[i] = w -= RATE * g / (sqrt(h) + delta);
    }
    check("type: 'RMSProp' rms_decay: 0.75 delta: 1e-3", want);
    CHECK_NEAR(want[0], 1 - 0.5 * 2 / 1.001, 1e-12);
}

TEST(adadelta_scales_by_the_steps_it_took)
{
    double want[STEPS], w = START, squares = 0, steps = 0, delta = 1e-2;

    for (int i = 0; i < STEPS; i++) {
        double x = (double)gradient[i];

        squares = 0.9 * squares + 0.1 * x * x;
        x *= sqrt((steps + delta) / (squares + delta));
        steps   = 0.9 * steps + 0.1 * x * x;
        want[i] = w -= RATE * x;
    }
    check("type: 'AdaDelta' momentum: 0.9 delta: 1e-2", want);
    CHECK_NEAR(want[0], 1 - 0.5 * 2 * sqrt(0.01 / 0.41), 1e-12);
}

TEST(adam_corrects_the_bias_of_both_means)
{
    double want[STEPS], w = START, m = 0, v = 0, delta = 1e-8;

    for (int i = 0; i < STEPS; i++) {
        double g = (double)gradient[i];

        m       = 0.9 * m + 0.1 * g;
        v       = 0.99 * v + 0.01 * g * g;
        want[i] = w -= RATE * sqrt(1 - pow(0.99, i + 1)) / (1 - pow(0.9, i + 1)) * m /
                       (sqrt(v) + delta);
    }
    check("type: 'Adam' momentum: 0.9 momentum2: 0.99 delta: 1e-8", want);
    CHECK_NEAR(want[0], 1 - 0.5, 1e-6); /* the first step is the rate, whatever g */
}

/* Caffe scales gradients twice, for clipping and for iter_size; once is faster. */
TEST(caffes_rounding_differs_from_the_fast_one)
{
    static const char solver[] = "iter_size: 3 clip_gradients: 0.7";
    rig_t             fast = rig_open(solver), literal = rig_open_literal(solver);
    bool              differ = false;

    for (int i = 1; i < 50; i++) {
        float g = 1 + 1.0f / (float)i;

        differ |= rig_step(&fast, g) != rig_step(&literal, g);
    }
    CHECK(differ);
    rig_close(&fast);
    rig_close(&literal);
}

TEST(decoupled_decay_shrinks_weights_whatever_their_gradients)
{
    double want[STEPS], w = START, h = 0, m = 0, v = 0, delta = 1e-8;

    for (int i = 0; i < STEPS; i++) {
        double g = (double)gradient[i];

        m = 0.9 * m + 0.1 * g;
        v = 0.99 * v + 0.01 * g * g;
        w *= 1 - RATE * 0.1;
        want[i] = w -= RATE * sqrt(1 - pow(0.99, i + 1)) / (1 - pow(0.9, i + 1)) * m /
                       (sqrt(v) + delta);
    }
    check("type: 'AdamW' momentum: 0.9 momentum2: 0.99 delta: 1e-8 weight_decay: 0.1",
          want);
    w = START;
    for (int i = 0; i < STEPS; i++) {
        h = RATE * (double)gradient[i] + 0.9 * h;
        w *= 1 - RATE * 0.1;
        want[i] = w -= h;
    }
    check("momentum: 0.9 weight_decay: 0.1 fire { decoupled_decay: true }", want);
}
