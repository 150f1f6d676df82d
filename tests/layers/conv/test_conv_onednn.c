/* Convolution and deconvolution by oneDNN, and who gets which kernel. Tests
 * src/layers/select.c, src/device/cpu/conv_onednn.c, src/device/cpu/formats_onednn.c and
 * src/device/cpu/onednn.c too. */
#include "device/cpu/precision.h"
#include "twins.h"
#include "net/net_state.h"

#ifdef FIRE_HAVE_ONEDNN
#    define FILL                                         \
        "weight_filler { type: \"gaussian\" std: 0.1 } " \
        "bias_filler { type: \"gaussian\" std: 0.1 } "
#    define CONV(name, bottom, settings)                                     \
        "layer { name: \"" name "\" type: \"Convolution\" bottom: \"" bottom \
        "\" top: \"" name "\" convolution_param { " FILL settings " } }\n"

/* Direct convolution: only the order of additions differs. */
static void check(const char *in, const char *settings)
{
    char layers[512];

    snprintf(layers, sizeof(layers), CONV("it", "in", "%s"), settings);
    twins_check(in, layers, "onednn", 2e-5);
}

TEST(convolution_agrees_with_ref_in_all_directions)
{
    check("2 3 11 13", "num_output: 20 kernel_size: 5 stride: 2");
    check("2 20 8 8", "num_output: 50 kernel_size: 7 pad: 2");
    check("2 32 7 7", "num_output: 16 kernel_size: 1");
    check("2 32 7 7", "num_output: 16 kernel_size: 1 stride: 2");
}

TEST(convolution_agrees_with_groups_dilation_and_odd_windows)
{
    check("2 32 9 9", "num_output: 64 kernel_size: 3 group: 2");
    check("2 24 9 9", "num_output: 36 kernel_size: 3 group: 4 pad: 1");
    check("2 32 9 9", "num_output: 32 kernel_size: 3 group: 32 pad: 1 dilation: 2");
    check("2 20 9 9", "num_output: 20 kernel_size: 5 group: 20 pad: 1 stride: 2");
    check("2 16 9 9", "num_output: 32 kernel_size: 3 group: 16");
    check("2 16 9 9", "num_output: 16 kernel_size: 3 dilation: 2 pad: 2");
    check("2 16 9 9", "num_output: 16 kernel_h: 1 kernel_w: 7 pad_h: 0 pad_w: 3");
    check("2 16 9 9", "num_output: 16 kernel_size: 3 bias_term: false");
}

TEST(convolution_agrees_along_one_and_three_axes)
{
    check("2 16 9", "num_output: 16 kernel_size: 3");
    check("2 16 5 6 7", "num_output: 16 kernel_size: 3 pad: 1");
}

static void check_reverse(const char *in, const char *settings)
{
    char layers[512];

    snprintf(layers, sizeof(layers),
             "layer { name: \"it\" type: \"Deconvolution\" bottom: \"in\" top: \"it\" "
             "convolution_param { " FILL "%s } }",
             settings);
    twins_check(in, layers, "onednn", 2e-5);
}

TEST(deconvolution_agrees_with_ref_in_all_directions)
{
    check_reverse("2 16 5 6", "num_output: 32 kernel_size: 4 stride: 2 pad: 1");
    check_reverse("2 20 5 6", "num_output: 7 kernel_size: 3 bias_term: false");
    check_reverse("2 16 9 9", "num_output: 16 kernel_size: 1");
    check_reverse("2 21 4 4", "num_output: 21 kernel_size: 8 stride: 4 group: 21");
    check_reverse("2 16 5", "num_output: 8 kernel_size: 3 stride: 2");
}

TEST(winograd_agrees_within_its_own_error)
{
    twins_check("2 32 14 14", CONV("it", "in", "num_output: 64 kernel_size: 3 pad: 1"),
                "onednn", 1e-4);
}

TEST(exact_keeps_winograd_out)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    ctx.exact = true;
    t = twins_make("2 32 12 12", CONV("it", "in", "num_output: 64 kernel_size: 3"),
                   CAFFE__PHASE__TRAIN, &ctx);
    twins_agree(&t, 2e-6);
    twins_end(&t);
}

/* Eight bits of every factor: 2^-8 of the largest value, some sums of it. */
TEST(bf16_agrees_within_its_rounding)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    ctx.precision = FIRE_BF16;
    if (fire_cpu_check_precision(FIRE_BF16) < 0) return;
    t = twins_make("2 32 12 12",
                   CONV("it", "in", "num_output: 64 kernel_size: 3 pad: 1")
                       CONV("at", "it", "num_output: 20 kernel_size: 1"),
                   CAFFE__PHASE__TRAIN, &ctx);
    twins_agree(&t, 2e-2);
    CHECK_EQ(fire_blob_format(fire_net_find_blob(t.fast, "it"), FIRE_DATA).dtype,
             FIRE_BF16);
    twins_end(&t);
}

TEST(fp16_is_refused_on_a_cpu)
{
    CHECK_FAILS(fire_cpu_check_precision(FIRE_F16), FIRE_ERR_UNSUPPORTED,
                "fp16 is for GPUs");
}

TEST(neighbours_exchange_blocked_channels_without_conversion)
{
    fire_ctx_t   ctx = FIRE_CTX_INIT;
    fire_blob_t *middle;
    twins_t      t = twins_make("2 16 9 9",
                                CONV("a", "in", "num_output: 32 kernel_size: 3")
                                    CONV("b", "a", "num_output: 16 kernel_size: 1"),
                                CAFFE__PHASE__TRAIN, &ctx);

    CHECK_OK(fire_net_forward(t.fast, 0, -1, NULL));
    CHECK_OK(fire_net_backward(t.fast, -1, 0));
    middle = fire_net_find_blob(t.fast, "a");
    CHECK_EQ(fire_storage_conversions(middle->part[FIRE_DATA]), 0);
    CHECK_EQ(fire_storage_conversions(middle->part[FIRE_DIFF]), 0);
    twins_agree(&t, 2e-5);
    twins_end(&t);
}

TEST(weights_are_converted_once_until_they_change)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t =
        twins_make("2 16 9 9", CONV("it", "in", "num_output: 32 kernel_size: 3"),
                   CAFFE__PHASE__TEST, &ctx);
    fire_storage_t *w = t.fast->layer[1].base.blob[0]->part[FIRE_DATA];
    float          *x;
    int64_t         before;

    CHECK_OK(fire_net_forward(t.fast, 0, -1, NULL));
    before = fire_storage_conversions(w);
    CHECK_OK(fire_net_forward(t.fast, 0, -1, NULL));
    CHECK_EQ(fire_storage_conversions(w), before);
    CHECK_OK(fire_blob_update(t.fast->layer[1].base.blob[0], FIRE_DATA, FIRE_CPU, &x));
    CHECK_OK(fire_net_forward(t.fast, 0, -1, NULL));
    CHECK_EQ(fire_storage_conversions(w), before + 1);
    twins_end(&t);
}

TEST(the_prototxt_can_ask_for_ref)
{
    twins_check("2 4 5 5",
                CONV("it", "in", "num_output: 4 kernel_size: 3 engine: CAFFE"), "ref",
                0);
}

TEST(depthwise_convolution_is_direct_also_with_caffes_engine)
{
    const char *net =
        CONV("it", "in", "num_output: 4 kernel_size: 3 group: 4 engine: CAFFE");
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    twins_check("2 4 5 5", net, "direct", 2e-5);
    ctx.kernels = "Convolution=ref";
    t           = twins_make("2 4 5 5", net, CAFFE__PHASE__TEST, &ctx);
    twins_kernel_is(&t, "it", "ref");
    twins_end(&t);
}

TEST(wishes_count_on_the_cpu_where_the_prototxt_says_cudnn)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    ctx.kernels = "all=ref";
    t           = twins_make("2 4 5 5",
                             CONV("it", "in", "num_output: 4 kernel_size: 3 engine: CUDNN"),
                             CAFFE__PHASE__TEST, &ctx);
    twins_kernel_is(&t, "it", "ref");
    twins_end(&t);
}
#endif
