/* What shapes embeddings: gradients that finite differences cannot tell, and rules of
 * phases. Tests src/layers/metric/. */
#include "layers/bench.h"
#include "net/net_state.h"

/* SphereFace's rule for the class of the label: the direction of the margin's gradient,
 * of length 1, mixed with lambda w. In double precision, by the formula of its paper. */
TEST(the_margin_of_sphere_face_gives_x_a_gradient_of_unit_length)
{
    bench_t b =
        bench("x:1x2 l:1", "y",
              "type: \"MarginInnerProduct\" margin_inner_product_param { num_output: "
              "1 type: DOUBLE base: 3 gamma: 0 weight_filler { value: 1 } }",
              CAFFE__PHASE__TRAIN);
    double w = sqrt(0.5), x[2] = {2, 0.5}, length = sqrt(4.25);
    double c = (x[0] + x[1]) * w / length, by_w = 4 * c;
    double by_x = -(2 * c * c + 1) / length, size = sqrt(by_w * by_w + by_x * by_x);

    bench_set(&b, "x", FLOATS(2, 0.5));
    bench_set(&b, "l", FLOATS(0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS((float)((length * (2 * c * c - 1) + 3 * length * c) / 4)),
             1e-6);
    bench_set_diff(&b, "y", FLOATS(1));
    bench_backward(&b);
    bench_diff_is(&b, "x",
                  FLOATS((float)(((by_w * w + by_x * x[0]) / size + 3 * w) / 4),
                         (float)(((by_w * w + by_x * x[1]) / size + 3 * w) / 4)),
                  1e-6);
    bench_end(&b);
}

TEST(centres_move_by_the_mean_of_their_items_with_one_more_in_the_divisor)
{
    bench_t b =
        bench("x:3x1 l:3", "loss",
              "type: \"CenterLoss\" loss_weight: 0.1 center_loss_param { num_output: "
              "2 center_filler { value: 1 } }",
              CAFFE__PHASE__TRAIN);
    const float *diff;

    bench_set(&b, "x", FLOATS(2, 4, 0));
    bench_set(&b, "l", FLOATS(1, 1, 0));
    bench_forward(&b);
    bench_is(&b, "loss", FLOATS(11.0f / 6), 1e-6);
    bench_backward(&b);
    bench_diff_is(&b, "x", FLOATS(0.1f / 3, 0.3f / 3, -0.1f / 3), 1e-6);
    CHECK_OK(fire_blob_read(b.net->learn[0].blob, FIRE_DIFF, FIRE_CPU, &diff));
    CHECK_NEAR(diff[0], 0.5, 1e-6);
    CHECK_NEAR(diff[1], -4.0 / 3, 1e-6);
    bench_end(&b);
}
