/* Convolution: what it refuses, and no images at all. Its values are those of
 * tests/layers/cases; its kernels have tests of their own. Tests src/layers/conv/conv.c
 * and src/layers/conv/conv_ref.c too. */
#include "layers/bench.h"
#include "net/net_state.h"

#define CONV(param) "type: \"Convolution\" convolution_param { " param " }"

TEST(convolution_says_what_is_wrong_with_its_settings)
{
    BENCH_REFUSES("x:1x2x5x5", "y", "type: \"Convolution\"", "is missing");
    BENCH_REFUSES("x:1x2x5x5", "y", CONV("kernel_size: 3"), "num_output must be given");
    BENCH_REFUSES("x:1x2x5x5", "y", CONV("num_output: 1"), "kernel_size is missing");
    BENCH_REFUSES("x:1x2x5x5", "y", CONV("num_output: 1 kernel_size: 0"),
                  "kernel_size 0 is out of the range");
    BENCH_REFUSES("x:1x2x5x5", "y", CONV("num_output: 1 kernel_size: 7"),
                  "layer \"it\" (Convolution): the kernel is larger than the input");
    BENCH_REFUSES("x:1x2x5x5", "y", CONV("num_output: 1 kernel_size: 3 dilation: 3"),
                  "covers 7");
    BENCH_REFUSES("x:1x2x5x5", "y", CONV("num_output: 1 kernel_size: 3 stride: 0"),
                  "stride 0");
    BENCH_REFUSES("x:1x3x5x5", "y", CONV("num_output: 4 kernel_size: 3 group: 2"),
                  "3 channels do not divide into 2 groups");
    BENCH_REFUSES("x:1x4x5x5", "y", CONV("num_output: 3 kernel_size: 3 group: 2"),
                  "num_output 3 does not divide");
    BENCH_REFUSES("x:1x2x5x5", "y",
                  CONV("num_output: 1 kernel_size: 3 kernel_size: 3 kernel_size: 3"),
                  "3 values of kernel_size for 2 spatial axes");
    BENCH_REFUSES("x:1x2x5x5", "y",
                  CONV("num_output: 1 kernel_size: 3 kernel_h: 3 kernel_w: 3"),
                  "not both");
    BENCH_REFUSES("x:1x2x5x5x5", "y", CONV("num_output: 1 kernel_h: 3 kernel_w: 3"),
                  "for 2 spatial axes");
    BENCH_REFUSES("x:1x2x5x5", "y", CONV("num_output: 1 kernel_size: 1 axis: 4"),
                  "axis 4 is out of range");
    BENCH_REFUSES("x:1x0x5x5", "y", CONV("num_output: 1 kernel_size: 1"),
                  "no channels");
    BENCH_REFUSES("x:1x2x5x5 z:1x2x5x4", "y w", CONV("num_output: 1 kernel_size: 1"),
                  "bottom 1 is 1 2 5 4");
}

TEST(convolution_refuses_other_channels_later)
{
    bench_t b = bench("x:1x2x3x3", "y", CONV("num_output: 1 kernel_size: 1"),
                      CAFFE__PHASE__TEST);

    CHECK_OK(fire_blob_reshape(bench_blob(&b, "x"), 4, (int64_t[]){1, 3, 3, 3}));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "has 3 channels, the weights are for 2");
    bench_end(&b);
}

TEST(convolution_of_no_images_gives_none)
{
    bench_t b = bench("x:0x2x3x3", "y", CONV("num_output: 4 kernel_size: 3"),
                      CAFFE__PHASE__TRAIN);

    bench_forward(&b);
    bench_shape_is(&b, "y", "0 4 1 1 (0)");
    bench_backward(&b);
    bench_end(&b);
}

/* The forks that have the layer ignore num_output and group. */
TEST(depthwise_convolution_has_the_channels_of_its_bottom)
{
    static const char *const settings[] = {"num_output: 6", "num_output: 1 group: 2",
                                           ""};

    for (int i = 0; i < 3; i++) {
        char    layer[160];
        bench_t b;

        snprintf(
            layer, sizeof(layer),
            "type: \"ConvolutionDepthwise\" convolution_param { kernel_size: 1 %s }",
            settings[i]);
        b = bench("x:1x3x2x2", "y", layer, CAFFE__PHASE__TEST);
        CHECK_EQ(bench_blob(&b, "y")->dim[1], 3);
        CHECK_EQ(fire_net_find_layer(b.net, "it")->blob[0]->dim[0], 3);
        CHECK_EQ(fire_net_find_layer(b.net, "it")->blob[1]->dim[0], 3);
        bench_end(&b);
    }
}

TEST(channels_of_a_depthwise_convolution_are_summed_apart)
{
    bench_t b =
        bench("x:1x2x2x2", "y",
              "type: \"DepthwiseConvolution\" convolution_param { num_output: 1 "
              "kernel_size: 3 pad: 1 bias_term: false }",
              CAFFE__PHASE__TEST);

    bench_fill(fire_net_find_layer(b.net, "it")->blob[0], FIRE_DATA,
               FLOATS(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
    bench_set(&b, "x", FLOATS(1, 2, 3, 4, 5, 6, 7, 8));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(10, 10, 10, 10, 26, 26, 26, 26), 1e-6);
    bench_end(&b);
}
