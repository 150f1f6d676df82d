/* Pooling: which value wins, windows at the border, random draws. Tests
 * src/layers/pooling/pool.c too. */
#include <float.h>
#include "layers/bench.h"
#include "net/net_state.h"

#define POOL(param) "type: \"Pooling\" pooling_param { " param " }"

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
    BENCH_REFUSES("x:1x2", "y", POOL("kernel_size: 2"),
                  "must have axes (num, channels");
    BENCH_REFUSES("x:1x2x4x5x5", "y", POOL("kernel_size: 2 kernel_size: 3"),
                  "2 values of kernel_size for 3 spatial axes");
    BENCH_REFUSES("x:1x2x4x5x5", "y", POOL("kernel_h: 2 kernel_w: 3"),
                  "are for 2 spatial axes, here are 3");
    BENCH_REFUSES("x:1x2x5x5", "y", POOL("kernel_size: 2 kernel_depth: 3"),
                  "kernel_depth is for 3 spatial axes");
    BENCH_REFUSES("x:1x2x4x5x5", "y", POOL("kernel_shape { }"),
                  "0 values of kernel_size");
    BENCH_REFUSES("x:1x2x4x5x5", "y", POOL("kernel_size: 2 pool: STOCHASTIC"),
                  "STOCHASTIC pooling is for 2 spatial axes");
    BENCH_REFUSES("x:1x2x4x5x5", "y", POOL("kernel_size: 6 round_mode: FLOOR"),
                  "along spatial axis 0 it is 6, the input has 4");
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

/* What a definition by four nested loops in double precision gives. */
TEST(a_video_is_pooled_along_time_as_along_height_and_width)
{
    static const char *const spellings[] = {
        POOL("pool: AVE kernel_size: 2 kernel_size: 3 kernel_size: 2 stride: 1 stride: "
             "2 "
             "stride: 2"),
        POOL("pool: AVE kernel_shape { dim: 2 dim: 3 dim: 2 } stride_shape { dim: 1 "
             "dim: 2 "
             "dim: 2 }")};

    for (int k = 0; k < 2; k++) {
        bench_t b = bench("x:1x2x3x5x4", "y", spellings[k], CAFFE__PHASE__TRAIN);
        float   x[120], want[2 * 2 * 2 * 2];
        int     n = 0;

        for (int i = 0; i < 120; i++)
            x[i] = (float)(i * i % 37) / 8;
        for (int c = 0; c < 2; c++)
            for (int o = 0; o < 8; o++) {
                double sum = 0;

                for (int d = o / 4; d < o / 4 + 2; d++)
                    for (int h = o / 2 % 2 * 2; h < o / 2 % 2 * 2 + 3; h++)
                        for (int w = o % 2 * 2; w < o % 2 * 2 + 2; w++)
                            sum += (double)x[((c * 3 + d) * 5 + h) * 4 + w];
                want[n++] = (float)(sum / 12);
            }
        bench_set(&b, "x", (floats_t){120, x});
        bench_forward(&b);
        bench_shape_is(&b, "y", "1 2 2 2 2 (16)");
        bench_is(&b, "y", (floats_t){16, want}, 1e-6);
        bench_end(&b);
    }
}
