/* BatchNorm: running sums of statistics, and gradients of small batches. */
#include <math.h>
#include "layers/bench.h"
#include "net/net_state.h"

static void statistics_are(bench_t *b, fire_part_t part, double mean, double variance,
                           double weight)
{
    fire_layer_t *l      = fire_net_find_layer(b->net, "it");
    double        want[] = {mean, variance, weight};
    const float  *x;

    for (int i = 0; i < 3; i++) {
        CHECK_OK(fire_blob_read(l->blob[i], part, FIRE_CPU, &x));
        CHECK_NEAR(x[0], want[i], 1e-5);
    }
}

TEST(batch_norm_keeps_decayed_sums_of_mean_and_unbiased_variance)
{
    bench_t b = bench("x:4x1", "y",
                      "type: \"BatchNorm\" batch_norm_param { "
                      "moving_average_fraction: 0.5 }",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "x", FLOATS(0, 2, 4, 6)); /* mean 3, variance 5, unbiased 20/3 */
    bench_forward(&b);
    statistics_are(&b, FIRE_DATA, 3, 20.0 / 3, 1);
    bench_is(&b, "y", FLOATS(-1.341639f, -0.447213f, 0.447213f, 1.341639f), 1e-5);
    bench_forward(&b);
    statistics_are(&b, FIRE_DATA, 4.5, 10, 1.5);
    bench_end(&b);
}

TEST(batch_norm_defers_its_statistics_to_the_diff_when_lanes_share_them)
{
    bench_t b = bench("x:4x1", "y",
                      "type: \"BatchNorm\" batch_norm_param { "
                      "moving_average_fraction: 0.5 }",
                      CAFFE__PHASE__TRAIN);

    b.net->moment.defer_stats = true;
    bench_set(&b, "x", FLOATS(0, 2, 4, 6));
    bench_forward(&b);
    bench_forward(&b); /* two passes of one iteration */
    statistics_are(&b, FIRE_DATA, 0, 0, 0);
    statistics_are(&b, FIRE_DIFF, 4.5, 10, 1.5);
    bench_end(&b);
}

TEST(batch_norm_without_statistics_yet_divides_by_eps_alone)
{
    bench_t b =
        bench("x:1x1", "y", "type: \"BatchNorm\" batch_norm_param { eps: 0.25 }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(3));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(6), 0);
    bench_end(&b);
}

TEST(batch_norm_with_scale_and_bias_learns_two_of_its_five_parameters)
{
    bench_t       b = bench("x:2x1", "y",
                            "type: \"BatchNorm\" batch_norm_param { scale_bias: true "
                                  "scale_filler { value: 2 } bias_filler { value: 3 } }",
                            CAFFE__PHASE__TRAIN);
    fire_layer_t *l = fire_net_find_layer(b.net, "it");

    bench_set(&b, "x", FLOATS(4, 8));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(1, 5), 1e-4); /* 3 -+ 2 */
    CHECK_EQ(l->nblob, 5);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(l->param_gradient[i], i >= 3);
    bench_set_diff(&b, "y", FLOATS(1, 2));
    bench_backward(&b);
    bench_compare(l->blob[3], FIRE_DIFF, FLOATS(1), 1e-4);
    bench_compare(l->blob[4], FIRE_DIFF, FLOATS(3), 1e-6);
    bench_end(&b);
}

/* Then dx is what eps leaves of two terms that are all but equal:
 *   dx = eps (dy - dy') / 2 / (h^2 + eps)^1.5, h half the distance of x and x'. */
TEST(batch_norm_of_two_values_per_channel_keeps_the_small_gradient)
{
    enum { N = 8 };
    const double eps = 1e-5;
    bench_t      b   = bench("x:2x8", "y", "type: \"BatchNorm\"", CAFFE__PHASE__TRAIN);
    float        x[2 * N], dy[2 * N];
    const float *dx;
    double       want[N];

    for (int c = 0; c < N; c++) {
        double h;

        x[c]      = 1.1f + 0.013f * (float)c;
        x[N + c]  = 1.3f + 0.037f * (float)c;
        dy[c]     = 0.7f - 0.11f * (float)c;
        dy[N + c] = 0.31f + 0.05f * (float)c;
        h         = ((double)x[c] - x[N + c]) / 2;
        want[c]   = eps * ((double)dy[c] - dy[N + c]) / 2 / pow(h * h + eps, 1.5);
    }
    bench_set(&b, "x", (floats_t){2 * N, x});
    bench_forward(&b);
    bench_set_diff(&b, "y", (floats_t){2 * N, dy});
    bench_backward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "x"), FIRE_DIFF, FIRE_CPU, &dx));
    for (int c = 0; c < N; c++) {
        CHECK_NEAR(dx[c], want[c], 4e-4 * want[0]);
        CHECK_NEAR(dx[N + c], -want[c], 4e-4 * want[0]);
    }
    bench_end(&b);
}
