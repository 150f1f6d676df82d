/* Vision layers: values that can be checked by hand, and what they refuse. */
#include <float.h>

#include "layers/bench.h"
#include "net/net_state.h"

#define CONV(param) "type: \"Convolution\" convolution_param { " param " }"
#define POOL(param) "type: \"Pooling\" pooling_param { " param " }"

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

TEST(deconvolution_and_im2col_refuse_impossible_shapes)
{
    BENCH_REFUSES("x:1x2x2x2", "y",
                  "type: \"Deconvolution\" convolution_param { num_output: 1 "
                  "kernel_size: 2 pad: 2 }",
                  "leaves nothing of spatial axis 0");
    BENCH_REFUSES("x:1x2x2x2", "y",
                  "type: \"Im2col\" convolution_param { kernel_size: 3 }",
                  "larger than the input");
    BENCH_REFUSES("x:1x2", "y", "type: \"Im2col\" convolution_param { kernel_size: 1 }",
                  "no spatial axes");
}

TEST(pooling_says_what_is_wrong_with_its_settings)
{
    BENCH_REFUSES("x:1x2x5x5", "y", "type: \"Pooling\"", "is missing");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("stride: 2"), "either kernel_size or both");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_h: 2"), "both kernel_h and kernel_w");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_size: 0"), "at least one element");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_size: 2 stride: 0"), "stride");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_size: 7 round_mode: FLOOR"),
                  "larger than the input");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_size: 2 pad: 2"),
                  "pad must be smaller than the kernel");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_size: 2 global_pooling: true"),
                  "remove kernel_size");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("global_pooling: true stride: 2"),
                  "needs pad 0 and stride 1");
    BENCH_REFUSES("x:1x2x5x5", "y mask", POOL("kernel_size: 2 pool: AVE"),
                  "only MAX pooling has a second top");
    BENCH_REFUSES("x:1x2x5", "y", POOL("kernel_size: 2"), "must have 4 axes");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_size: 2 pad: 1 pool: STOCHASTIC"),
                  "knows no padding");
}

TEST(the_first_of_equal_maxima_wins_and_gets_the_gradient)
{
    bench_t b = bench("x:1x1x2x3", "y mask", POOL("kernel_size: 2 stride: 1"),
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "x", FLOATS(1, 7, 7, 7, 0, 2));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(7, 7), 0);
    bench_is(&b, "mask", FLOATS(1, 1), 0);
    bench_set_diff(&b, "y", FLOATS(10, 1));
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(0, 11, 0, 0, 0, 0), 0);
    bench_end(&b);
}

TEST(a_window_beyond_the_image_is_empty_and_sends_nothing_back)
{
    bench_t b =
        bench("x:1x1x5x5", "y", POOL("kernel_size: 1 stride: 3"), CAFFE__PHASE__TRAIN);

    CHECK_OK(fire_blob_set(bench_blob(&b, "x"), FIRE_DATA, 2));
    bench_forward(&b);
    bench_shape_is(&b, "y", "1 1 3 3 (9)");
    bench_is(&b, "y",
             FLOATS(2, 2, -FLT_MAX, 2, 2, -FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX), 0);
    CHECK_OK(fire_blob_set(bench_blob(&b, "y"), FIRE_DIFF, 1));
    bench_backward(&b);
    bench_end(&b);
}

TEST(ceil_mode_false_rounds_down)
{
    bench_t up =
        bench("x:1x1x6x6", "y", POOL("kernel_size: 3 stride: 2"), CAFFE__PHASE__TEST);
    bench_t down =
        bench("x:1x1x6x6", "y", POOL("kernel_size: 3 stride: 2 ceil_mode: false"),
              CAFFE__PHASE__TEST);

    bench_shape_is(&up, "y", "1 1 3 3 (9)");
    bench_shape_is(&down, "y", "1 1 2 2 (4)");
    bench_end(&up);
    bench_end(&down);
}

/* ---- stochastic pooling ---- */

#define DRAW POOL("pool: STOCHASTIC kernel_size: 2 stride: 2")

TEST(stochastic_pooling_draws_by_value_and_expects_the_mean)
{
    bench_t      b = bench("x:2000x1x2x2", "y", DRAW, CAFFE__PHASE__TRAIN);
    const float *y;
    float       *x;
    double       count[4] = {0};

    CHECK_OK(fire_blob_write(bench_blob(&b, "x"), FIRE_DATA, FIRE_CPU, &x));
    for (int i = 0; i < 8000; i++)
        x[i] = (float)(i % 4);
    bench_forward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "y"), FIRE_DATA, FIRE_CPU, &y));
    for (int i = 0; i < 2000; i++)
        count[(int)y[i]]++;
    for (int v = 0; v < 4; v++)
        CHECK_NEAR(count[v] / 2000, v / 6.0, 0.05);
    bench_end(&b);

    b = bench("x:1x1x2x2", "y", DRAW, CAFFE__PHASE__TEST);
    bench_set(&b, "x", FLOATS(0, 1, 2, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(14.0f / 6), 1e-6);
    CHECK_FAILS(fire_net_backward(b.net, -1, 0), FIRE_ERR_UNSUPPORTED, "TRAIN only");
    bench_end(&b);
}

TEST(stochastic_pooling_draws_the_same_for_a_sample_in_any_lane)
{
    bench_t      whole    = bench("x:4x1x2x2", "y", DRAW, CAFFE__PHASE__TRAIN);
    bench_t      half     = bench("x:2x1x2x2", "y", DRAW, CAFFE__PHASE__TRAIN);
    const float  ramp[16] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4};
    const float *y;
    float        first[4];

    whole.net->moment.batch = half.net->moment.batch = 4;
    half.net->moment.lanes                           = 2;
    for (int step = 0; step < 10; step++) {
        whole.net->moment.step = half.net->moment.step = step;
        bench_set(&whole, "x", (floats_t){16, ramp});
        bench_forward(&whole);
        CHECK_OK(fire_blob_read(bench_blob(&whole, "y"), FIRE_DATA, FIRE_CPU, &y));
        memcpy(first, y, sizeof(first));
        for (int lane = 0; lane < 2; lane++) {
            half.net->moment.lane = lane;
            bench_set(&half, "x", (floats_t){8, ramp});
            bench_forward(&half);
            bench_is(&half, "y", (floats_t){2, first + 2 * lane}, 0);
        }
    }
    bench_end(&whole);
    bench_end(&half);
}

TEST(spp_and_crop_refuse_what_does_not_fit)
{
    BENCH_REFUSES("x:1x2x4x4", "y", "type: \"SPP\"", "pyramid_height");
    BENCH_REFUSES("x:1x2x2x2", "y", "type: \"SPP\" spp_param { pyramid_height: 3 }",
                  "pyramid_height is too large");
    BENCH_REFUSES("x:1x2x4", "y", "type: \"SPP\" spp_param { pyramid_height: 1 }",
                  "must have 4 axes");
    BENCH_REFUSES("x:1x2x4x4 l:1x2x5x4", "y", "type: \"Crop\"",
                  "on axis 2, 5 elements from 0 on are wanted");
    BENCH_REFUSES("x:1x2x4x4 l:1x2x3x3", "y",
                  "type: \"Crop\" crop_param { offset: 1 offset: 1 offset: 1 }",
                  "3 offsets for 2 axes");
    BENCH_REFUSES("x:1x2x4x4 l:1x2x3x3", "y", "type: \"Crop\" crop_param { axis: 7 }",
                  "axis 7 is out of range");
    BENCH_REFUSES("x:1x2x4x4 l:1x2", "y", "type: \"Crop\"", "has 2 axes, the first 4");
}

TEST(roi_pooling_takes_the_maximum_of_each_bin_and_zero_of_none)
{
    bench_t b =
        bench("x:1x1x4x4 r:2x5", "y",
              "type: \"ROIPooling\" roi_pooling_param { pooled_h: 2 pooled_w: 2 }",
              CAFFE__PHASE__TRAIN);

    bench_set(&b, "x", FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
    bench_set(&b, "r", FLOATS(0, 0, 0, 2, 1, 0, 8, 8, 9, 9));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(2, 3, 6, 7, 0, 0, 0, 0), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2, 3, 4, 5, 6, 7, 8));
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0);
    bench_set(&b, "r", FLOATS(0, 0, 0, 2, 1, 1, 0, 0, 1, 1));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "a region names image 1 of 1");
    bench_end(&b);
}

TEST(psroi_pooling_looks_at_another_channel_for_each_bin)
{
    bench_t b = bench("x:1x4x2x2 r:1x5", "y",
                      "type: \"PSROIPooling\" psroi_pooling_param { spatial_scale: 1 "
                      "output_dim: 1 group_size: 2 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
    bench_set(&b, "r", FLOATS(0, 0, 0, 1, 1));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 6, 11, 16), 0);
    bench_end(&b);
}

TEST(interp_puts_corners_on_corners)
{
    bench_t b =
        bench("x:1x1x1x3", "y", "type: \"Interp\" interp_param { height: 1 width: 5 }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(1, 3, 7));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 2, 3, 5, 7), 1e-6);
    bench_end(&b);
}

TEST(upsample_undoes_a_max_pooling)
{
    bench_t b =
        bench("x:1x1x1x2 m:1x1x1x2", "y", "type: \"Upsample\"", CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(5, 6));
    bench_set(&b, "m", FLOATS(4, 3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, 0, 0, 6, 5, 0, 0, 0), 0);
    bench_set(&b, "m", FLOATS(4, 8));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "the mask points to 8 of 2 x 4");
    bench_end(&b);
}

TEST(region_and_resizing_layers_refuse_what_does_not_fit)
{
    BENCH_REFUSES("x:1x1x4x4 r:2x5", "y", "type: \"ROIPooling\"", "pooled_h");
    BENCH_REFUSES("x:1x1x4x4 r:2x4", "y",
                  "type: \"ROIPooling\" roi_pooling_param { pooled_h: 2 pooled_w: 2 }",
                  "rows of 5");
    BENCH_REFUSES("x:1x3x4x4 r:2x5", "y",
                  "type: \"PSROIPooling\" psroi_pooling_param { spatial_scale: 1 "
                  "output_dim: 1 group_size: 2 }",
                  "has 3 channels");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Interp\" interp_param { pad_beg: 1 }",
                  "must not be positive");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Interp\" interp_param { pad_beg: -4 }",
                  "the pads leave 0 of 4");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Interp\" interp_param { height: 4 }",
                  "both height and width");
    BENCH_REFUSES("x:1x1x4x4 m:1x1x4x3", "y", "type: \"Upsample\"",
                  "shape of the input");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Upsample\" upsample_param { scale: 0 }",
                  "at least 1");
}
