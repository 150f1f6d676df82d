/* Kernels on blocked channels give what `ref` gives, between convolutions and alone. Tests
 * src/layers/activation/relu_simd.c, src/layers/loss/softmax_loss_simd.c,
 * src/layers/lrn/lrn_simd.c, src/layers/norm/channel_norm.c, src/layers/norm/norm_simd.c,
 * src/layers/pooling/pooling_simd.c, src/layers/pooling/pooling_simd_forward.c and
 * src/layers/pooling/pooling_simd_backward.c. */
#include "device/cpu/blocked.h"
#include "device/cpu/precision.h"
#include "twins.h"
#include "net/net_state.h"

/* A 1x1 convolution before a layer hands it channels in blocks, and one behind it hands
 * back gradients in blocks. */
#define FILL                                         \
    "weight_filler { type: \"gaussian\" std: 0.3 } " \
    "bias_filler { type: \"gaussian\" std: 0.1 } "
#define CONV(name, bottom, outputs)                                      \
    "layer { name: \"" name "\" type: \"Convolution\" bottom: \"" bottom \
    "\" top: \"" name "\" convolution_param { num_output: " outputs      \
    " kernel_size: 1 " FILL " } }\n"
#define LAYER(type, bottoms, settings) \
    "layer { name: \"it\" type: \"" type "\" " bottoms " top: \"it\" " settings " }\n"

/* Between convolutions, and alone on plain values. */
static void check(const char *in, const char *type, const char *settings,
                  double tolerance)
{
    char layers[2048];

    snprintf(layers, sizeof(layers),
             CONV("before", "in", "20") LAYER("%s", "bottom: \"before\"", "%s")
                 CONV("after", "it", "12"),
             type, settings);
    twins_check(in, layers, "simd", tolerance);
    snprintf(layers, sizeof(layers), LAYER("%s", "bottom: \"in\"", "%s"), type,
             settings);
    twins_check(in, layers, "simd", tolerance);
}

TEST(pooling_of_blocks_agrees_with_ref)
{
    check("2 16 9 9", "Pooling", "pooling_param { kernel_size: 3 stride: 2 }", 1e-5);
    check("2 16 8 9", "Pooling", "pooling_param { kernel_size: 2 stride: 2 }", 1e-5);
    check("2 16 9 9", "Pooling", "pooling_param { kernel_size: 3 pad: 1 }", 1e-5);
    check("2 16 10 10", "Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }",
          1e-5);
    check("2 16 8 8", "Pooling",
          "pooling_param { kernel_size: 3 stride: 2 pad: 1 pool: AVE }", 1e-5);
    check("2 16 8 8", "Pooling", "pooling_param { kernel_size: 5 stride: 3 pool: AVE }",
          1e-5);
    check("2 16 7 7", "Pooling", "pooling_param { global_pooling: true pool: AVE }",
          1e-5);
    check("2 24 5 5", "Pooling", "pooling_param { kernel_h: 1 kernel_w: 3 }", 1e-5);
}

TEST(pooling_with_a_mask_is_left_to_ref)
{
    twins_check("2 16 6 6",
                "layer { name: \"it\" type: \"Pooling\" bottom: \"in\" top: \"it\" "
                "top: \"mask\" pooling_param { kernel_size: 2 stride: 2 } }\n",
                "ref", 0);
}

TEST(lrn_of_blocks_agrees_with_ref)
{
    check("2 16 5 5", "LRN", "lrn_param { local_size: 5 alpha: 0.3 beta: 0.75 }", 1e-5);
    check("2 40 3 3", "LRN", "lrn_param { local_size: 3 alpha: 1 beta: 0.6 k: 2 }",
          1e-5);
    check("1 9 20 20", "LRN", "lrn_param { local_size: 7 alpha: 2 }", 1e-5);
}

/* MAX is not here: rounding decides which of two near places gets the gradient. */
TEST(bf16_agrees_within_its_rounding)
{
    static const char *const layers[] = {
        LAYER("LRN", "bottom: \"a\"",
              "lrn_param { local_size: 5 alpha: 0.3 beta: 0.75 }"),
        LAYER("LRN", "bottom: \"a\"", "lrn_param { local_size: 3 alpha: 0.3 }"),
        LAYER("Pooling", "bottom: \"a\"",
              "pooling_param { kernel_size: 3 pad: 1 pool: AVE }"),
        LAYER("Pooling", "bottom: \"a\"",
              "pooling_param { kernel_size: 3 stride: 2 pool: AVE }")};
    fire_ctx_t ctx = FIRE_CTX_INIT;
    char       net[2048];

    if (fire_cpu_check_precision(FIRE_BF16) < 0) test_skip("the CPU has no bf16");
    ctx.precision = FIRE_BF16;
    for (int i = 0; i < 4; i++) {
        twins_t t;

        snprintf(net, sizeof(net), CONV("a", "in", "40") "%s" CONV("after", "it", "16"),
                 layers[i]);
        t = twins_make("2 16 9 9", net, CAFFE__PHASE__TRAIN, &ctx);
        twins_kernel_is(&t, "it", "simd");
        twins_agree(&t, 2e-2);
        twins_end(&t);
    }
}

TEST(relu_of_blocks_agrees_with_ref)
{
    check("2 16 5 5", "ReLU", "", 1e-5);
    check("2 16 5 5", "ReLU", "relu_param { negative_slope: 0.1 }", 1e-5);
    twins_check("3 7",
                "layer { name: \"it\" type: \"ReLU\" bottom: \"in\" top: \"in\" }\n",
                "simd", 0);
}

TEST(a_negative_slope_is_left_to_ref)
{
    twins_check("2 16 5 5",
                "layer { name: \"it\" type: \"ReLU\" bottom: \"in\" top: \"it\" "
                "relu_param { negative_slope: -0.1 } }\n",
                "ref", 0);
}

TEST(sums_and_splits_of_blocks_agree_with_ref)
{
    twins_check("2 16 5 5",
                CONV("a", "in", "20") CONV("b", "in", "20") CONV("c", "in", "20")
                    LAYER("Eltwise", "bottom: \"a\" bottom: \"b\" bottom: \"c\"", "")
                        CONV("after", "it", "12"),
                "simd", 1e-5);
    twins_check("2 16 5 5",
                CONV("a", "in", "20") LAYER("Eltwise", "bottom: \"a\" bottom: \"a\"",
                                            "eltwise_param { coeff: 2 coeff: -0.5 }")
                    CONV("after", "it", "12") CONV("other", "it", "12"),
                "simd", 1e-5);
}

TEST(concat_of_blocks_agrees_with_ref_also_where_they_do_not_fit)
{
    twins_check("2 16 5 5",
                CONV("a", "in", "32") CONV("b", "in", "16")
                    LAYER("Concat", "bottom: \"a\" bottom: \"b\"", "")
                        CONV("after", "it", "12"),
                "simd", 1e-5);
    twins_check("2 16 5 5",
                CONV("a", "in", "20") CONV("b", "in", "16")
                    LAYER("Concat", "bottom: \"a\" bottom: \"b\"", "")
                        CONV("after", "it", "12"),
                "simd", 1e-5);
    twins_check("2 16 5 5",
                CONV("a", "in", "16") CONV("b", "in", "16")
                    LAYER("Concat", "bottom: \"a\" bottom: \"b\"",
                          "concat_param { axis: 2 }") CONV("after", "it", "12"),
                "simd", 1e-5);
}

#define IN_PLACE(type, settings)               \
    "layer { name: \"" type "\" type: \"" type \
    "\" bottom: \"it\" top: \"it\" " settings " }\n"

/* Classes side by side and apart, both with a rest behind whole vectors; a label that is
 * left out. */
TEST(softmax_loss_agrees_with_ref)
{
#define LABEL(dims, value)                                                           \
    "layer { name: \"label\" type: \"DummyData\" top: \"label\" dummy_data_param { " \
    "shape { " dims " } data_filler { type: \"constant\" value: " value " } } }\n"
#define LOSS(settings)                                           \
    LAYER("SoftmaxWithLoss", "bottom: \"in\" bottom: \"label\"", \
          "loss_param { " settings " }")
    twins_check("5 37", LABEL("dim: 5", "36") LOSS(""), "simd", 1e-6);
    twins_check("40 1000", LABEL("dim: 40", "3") LOSS(""), "simd", 1e-6);
    twins_check("3 5 6 7", LABEL("dim: 3 dim: 6 dim: 7", "4") LOSS(""), "simd", 1e-6);
    twins_check("3 5 6 7", LABEL("dim: 3 dim: 6 dim: 7", "9") LOSS("ignore_label: 9"),
                "simd", 1e-6);
    twins_check("5 10", LABEL("dim: 5", "3") LOSS(""), "ref", 0);
}

TEST(batch_norm_of_blocks_agrees_with_ref)
{
    check("3 16 5 5", "BatchNorm", "", 3e-5);
    check("3 16 9 9", "BatchNorm", "batch_norm_param { eps: 0.1 }", 3e-5);
    check("3 16 5 5", "BatchNorm", "batch_norm_param { use_global_stats: true }", 1e-5);
    check("3 16 5 5", "BatchNorm", "batch_norm_param { scale_bias: true }", 3e-5);
    twins_check("30 9", LAYER("BatchNorm", "bottom: \"in\"", ""), "simd", 1e-5);
}

#define NORMAL "filler { type: \"gaussian\" std: 1 } "

TEST(scale_of_blocks_agrees_with_ref)
{
    check("3 16 5 5", "Scale", "scale_param { " NORMAL " }", 1e-5);
    check("3 16 5 5", "Scale",
          "scale_param { " NORMAL " bias_term: true bias_filler { value: 0.3 } }",
          1e-5);
}

#define AFFINE IN_PLACE("Scale", "scale_param { bias_term: true " NORMAL " }")

TEST(batch_norm_scale_and_relu_in_place_agree_with_ref)
{
    const char *relu[] = {"", IN_PLACE("ReLU", ""),
                          IN_PLACE("ReLU", "relu_param { negative_slope: 0.2 }")};
    char        layers[2048];

    for (int i = 0; i < 3; i++) {
        snprintf(layers, sizeof(layers),
                 CONV("it", "in", "20") IN_PLACE("BatchNorm", "") AFFINE
                 "%s" CONV("after", "it", "12"),
                 relu[i]);
        twins_check("3 16 5 5", layers, "onednn", 3e-5);
    }
}

TEST(batch_norm_with_a_top_of_its_own_takes_in_scale_where_nobody_looks)
{
    const char layers[] = LAYER("BatchNorm", "bottom: \"in\"", "")
        AFFINE IN_PLACE("ReLU", "") CONV("after", "it", "12");
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t   = twins_make("3 16 5 5", layers, CAFFE__PHASE__TRAIN, &ctx);

    CHECK(!fire_net_find_layer(t.fast, "Scale")->fusion.absorbed);
    twins_agree(&t, 3e-5);
    twins_end(&t);
    ctx.lean = true;
    t        = twins_make("3 16 5 5", layers, CAFFE__PHASE__TRAIN, &ctx);
    CHECK(fire_net_find_layer(t.fast, "Scale")->fusion.absorbed);
    twins_agree(&t, 3e-5);
    twins_end(&t);
}

TEST(a_convolution_takes_in_its_relu)
{
    twins_check("3 16 5 5",
                CONV("it", "in", "20") IN_PLACE("ReLU", "") CONV("after", "it", "12"),
                "onednn", 1e-5);
    twins_check("3 16 5 5",
                CONV("it", "in", "20")
                    IN_PLACE("ReLU", "relu_param { negative_slope: 0.2 }"),
                "onednn", 1e-5);
}

TEST(kernels_agree_in_phase_test)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t   = twins_make("3 16 5 5",
                                CONV("it", "in", "20") IN_PLACE("BatchNorm", "")
                                    AFFINE IN_PLACE("ReLU", "") CONV("after", "it", "12"),
                                CAFFE__PHASE__TEST, &ctx);

    twins_agree(&t, 1e-5);
    twins_end(&t);
}

#ifdef FIRE_HAVE_ONEDNN
TEST(blocks_go_through_an_inception_without_conversion)
{
    fire_ctx_t ctx         = FIRE_CTX_INIT;
    int64_t    conversions = 0;
    twins_t t = twins_make("2 16 5 5", twins_layers("tests/layers/inception.prototxt"),
                           CAFFE__PHASE__TRAIN, &ctx);

    CHECK_OK(fire_net_forward(t.fast, 0, -1, NULL));
    CHECK_OK(fire_net_backward(t.fast, -1, 0));
    for (int i = 0; i < t.fast->nblob; i++) {
        fire_blob_t *b = t.fast->blob[i].blob;

        if (strncmp(t.fast->blob[i].name, "in", 2) == 0 ||
            strcmp(t.fast->blob[i].name, "c") == 0)
            continue;
        conversions += fire_storage_conversions(b->part[FIRE_DATA]) +
                       fire_storage_conversions(b->part[FIRE_DIFF]);
    }
    CHECK_EQ(conversions, 0);
    twins_agree(&t, 1e-5);
    twins_end(&t);
}
#endif
