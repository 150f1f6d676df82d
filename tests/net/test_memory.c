/* A lean net gives memory back as soon as it can; what comes out must be the same. */
#include <stdio.h>
#include <stdlib.h>

#include "model/load.h"
#include "twins.h"
#include "net/net_state.h"

#define FILL                                         \
    "weight_filler { type: \"gaussian\" std: 0.3 } " \
    "bias_filler { type: \"gaussian\" std: 0.1 } "
#define CONV(name, bottom)                                               \
    "layer { name: \"" name "\" type: \"Convolution\" bottom: \"" bottom \
    "\" top: \"" name "\" convolution_param { num_output: 16 "           \
    "kernel_size: 3 pad: 1 " FILL " } }\n"
#define IN_PLACE(type, name, blob, more)                                              \
    "layer { name: \"" name "\" type: \"" type "\" bottom: \"" blob "\" top: \"" blob \
    "\" " more " }\n"
#define RESIDUAL twins_layers("tests/net/lean_residual.prototxt")
#define LEAN     twins_layers("tests/net/lean.prototxt")

static void check(Caffe__Phase phase)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    ctx.lean = true;
    t        = twins_make("2 16 9 9", LEAN, phase, &ctx);
    twins_agree(&t, 1e-4);
    twins_end(&t);
}

TEST(a_lean_net_trains_the_same)
{
    check(CAFFE__PHASE__TRAIN);
}

TEST(a_lean_net_tests_the_same)
{
    check(CAFFE__PHASE__TEST);
}

/* One pass through a net with this choice; its gradients, one behind another. */
static float *gradients(bool recompute, int64_t *n_p)
{
    fire_ctx_t   ctx = FIRE_CTX_INIT;
    float       *all = NULL;
    int64_t      n   = 0;
    const float *x;
    twins_t      t;

    ctx.lean      = true;
    ctx.recompute = recompute;
    t             = twins_make("2 16 9 9", LEAN, CAFFE__PHASE__TRAIN, &ctx);
    CHECK_EQ(t.fast->nrecompute > 4, recompute);
    twins_agree(&t, 1e-4);
    for (int i = 0; i < t.fast->nparam; i++) {
        fire_blob_t *b = t.fast->learn[i].blob;

        CHECK_OK(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &x));
        all = realloc(all, (size_t)(n + fire_blob_count(b)) * sizeof(*all));
        memcpy(all + n, x, (size_t)fire_blob_count(b) * sizeof(*all));
        n += fire_blob_count(b);
    }
    twins_end(&t);
    *n_p = n;
    return all;
}

TEST(blobs_that_are_made_again_change_no_bit)
{
    int64_t n, m;
    float  *kept = gradients(false, &n), *again = gradients(true, &m);

    CHECK_EQ(n, m);
    CHECK(memcmp(kept, again, (size_t)n * sizeof(*kept)) == 0);
    free(kept);
    free(again);
}

TEST(blobs_that_are_made_again_need_less_memory)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;
    size_t     without, with;

    ctx.lean = true;
    t        = twins_make("2 16 9 9", LEAN, CAFFE__PHASE__TRAIN, &ctx);
    CHECK_OK(fire_net_blob_bytes(t.fast, true, false, &without));
    CHECK_OK(fire_net_blob_bytes(t.fast, true, true, &with));
    CHECK(with < without);
    twins_end(&t);
}

static fire_net_t *published(const char *name, int64_t batch, Caffe__Phase phase)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param;
    fire_net_t          *n;
    char                 path[256];

    snprintf(path, sizeof(path), "models/%s/deploy.prototxt", name);
    CHECK_OK(fire_net_param_load_text(test_source(path), &param));
    param->layer[0]->input_param->shape[0]->dim[0] = batch;
    param->has_force_backward                      = true;
    param->force_backward                          = phase == CAFFE__PHASE__TRAIN;
    o.phase                                        = phase;
    o.ctx.lean                                     = true;
    CHECK_OK(fire_net_create(param, &o, &n));
    fire_message_free(param);
    return n;
}

/* Blobs, and so many times the parameters. */
static double bytes(fire_net_t *n, bool backward, double times)
{
    size_t  blobs;
    int64_t params = 0;

    for (int i = 0; i < n->nparam; i++)
        params += fire_blob_count(n->learn[i].blob);
    CHECK_OK(fire_net_blob_bytes(n, backward, false, &blobs));
    fire_net_destroy(n);
    return (double)blobs + 4 * times * (double)params;
}

/* Training holds weights, gradients and history; inference the weights as they are in
 * the file and as kernels want them. */
TEST(inference_needs_a_third_of_the_memory_of_training)
{
    static const struct {
        const char *name;
        int64_t     batch;
    } of[] = {{"googlenet", 16}, {"resnet50", 8}};

    for (int i = 0; i < 2; i++) {
        double train =
            bytes(published(of[i].name, of[i].batch, CAFFE__PHASE__TRAIN), true, 3);
        double infer =
            bytes(published(of[i].name, of[i].batch, CAFFE__PHASE__TEST), false, 2);

        if (!(infer <= 0.35 * train))
            test_fail(__FILE__, __LINE__, "%s: %.0f MB of %.0f MB", of[i].name,
                      infer / 1e6, train / 1e6);
    }
}

/* A sum takes the place of a bottom, never of one that a source gave. */
#define SUM(a, b)                                                            \
    "layer { name: \"sum\" type: \"Eltwise\" bottom: \"" a "\" bottom: \"" b \
    "\" top: \"sum\" }\n"

TEST(in_inference_a_sum_takes_the_memory_of_a_bottom)
{
    twins_t       t = twins_make_inference("2 16 9 9", RESIDUAL);
    fire_layer_t *l = fire_net_find_layer(t.fast, "sum");
    size_t        blobs;

    CHECK(l->fusion.spare->part[FIRE_DATA] == l->bottom[0]->part[FIRE_DATA]);
    CHECK_OK(fire_net_blob_bytes(t.fast, false, false, &blobs));
    CHECK_EQ(blobs, 3 * fire_pool_round(2 * 16 * 9 * 9 * sizeof(float))); /* in, a, b */
    twins_agree(&t, 1e-4);
    twins_end(&t);
    t = twins_make_inference("2 16 9 9", CONV("a", "in") SUM("in", "a"));
    l = fire_net_find_layer(t.fast, "sum");
    CHECK(l->fusion.spare->part[FIRE_DATA] == l->bottom[1]->part[FIRE_DATA]);
    twins_agree(&t, 1e-4);
    twins_end(&t);
    t = twins_make_inference("2 16 9 9", SUM("in", "in"));
    CHECK(fire_net_find_layer(t.fast, "sum")->fusion.spare == NULL);
    twins_agree(&t, 1e-4);
    twins_end(&t);
}

TEST(a_net_for_inference_does_not_run_backward)
{
    twins_t t = twins_make_inference("2 16 9 9", CONV("a", "in"));

    CHECK_OK(fire_net_forward(t.fast, 0, -1, NULL));
    CHECK_FAILS(fire_net_backward(t.fast, -1, 0), FIRE_ERR_UNSUPPORTED,
                "force_backward");
    twins_end(&t);
}

TEST(folded_layers_keep_their_weights_for_who_asks)
{
    twins_t t = twins_make_inference("2 16 9 9", RESIDUAL);

    twins_agree(&t, 1e-4);
    for (int i = 0; i < t.fast->nparam; i++) {
        fire_blob_t *b = t.fast->learn[i].blob;
        const float *x, *y;

        CHECK_OK(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
        CHECK_OK(fire_blob_read(t.ref->learn[i].blob, FIRE_DATA, FIRE_CPU, &y));
        CHECK(memcmp(x, y, (size_t)fire_blob_count(b) * sizeof(*x)) == 0);
    }
    twins_end(&t);
}

static size_t held(const fire_net_t *n)
{
    size_t sum = 0;

    for (int i = 0; i < n->nblob; i++)
        for (int part = 0; part < 2; part++)
            sum += fire_storage_bytes(n->blob[i].blob->part[part]);
    return sum;
}

TEST(a_lean_net_holds_little_when_it_is_done)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;
    size_t     little;

    ctx.lean = true;
    t        = twins_make("2 16 9 9", LEAN, CAFFE__PHASE__TRAIN, &ctx);
    CHECK_OK(fire_net_forward(t.fast, 0, -1, NULL));
    CHECK_OK(fire_net_backward(t.fast, -1, 0));
    CHECK_OK(fire_net_forward(t.ref, 0, -1, NULL));
    CHECK_OK(fire_net_backward(t.ref, -1, 0));
    /* the input, its gradient, their shares of a Split, the output */
    little = 4 * 2 * 16 * 9 * 9 * sizeof(float) + 2 * 2 * 5 * sizeof(float);
    CHECK(held(t.fast) <= little);
    CHECK(held(t.ref) > 4 * little);
    twins_end(&t);
}

TEST(a_lean_net_can_change_its_shape)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    ctx.lean = true;
    t        = twins_make("2 16 9 9", CONV("a", "in") IN_PLACE("ReLU", "relu", "a", ""),
                          CAFFE__PHASE__TRAIN, &ctx);
    twins_agree(&t, 1e-5);
    for (int i = 0; i < 2; i++) {
        fire_net_t *n = i == 0 ? t.ref : t.fast;

        CHECK_OK(fire_blob_reshape(fire_net_find_blob(n, "in"), 4,
                                   (int64_t[]){3, 16, 5, 7}));
    }
    twins_agree(&t, 1e-5);
    twins_end(&t);
}
