/* Depthwise convolution on blocked channels gives what `ref` gives. Tests
 * src/layers/conv/depthwise/. */
#include "device/cpu/parallel.h"
#include "device/cpu/precision.h"
#include "twins.h"

#define FILL                                         \
    "weight_filler { type: \"gaussian\" std: 0.3 } " \
    "bias_filler { type: \"gaussian\" std: 0.1 } "
#define CONV(settings)                                                       \
    "layer { name: \"it\" type: \"Convolution\" bottom: \"in\" top: \"it\" " \
    "convolution_param { " FILL settings " } }\n"
#define LAYER(type, name, bottom, top, more)                                           \
    "layer { name: \"" name "\" type: \"" type "\" bottom: \"" bottom "\" top: \"" top \
    "\" " more " }\n"
#define RANDOM "filler { type: \"gaussian\" std: 1 } bias_filler { value: 0.3 }"

static void check(const char *in, const char *settings)
{
    char layers[512];

    snprintf(layers, sizeof(layers), CONV("kernel_size: 3 %s"), settings);
    twins_check(in, layers, "simd", 2e-5);
}

TEST(depthwise_agrees_with_ref_in_all_directions)
{
    check("2 16 9 9", "num_output: 16 group: 16 pad: 1");
    check("2 16 9 9", "num_output: 16 group: 16 pad: 1 stride: 2");
    check("2 16 8 10", "num_output: 16 group: 16 pad: 1 stride: 2");
    check("3 20 7 5", "num_output: 20 group: 20");
    check("3 37 5 7", "num_output: 37 group: 37 pad_h: 2 pad_w: 1 stride: 2");
    check("2 24 6 6", "num_output: 24 group: 24 pad: 2 bias_term: false");
    check("1 8 3 3", "num_output: 8 group: 8");
}

TEST(depthwise_windows_may_be_larger_than_the_map)
{
    check("2 16 1 1", "num_output: 16 group: 16 pad: 1");
    check("2 16 1 4", "num_output: 16 group: 16 pad: 2");
    check("2 16 2 1", "num_output: 16 group: 16 pad: 2 stride: 2");
    check("2 16 3 2", "num_output: 16 group: 16 pad: 1 stride: 2");
    check("2 16 6 7", "num_output: 16 group: 16 stride: 2");
}

TEST(depthwise_does_a_relu_as_well)
{
    twins_check("2 20 8 8",
                CONV("num_output: 20 group: 20 kernel_size: 3 pad: 1")
                    LAYER("ReLU", "relu", "it", "it", ""),
                "simd", 2e-5);
}

/* 9 maps: of some blocks, several threads have images. */
static void check_threads(int threads)
{
    fire_ctx_t   ctx    = FIRE_CTX_INIT;
    int          before = fire_threads();
    twins_t      t[2];
    const float *diff[2][3];

    for (int i = 0; i < 2; i++) {
        fire_layer_t *l;

        fire_threads_set(i == 0 ? 1 : threads);
        t[i] = twins_make("3 37 5 7", CONV("num_output: 37 group: 37 kernel_size: 3"),
                          CAFFE__PHASE__TRAIN, &ctx);
        twins_agree(&t[i], 2e-5);
        l = fire_net_find_layer(t[i].fast, "it");
        CHECK_OK(fire_blob_read(l->bottom[0], FIRE_DIFF, FIRE_CPU, &diff[i][0]));
        CHECK_OK(fire_blob_read(l->blob[0], FIRE_DIFF, FIRE_CPU, &diff[i][1]));
        CHECK_OK(fire_blob_read(l->blob[1], FIRE_DIFF, FIRE_CPU, &diff[i][2]));
    }
    CHECK(memcmp(diff[0][0], diff[1][0], sizeof(float[3 * 37 * 5 * 7])) == 0);
    CHECK(memcmp(diff[0][1], diff[1][1], sizeof(float[37 * 9])) == 0);
    CHECK(memcmp(diff[0][2], diff[1][2], sizeof(float[37])) == 0);
    fire_threads_set(before);
    for (int i = 0; i < 2; i++)
        twins_end(&t[i]);
}

TEST(depthwise_gradients_are_the_same_on_any_number_of_threads)
{
    for (int threads = 2; threads < 12; threads += 3)
        check_threads(threads);
}

TEST(other_windows_are_left_to_others)
{
    static const char *const others[] = {
        "num_output: 32 group: 16 kernel_size: 3", "num_output: 16 kernel_size: 3",
        "num_output: 16 group: 16 kernel_size: 5",
        "num_output: 16 group: 16 kernel_size: 3 stride: 3",
        "num_output: 16 group: 16 kernel_size: 3 dilation: 2"};

    for (int i = 0; i < 5; i++) {
        fire_ctx_t ctx = FIRE_CTX_INIT;
        char       layers[512];
        twins_t    t;

        snprintf(layers, sizeof(layers), CONV("%s"), others[i]);
        t = twins_make("1 16 9 9", layers, CAFFE__PHASE__TRAIN, &ctx);
        CHECK(strcmp(fire_net_find_layer(t.fast, "it")->kernel->name, "simd") != 0);
        twins_end(&t);
    }
}

/* A first convolution makes the blob bf16. */
static void check_bf16(const char *settings)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    char       layers[1024];
    twins_t    t;

    ctx.precision = FIRE_BF16;
    snprintf(layers, sizeof(layers),
             CONV("num_output: 32 kernel_size: 1")
                 LAYER("Convolution", "dw", "it", "dw",
                       "convolution_param { " FILL
                       "num_output: 32 group: 32 kernel_size: 3 %s }"),
             settings);
    t = twins_make("2 16 9 10", layers, CAFFE__PHASE__TRAIN, &ctx);
    twins_kernel_is(&t, "dw", "simd");
    twins_agree(&t, 2e-2);
    twins_end(&t);
}

TEST(bf16_agrees_within_its_rounding)
{
    if (fire_cpu_check_precision(FIRE_BF16) < 0) test_skip("the CPU has no bf16");
    check_bf16("pad: 1");
    check_bf16("pad: 2");
    check_bf16("pad: 1 stride: 2");
}

/* ---- BatchNorm as part of the weights ---- */

#define NORM(x, y)                                                  \
    LAYER("BatchNorm", "bn", x, y, "batch_norm_param { eps: 0.1 }") \
    LAYER("Scale", "scale", y, y, "scale_param { bias_term: true " RANDOM " }")

/* Running statistics of their own, other ones for each call. */
static void set_statistics(const twins_t *t, float base)
{
    for (int k = 0; k < 2; k++) {
        fire_layer_t *l = fire_net_find_layer(k == 0 ? t->ref : t->fast, "bn");
        float        *x;

        for (int b = 0; b < 3; b++) {
            CHECK_OK(fire_blob_write(l->blob[b], FIRE_DATA, FIRE_CPU, &x));
            for (int64_t i = 0; i < fire_blob_count(l->blob[b]); i++)
                x[i] = b == 2 ? 2.0f : base + (float)(i % 5) * 0.2f;
        }
    }
}

static void check_folded(const char *in, const char *layers)
{
    twins_t t = twins_make_inference(in, layers);

    CHECK(fire_net_find_layer(t.fast, "bn")->fusion.absorbed);
    CHECK(fire_net_find_layer(t.fast, "scale")->fusion.absorbed);
    set_statistics(&t, 0.5f);
    twins_agree(&t, 5e-5);
    set_statistics(&t, 0.9f);
    twins_agree(&t, 5e-5);
    twins_end(&t);
}

TEST(inference_takes_batch_norm_into_the_weights)
{
    check_folded("2 16 9 9", CONV("num_output: 24 kernel_size: 3") NORM("it", "it"));
    check_folded("2 16 9 9", CONV("num_output: 24 kernel_size: 1 bias_term: false")
                                 NORM("it", "y") LAYER("ReLU", "relu", "y", "y", ""));
    check_folded("2 16 9 9", CONV("num_output: 16 group: 16 kernel_size: 3")
                                 NORM("it", "y") LAYER("ReLU", "relu", "y", "y", ""));
    check_folded("2 32 9 9", CONV("num_output: 32 kernel_size: 5 pad: 2")
                                 NORM("it", "y") LAYER("ReLU", "relu", "y", "z", ""));
}

TEST(batch_norm_stays_apart_where_a_net_runs_backward_or_somebody_looks)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;

    for (int i = 0; i < 2; i++) {
        twins_t t;

        ctx.lean = i == 1;
        t        = twins_make("2 16 9 9",
                              CONV("num_output: 24 kernel_size: 3") NORM("it", "it"),
                              CAFFE__PHASE__TEST, &ctx);
        CHECK(!fire_net_find_layer(t.fast, "bn")->fusion.absorbed);
        set_statistics(&t, 0.5f);
        twins_agree(&t, 5e-5);
        twins_end(&t);
    }
}
