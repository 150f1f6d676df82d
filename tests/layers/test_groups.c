/* Layers that a lean net runs as one, and convolutions of images that are folded: they
 * must give what `ref` gives. With --gpu, on the GPU. Tests src/layers/conv/fold_norm.c,
 * src/layers/conv/conv_relu.c, src/layers/fusion.c and src/net/fusion.c. */
#include <math.h>

#include "cases.h"
#include "gpu.h"
#include "model/load.h"
#include "net/net_state.h"

static fire_net_t *make(fire_ctx_t ctx)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *m;
    fire_net_t          *net;
    const char          *name[] = {"x", "t"};

    CHECK_OK(
        fire_net_param_load_text(test_source("tests/layers/residual.prototxt"), &m));
    o.phase = CAFFE__PHASE__TRAIN;
    o.ctx   = ctx;
    CHECK_OK(fire_net_create(m, &o, &net));
    fire_message_free(m);
    for (int k = 0; k < 2; k++) {
        fire_blob_t *b = fire_net_find_blob(net, name[k]);
        float       *x;

        CHECK_OK(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &x));
        for (int64_t i = 0; i < b->count; i++)
            x[i] = (float)((i * 37 + k) % 61) / 30.0f - 1.0f;
    }
    return net;
}

static float step(fire_net_t *net)
{
    float loss;

    CHECK_OK(fire_net_clear_diffs(net));
    CHECK_OK(fire_net_forward(net, 0, -1, &loss));
    CHECK_OK(fire_net_backward(net, -1, 0));
    return loss;
}

/* |a - b| / |b| over all elements: single ones flip where a ReLU has its kink. */
static double distance(fire_blob_t *a, fire_blob_t *b)
{
    const float *x, *y;
    double       far = 0, all = 1e-12;

    CHECK_EQ(a->count, b->count);
    CHECK_OK(fire_blob_read(a, FIRE_DIFF, FIRE_CPU, &x));
    CHECK_OK(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &y));
    for (int64_t i = 0; i < a->count; i++) {
        far += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
        all += (double)y[i] * (double)y[i];
    }
    return sqrt(far / all);
}

/* Biases before a BatchNorm have no gradient but rounding errors. */
static bool counts(const fire_net_t *net, int param)
{
    const fire_layer_t *l = &net->layer[net->learn[param].layer].base;

    return strcmp(l->ops->type, "Convolution") != 0 || net->learn[param].blob->ndim > 1;
}

TEST(a_lean_residual_net_trains_as_ref_does)
{
    fire_ctx_t  lean = test_ctx(), plain = FIRE_CTX_INIT;
    double      near = test_tolerance(1e-4), loss[2];
    double      far  = near < 1e-3 ? 4 * near : 0.12; /* rounded, more of them flip */
    fire_net_t *fast, *ref;

    lean.lean     = true;
    plain.kernels = "all=ref";
    fast          = make(lean);
    ref           = make(plain);
    for (int i = 0; i < 3; i++) { /* memory is given back and taken again */
        loss[0] = (double)step(fast);
        loss[1] = (double)step(ref);
        CHECK_NEAR(loss[0], loss[1], near * fabs(loss[1]));
    }
    for (int i = 0; i < ref->nparam; i++)
        if (counts(ref, i)) {
            double d = distance(fast->learn[i].blob, ref->learn[i].blob);

            if (!(d <= far))
                printf("%s: %g\n", ref->layer[ref->learn[i].layer].base.param->name, d);
            CHECK(d <= far);
        }
    fire_net_destroy(fast);
    fire_net_destroy(ref);
}

TEST(batch_norm_does_the_sum_of_a_residual_branch_on_a_gpu)
{
    fire_ctx_t  ctx = test_ctx();
    fire_net_t *net;

    if (!test_on_gpu()) return;
    ctx.lean = true;
    net      = make(ctx);
    CHECK(fire_net_find_layer(net, "a")->fusion.absorbed);
    CHECK(fire_net_find_layer(net, "relu_a")->fusion.absorbed);
    CHECK(fire_net_find_layer(net, "b")->fusion.absorbed);
    CHECK_EQ(fire_net_find_layer(net, "norm_a2")->fusion.nfollower, 4);
    CHECK(fire_net_find_layer(net, "norm_a1")->fusion.borrower ==
          fire_net_find_layer(net, "norm_a2"));
    CHECK(fire_net_find_layer(net, "norm_b2")->fusion.lender == NULL);
    CHECK_EQ(fire_net_find_layer(net, "norm_b2")->fusion.even_only,
             ctx.tf32 || ctx.precision != FIRE_F32);
    CHECK(!fire_net_find_layer(net, "norm_a2")->fusion.even_only);
    fire_net_destroy(net);
    ctx.lean = false; /* somebody may look at the blobs between */
    net      = make(ctx);
    CHECK(!fire_net_find_layer(net, "a")->fusion.absorbed);
    fire_net_destroy(net);
}

/* Kernels of a CPU have their scratch memory in the same pool; in other precisions inputs
 * are there twice, which is much of so small a net. */
TEST(a_lean_net_takes_the_memory_that_it_counts_on_a_gpu)
{
    fire_ctx_t  ctx = test_ctx();
    size_t      counted, taken;
    fire_net_t *net;

    if (!test_on_gpu() || ctx.precision != FIRE_F32 || ctx.tf32) return;
    ctx.lean = true;
    net      = make(ctx);
    step(net);
    taken = fire_pool_peak(fire_pool_on(net->ctx.pool, ctx.place));
    CHECK_OK(fire_net_blob_bytes(net, true, false, &counted));
    CHECK_NEAR((double)counted, (double)taken, 0.1 * (double)taken);
    fire_net_destroy(net);
}
