/* Forward and backward: known values, ranges, hooks. */
#include "nets.h"
#include "net/net_state.h"

/* x = 2: first = 3 each, second = 0.25 * 12 + 1 = 4 each; t = 1: loss = 2 * 9 * 2 / 4. */
static fire_net_t *made(void)
{
    fire_net_t *net = net_make_file("two_products", CAFFE__PHASE__TRAIN);

    net_fill(net, "x", 2);
    net_fill(net, "t", 1);
    return net;
}

static float value(fire_net_t *net, const char *blob)
{
    const float *x;

    CHECK_OK(fire_blob_read(fire_net_find_blob(net, blob), FIRE_DATA, FIRE_CPU, &x));
    return x[0];
}

TEST(forward_runs_all_layers_and_gives_the_loss)
{
    fire_net_t *net = made();
    float       loss;

    CHECK_OK(fire_net_forward(net, 0, -1, &loss));
    CHECK_NEAR(value(net, "first"), 3, 1e-6);
    CHECK_NEAR(value(net, "second"), 4, 1e-6);
    CHECK_NEAR(loss, 9, 1e-5);
    fire_net_destroy(net);
}

TEST(a_range_of_layers_takes_what_is_in_the_blobs_before_it)
{
    fire_net_t *net  = made();
    float       loss = -1;

    CHECK_OK(fire_net_forward(net, 0, 2, &loss));
    CHECK_NEAR(loss, 0, 0);
    CHECK_NEAR(value(net, "second"), 0, 0);
    net_fill(net, "first", 1);
    CHECK_OK(fire_net_forward(net, 3, 3, NULL));
    CHECK_NEAR(value(net, "second"), 2, 1e-6);
    fire_net_destroy(net);
}

/* d loss / d second = (second - t) / 2 = 1.5 each. */
TEST(backward_gives_every_parameter_its_gradient)
{
    fire_net_t  *net = made();
    const float *g;

    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_OK(fire_net_clear_diffs(net));
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK_OK(fire_blob_read(fire_net_param(net, 2)->blob, FIRE_DIFF, FIRE_CPU, &g));
    CHECK_NEAR(g[0], 2 * 1.5, 1e-5);
    CHECK_OK(fire_blob_read(fire_net_param(net, 1)->blob, FIRE_DIFF, FIRE_CPU, &g));
    CHECK_NEAR(g[0], 2 * 1.5 * 3, 1e-5);
    CHECK_OK(fire_blob_read(fire_net_param(net, 0)->blob, FIRE_DIFF, FIRE_CPU, &g));
    CHECK_NEAR(g[0], 2 * (1.5 * 0.25 * 2) * 2, 1e-5);
    CHECK_OK(fire_net_clear_diffs(net));
    CHECK_OK(fire_blob_read(fire_net_param(net, 0)->blob, FIRE_DIFF, FIRE_CPU, &g));
    CHECK_NEAR(g[0], 0, 0);
    fire_net_destroy(net);
}

/* ---- hooks ---- */

static char called[256];

static fire_status_t note(char what, int layer)
{
    size_t n = strlen(called);

    snprintf(called + n, sizeof(called) - n, "%c%d ", what, layer);
    return FIRE_OK;
}

static fire_status_t before_forward(void *arg, int layer)
{
    (void)arg;
    return note('f', layer);
}

static fire_status_t after_forward(void *arg, int layer)
{
    (void)arg;
    return note('F', layer);
}

static fire_status_t before_backward(void *arg, int layer)
{
    (void)arg;
    return note('b', layer);
}

static fire_status_t after_backward(void *arg, int layer)
{
    (void)arg;
    return note('B', layer);
}

/* The input and its ReLU-less neighbours have nothing to run backward. */
TEST(hooks_are_called_around_every_layer)
{
    fire_net_t *net = made();

    net->debug_info = true; /* every layer by itself */
    net->hooks      = (fire_net_hooks_t){NULL, before_forward, after_forward,
                                         before_backward, after_backward};
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_STR(called, "f0 F0 f1 F1 f2 F2 f3 F3 f4 F4 ");
    called[0] = '\0';
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK_STR(called, "b4 B4 b3 B3 b2 B2 b1 B1 B0 ");
    fire_net_destroy(net);
}

static fire_status_t refuse(void *arg, int layer)
{
    (void)arg;
    return layer == 3 ? FIRE_FAIL(FIRE_ERR_STOPPED, "stop here") : FIRE_OK;
}

TEST(a_hook_that_fails_ends_the_pass)
{
    fire_net_t *net = made();

    net->hooks.after_forward = refuse;
    CHECK_FAILS(fire_net_forward(net, 0, -1, NULL), FIRE_ERR_STOPPED, "stop here");
    CHECK_NEAR(value(net, "second"), 4, 1e-6);
    CHECK_NEAR(value(net, "loss"), 0, 0);
    fire_net_destroy(net);
}
