/* Blobs and views that outlive nets, and the messages of one net, by the public headers
 * alone. Tests src/api/run.c. */
#include <fire/fire.h>
#include <stdlib.h>
#include "test.h"

/* Convolution and pooling may compute in another layout than that of views. */
static const char text[] =
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 16 "
    "  dim: 4 dim: 4 } } } "
    "layer { name: 'conv' type: 'Convolution' bottom: 'x' top: 'conv' "
    "  convolution_param { num_output: 16 kernel_size: 3 pad: 1 "
    "  weight_filler { value: 1 } } } "
    "layer { name: 'pool' type: 'Pooling' bottom: 'conv' top: 'pool' "
    "  pooling_param { pool: MAX kernel_size: 2 stride: 2 } } "
    "layer { name: 'relu' type: 'ReLU' bottom: 'pool' top: 'relu' } "
    "layer { name: 'sum' type: 'Reduction' bottom: 'relu' top: 'sum' loss_weight: 1 }";

static fire_net_t *make(fire_net_phase_t phase)
{
    fire_net_config_t c = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;

    c.phase = phase;
    CHECK_OK(fire_net_from_text(text, strlen(text), &c, &net));
    return net;
}

static fire_view_t *view_of(fire_blob_t *b, fire_part_t part)
{
    fire_view_t *v;

    CHECK_OK(fire_blob_view(b, part, FIRE_CPU, &v));
    return v;
}

static void fill(fire_view_t *v, float value)
{
    int64_t n = 1;

    for (int i = 0; i < fire_view_ndim(v); i++)
        n *= fire_view_dims(v)[i];
    for (int64_t i = 0; i < n; i++)
        fire_view_values(v)[i] = value;
}

TEST(views_taken_before_a_pass_show_what_it_computes)
{
    fire_net_t  *net     = make(FIRE_TEST);
    fire_view_t *x       = view_of(fire_net_find_blob(net, "x"), FIRE_DATA);
    fire_view_t *y       = view_of(fire_net_find_blob(net, "conv"), FIRE_DATA);
    fire_view_t *weights = view_of(fire_net_layer_param(net, 1, 0), FIRE_DATA);
    float        before;

    CHECK(fire_view_place(y) == FIRE_CPU);
    for (int pass = 1; pass <= 3; pass++) {
        fill(x, (float)pass);
        fill(weights, 1);
        CHECK_OK(fire_net_forward(net, 0, -1, NULL));
        before = fire_view_values(y)[0];
        CHECK_NEAR(before, 64 * pass, 1e-3);
        fill(weights, 2);
        CHECK_OK(fire_net_forward(net, 0, -1, NULL));
        CHECK_NEAR(fire_view_values(y)[0], 2 * before, 1e-3);
        /* a value that other code has read in its own format meanwhile */
        fill(y, -1);
        CHECK_OK(fire_net_forward(net, 2, -1, NULL));
        CHECK_NEAR(fire_view_values(y)[0], -1, 0);
        CHECK_OK(fire_net_forward(net, 2, -1, &before));
        CHECK_NEAR(before, 0, 0);
    }
    fire_view_destroy(x);
    fire_view_destroy(y);
    fire_view_destroy(weights);
    fire_net_destroy(net);
}

TEST(views_of_gradients_survive_clearing)
{
    fire_net_t  *net = make(FIRE_TRAIN);
    fire_view_t *dw  = view_of(fire_net_layer_param(net, 1, 0), FIRE_DIFF);
    fire_view_t *db  = view_of(fire_net_layer_param(net, 1, 1), FIRE_DIFF);
    fire_view_t *x   = view_of(fire_net_find_blob(net, "x"), FIRE_DATA);

    for (int i = 0; i < 512; i++)
        fire_view_values(x)[i] = (float)(i % 7);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK(fire_view_values(dw)[0] != 0 || fire_view_values(dw)[4] != 0);
    fill(db, 3);
    CHECK_OK(fire_net_clear_diffs(net));
    CHECK(fire_view_values(dw)[0] == 0 && fire_view_values(dw)[4] == 0);
    CHECK(fire_view_values(db)[0] == 0);
    fire_view_destroy(dw);
    fire_view_destroy(db);
    fire_view_destroy(x);
    fire_net_destroy(net);
}

/* BatchNorm in place keeps its input for backward by exchanging memory with its blob. */
static fire_net_t *make_in_place(uint64_t seed)
{
    static const char norm[] =
        "layer { name: 'in' type: 'DummyData' top: 'x' dummy_data_param { "
        "  shape { dim: 4 dim: 16 dim: 6 dim: 6 } data_filler { type: 'gaussian' } } } "
        "layer { name: 'conv' type: 'Convolution' bottom: 'x' top: 'y' "
        "  convolution_param { num_output: 16 kernel_size: 3 "
        "  weight_filler { type: 'xavier' } } } "
        "layer { name: 'norm' type: 'BatchNorm' bottom: 'y' top: 'y' } "
        "layer { name: 'scale' type: 'Scale' bottom: 'y' top: 'y' "
        "  scale_param { bias_term: true } } "
        "layer { name: 'relu' type: 'ReLU' bottom: 'y' top: 'y' } "
        "layer { name: 'ip' type: 'InnerProduct' bottom: 'y' top: 'z' "
        "  inner_product_param { num_output: 3 weight_filler { type: 'xavier' } } } "
        "layer { name: 'sum' type: 'Reduction' bottom: 'z' top: 's' loss_weight: 1 "
        "  reduction_param { operation: SUMSQ } }";
    fire_net_config_t c = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;

    c.phase = FIRE_TRAIN;
    c.seed  = seed;
    CHECK_OK(fire_net_from_text(norm, strlen(norm), &c, &net));
    return net;
}

static void run_and_step(fire_net_t *net)
{
    CHECK_OK(fire_net_clear_diffs(net));
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_OK(fire_net_backward(net, -1, 0));
    for (int i = 0; i < fire_net_nparam(net); i++) {
        fire_blob_t *b = fire_net_param_blob(net, i);
        const float *d;
        float       *w;

        CHECK_OK(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &d));
        CHECK_OK(fire_blob_update(b, FIRE_DATA, FIRE_CPU, &w));
        for (int64_t k = 0; k < fire_blob_count(b); k++)
            w[k] -= 1e-3f * d[k];
    }
}

TEST(views_change_no_results)
{
    enum { MOST = 64 };
    fire_net_t  *plain = make_in_place(3), *viewed = make_in_place(3);
    fire_view_t *view[MOST];
    int          n = 0;

    for (int i = 0; i < fire_net_nblob(viewed); i++)
        for (int part = 0; part < 2; part++)
            view[n++] = view_of(fire_net_blob(viewed, i), (fire_part_t)part);
    for (int i = 0; i < fire_net_nparam(viewed); i++)
        for (int part = 0; part < 2; part++)
            view[n++] = view_of(fire_net_param_blob(viewed, i), (fire_part_t)part);
    for (int pass = 0; pass < 3; pass++) {
        run_and_step(plain);
        run_and_step(viewed);
    }
    n = 0;
    for (int i = 0; i < fire_net_nblob(plain) + fire_net_nparam(plain); i++)
        for (int part = 0; part < 2; part++, n++) {
            fire_blob_t *b =
                i < fire_net_nblob(plain)
                    ? fire_net_blob(plain, i)
                    : fire_net_param_blob(plain, i - fire_net_nblob(plain));
            const float *x;

            CHECK_OK(fire_blob_read(b, (fire_part_t)part, FIRE_CPU, &x));
            CHECK(memcmp(x, fire_view_values(view[n]),
                         (size_t)fire_blob_count(b) * sizeof(*x)) == 0);
        }
    while (n > 0)
        fire_view_destroy(view[--n]);
    fire_net_destroy(plain);
    fire_net_destroy(viewed);
}

TEST(blobs_and_views_outlive_their_net)
{
    enum { NETS = 100 };
    fire_view_t *view[NETS];
    fire_blob_t *blob[NETS];
    const float *x;

    for (int i = 0; i < NETS; i++) {
        fire_net_t *net = make(FIRE_TEST);

        blob[i] = fire_blob_retain(fire_net_find_blob(net, "x"));
        view[i] = view_of(fire_net_find_blob(net, "conv"), FIRE_DATA);
        fill(view[i], (float)i);
        fire_net_destroy(net);
    }
    for (int i = 0; i < NETS; i++) {
        CHECK(fire_view_values(view[i])[511] == (float)i);
        CHECK_EQ(fire_blob_count(blob[i]), 512);
        CHECK_OK(fire_blob_read(blob[i], FIRE_DATA, FIRE_CPU, &x));
        CHECK(x[0] == 0);
        fire_view_destroy(view[i]);
        fire_blob_destroy(blob[i]);
    }
}

TEST(a_lean_net_has_views_of_its_outputs_and_parameters)
{
    fire_net_config_t c = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;
    fire_view_t      *sum, *x;
    float             first;

    c.mode = FIRE_LEAN;
    CHECK_OK(fire_net_from_text(text, strlen(text), &c, &net));
    x   = view_of(fire_net_find_blob(net, "x"), FIRE_DATA);
    sum = view_of(fire_net_find_blob(net, "sum"), FIRE_DATA);
    fill(x, 1);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    first = fire_view_values(sum)[0];
    fill(x, 2);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK(first > 0 && fire_view_values(sum)[0] > first);
    fire_net_destroy(net);
    CHECK(fire_view_values(sum)[0] > first);
    fire_view_destroy(sum);
    fire_view_destroy(x);
}

/* A lean net frees or never writes what nobody reads: not what is observed. */
TEST(observed_blobs_of_a_lean_net_keep_their_values)
{
    static const char *const names[] = {"conv", "pool"}, *const wrong[] = {"poll"};
    fire_net_t       *all = make(FIRE_TEST), *lean;
    fire_net_config_t c   = FIRE_NET_CONFIG_INIT;
    const float      *x, *y;
    float            *in;

    c.mode     = FIRE_LEAN;
    c.nobserve = 2;
    c.observe  = names;
    CHECK_OK(fire_net_from_text(text, strlen(text), &c, &lean));
    for (int i = 0; i < 2; i++) {
        fire_net_t *net = i == 0 ? all : lean;

        CHECK_OK(
            fire_blob_write(fire_net_find_blob(net, "x"), FIRE_DATA, FIRE_CPU, &in));
        for (int k = 0; k < 512; k++)
            in[k] = (float)(k % 11) - 5;
        CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    }
    for (int i = 0; i < 2; i++) {
        fire_blob_t *b = fire_net_find_blob(lean, names[i]);

        CHECK_OK(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
        CHECK_OK(
            fire_blob_read(fire_net_find_blob(all, names[i]), FIRE_DATA, FIRE_CPU, &y));
        CHECK(memcmp(x, y, (size_t)fire_blob_count(b) * sizeof(*x)) == 0);
    }
    fire_net_destroy(lean);
    fire_net_destroy(all);
    c.nobserve = 1;
    c.observe  = wrong;
    CHECK(fire_net_from_text(text, strlen(text), &c, &lean) == FIRE_ERR_INVALID);
    CHECK(strstr(fire_last_error(), "did you mean \"pool\"") != NULL);
    c.observe = NULL;
    CHECK(fire_net_from_text(text, strlen(text), &c, &lean) == FIRE_ERR_INVALID);
}

/* ---- where and how to compute ---- */

static fire_status_t with(const char *kernels, const char *precision, int gpu)
{
    fire_net_config_t c   = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net = NULL;
    fire_status_t     st;

    c.kernels   = kernels;
    c.precision = precision;
    c.gpu       = gpu;
    c.exact     = true;
    st          = fire_net_from_text(text, strlen(text), &c, &net);
    if (st >= 0) CHECK_EQ(fire_net_gpu(net), gpu);
    fire_net_destroy(net);
    return st;
}

TEST(a_net_takes_kernels_precision_and_gpu_that_exist)
{
    CHECK_OK(with("all=ref", "fp32", -1));
    CHECK_FAILS(with("Convolution=fast", NULL, -1), FIRE_ERR_INVALID, "no such kernel");
    CHECK_FAILS(with(NULL, "fp64", -1), FIRE_ERR_INVALID, "fp64");
    CHECK_FAILS(with(NULL, NULL, 1000), FIRE_ERR_DEVICE, "");
    CHECK(with(NULL, NULL, -2) == FIRE_ERR_INVALID);
}

TEST(a_net_on_a_gpu_computes_what_one_on_the_cpu_does)
{
    fire_net_config_t c   = FIRE_NET_CONFIG_INIT;
    fire_net_t       *cpu = make(FIRE_TEST), *gpu;
    fire_view_t      *x, *y, *there;
    const float      *want;
    float            *in;

    c.gpu = 0;
    if (fire_net_from_text(text, strlen(text), &c, &gpu) == FIRE_ERR_DEVICE)
        test_skip(fire_last_error());
    CHECK_EQ(fire_net_gpu(gpu), 0);
    x = view_of(fire_net_find_blob(gpu, "x"), FIRE_DATA);
    y = view_of(fire_net_find_blob(gpu, "pool"), FIRE_DATA);
    CHECK_OK(
        fire_blob_view(fire_net_find_blob(gpu, "conv"), FIRE_DATA, FIRE_GPU, &there));
    CHECK(fire_view_place(there) == FIRE_GPU && fire_view_values(there) != NULL);
    for (int pass = 1; pass < 3; pass++) {
        CHECK_OK(
            fire_blob_write(fire_net_find_blob(cpu, "x"), FIRE_DATA, FIRE_CPU, &in));
        for (int k = 0; k < 512; k++)
            fire_view_values(x)[k] = in[k] = (float)(k % 11 - 5) * (float)pass;
        CHECK_OK(fire_net_forward(cpu, 0, -1, NULL));
        CHECK_OK(fire_net_forward(gpu, 0, -1, NULL));
        CHECK_OK(fire_blob_read(fire_net_find_blob(cpu, "pool"), FIRE_DATA, FIRE_CPU,
                                &want));
        for (int k = 0; k < 128; k++)
            CHECK_NEAR(fire_view_values(y)[k], want[k], 1e-3);
    }
    fire_net_destroy(gpu);
    CHECK_NEAR(fire_view_values(y)[0], want[0], 1e-3);
    fire_view_destroy(x);
    fire_view_destroy(y);
    fire_view_destroy(there);
    fire_net_destroy(cpu);
}

/* ---- messages ---- */

static void count(void *arg, fire_log_level_t level, const char *file, int line,
                  const char *message)
{
    (void)level, (void)file, (void)line;
    if (strstr(message, "Ignoring source layer") != NULL) ++*(int *)arg;
}

TEST(messages_of_a_net_go_to_its_own_sink)
{
    static const char strange[] = "layer { name: 'p' type: 'Parameter' top: 'p' "
                                  "parameter_param { shape { dim: 1 } } }";
    fire_net_config_t c         = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net, *other;
    int               own = 0, process = 0;

    CHECK_OK(fire_net_from_text(strange, strlen(strange), NULL, &other));
    CHECK_OK(fire_net_save_file(other, test_path("p.caffemodel"), false));
    c.log = (fire_log_target_t){count, &own, FIRE_INFO};
    CHECK_OK(fire_net_from_text(text, strlen(text), &c, &net));
    fire_log_set_sink(count, &process, FIRE_INFO);
    CHECK_OK(fire_net_load_file(net, test_path("p.caffemodel")));
    CHECK(own == 1 && process == 0);
    fire_net_destroy(net);
    net = make(FIRE_TEST);
    CHECK_OK(fire_net_load_file(net, test_path("p.caffemodel")));
    CHECK(own == 1 && process == 1);
    fire_log_set_sink(NULL, NULL, FIRE_ERROR);
    fire_net_destroy(net);
    fire_net_destroy(other);
}
