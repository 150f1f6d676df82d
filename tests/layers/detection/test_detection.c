/* Detection layers at sizes that can be followed by hand, and what they refuse. Tests
 * src/layers/detection/. */
#include "layers/bench.h"
#include "layers/detection/bbox.h"

#define CENTER CAFFE__PRIOR_BOX_PARAMETER__CODE_TYPE__CENTER_SIZE

TEST(overlap_is_common_area_over_covered_area)
{
    fire_bbox_t a = {0, 0, 0.5f, 0.5f}, b = {0.25f, 0.25f, 0.75f, 0.75f};

    CHECK_NEAR(fire_bbox_overlap(a, b), 0.0625 / (0.5 - 0.0625), 1e-6);
    CHECK_NEAR(fire_bbox_coverage(a, b), 0.25, 1e-6);
    CHECK_NEAR(fire_bbox_overlap(a, (fire_bbox_t){0.5f, 0.5f, 1, 1}), 0, 0);
}

TEST(every_code_of_a_box_decodes_to_the_box)
{
    static const float variance[] = {0.1f, 0.1f, 0.2f, 0.2f};
    fire_bbox_t prior = {0.1f, 0.2f, 0.5f, 0.7f}, box = {0.15f, 0.1f, 0.6f, 0.8f};

    for (int code = 1; code <= 3; code++)
        for (int with = 0; with < 2; with++) {
            const float *v    = with ? variance : NULL;
            fire_bbox_t  told = fire_bbox_encode((fire_bbox_code_t)code, prior, v, box);
            fire_bbox_t back = fire_bbox_decode((fire_bbox_code_t)code, prior, v, told);

            CHECK_NEAR(back.xmin, box.xmin, 1e-6);
            CHECK_NEAR(back.ymin, box.ymin, 1e-6);
            CHECK_NEAR(back.xmax, box.xmax, 1e-6);
            CHECK_NEAR(back.ymax, box.ymax, 1e-6);
        }
}

TEST(of_boxes_that_overlap_the_better_stays)
{
    const fire_bbox_t box[]  = {{0, 0, 1, 1}, {0, 0, 0.9f, 1}, {0, 0, 0.2f, 0.2f}};
    fire_ranked_t     list[] = {{0.5f, 0}, {0.9f, 1}, {0.5f, 2}};

    fire_rank(list, 3);
    CHECK_EQ(list[0].index, 1);
    CHECK_EQ(list[1].index, 0); /* equals keep their order */
    CHECK_EQ(fire_bbox_suppress(box, list, 3, 0.5f, 1), 2);
    CHECK_EQ(list[1].index, 2);
}

TEST(prior_boxes_surround_every_place)
{
    bench_t b = bench("x:1x1x1x2 i:1x3x100x200", "y",
                      "type: \"PriorBox\" prior_box_param { min_size: 20 max_size: 45 "
                      "aspect_ratio: 4 flip: true }",
                      CAFFE__PHASE__TEST);

    bench_forward(&b);
    bench_shape_is(&b, "y", "1 2 32 (64)");
    bench_compare(bench_blob(&b, "y"), FIRE_DATA,
                  FLOATS(0.2f, 0.4f, 0.3f, 0.6f,       /* 20 x 20 around (50, 50) */
                         0.175f, 0.35f, 0.325f, 0.65f, /* sqrt(20 * 45) = 30 */
                         0.15f, 0.45f, 0.35f, 0.55f,   /* 40 x 10 */
                         0.225f, 0.3f, 0.275f, 0.7f,   /* 10 x 40 */
                         0.7f, 0.4f, 0.8f, 0.6f,       /* the same around (150, 50) */
                         0.675f, 0.35f, 0.825f, 0.65f, /* */
                         0.65f, 0.45f, 0.85f, 0.55f,   /* */
                         0.725f, 0.3f, 0.775f, 0.7f,   /* */
                         0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f,
                         0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f,
                         0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f,
                         0.1f, 0.1f),
                  1e-6);
    bench_end(&b);
}

#define PRIORS                                                                        \
    FLOATS(0, 0, 0.5f, 0.5f, 0, 0, 0.5f, 0.4f, 0.5f, 0.5f, 1, 1, 1, 1, 1, 1, 1, 1, 1, \
           1, 1, 1, 1, 1)

TEST(detection_output_keeps_the_best_of_each_class)
{
    bench_t b =
        bench("loc:1x12 conf:1x6 prior:1x2x12", "y",
              "type: \"DetectionOutput\" detection_output_param { num_classes: 2 "
              "confidence_threshold: 0.3 nms_param { nms_threshold: 0.5 } }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "loc", FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    bench_set(&b, "prior", PRIORS);
    bench_set(&b, "conf", FLOATS(0.4f, 0.6f, 0.1f, 0.9f, 0.6f, 0.4f));
    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(0, 1, 0.9f, 0, 0, 0.5f, 0.4f, 0, 1, 0.4f, 0.5f, 0.5f, 1, 1), 1e-6);
    bench_set(&b, "conf", FLOATS(1, 0, 1, 0, 1, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, -1, -1, -1, -1, -1, -1), 0); /* nothing found */
    bench_end(&b);
}

TEST(multibox_loss_of_a_perfect_box_is_that_of_the_scores)
{
    bench_t b = bench("loc:1x12 conf:1x6 prior:1x2x12 gt:1x1x1x8", "loss",
                      "type: \"MultiBoxLoss\" multibox_loss_param { num_classes: 2 "
                      "neg_pos_ratio: 1 } propagate_down: true propagate_down: true "
                      "propagate_down: false propagate_down: false",
                      CAFFE__PHASE__TRAIN);

    bench_set(&b, "loc", FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    bench_set(&b, "prior", PRIORS);
    bench_set(&b, "conf", FLOATS(0, 0, 0, 0, 0, 1));
    bench_set(&b, "gt", FLOATS(0, 1, 0, 0, 0, 0.5f, 0.5f, 0)); /* priors 0 and 1 */
    bench_forward(&b);
    /* two matches with even scores, one negative that says object; prior 1 is 0.1 too
     * low: smooth L1 of 0.1 */
    CHECK_NEAR(b.loss, (2 * log(2) + log(1 + exp(1)) + 0.5 * 0.01) / 2, 1e-5);
    bench_backward(&b);
    bench_diff_is(&b, "conf",
                  FLOATS(0.25f, -0.25f, 0.25f, -0.25f, -0.3655293f, 0.3655293f), 1e-5);
    bench_diff_is(&b, "loc", FLOATS(0, 0, 0, 0, 0, 0, 0, -0.05f, 0, 0, 0, 0), 1e-6);
    bench_end(&b);
}

TEST(detection_evaluate_counts_a_second_find_as_wrong)
{
    bench_t b = bench("d:1x1x3x7 gt:1x1x2x8", "y",
                      "type: \"DetectionEvaluate\" detection_evaluate_param { "
                      "num_classes: 3 evaluate_difficult_gt: false }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "d",
              FLOATS(0, 1, 0.5f, 0, 0, 0.5f, 0.5f, 0, 1, 0.9f, 0, 0, 0.5f, 0.4f, 0, 2,
                     0.7f, 0.5f, 0.5f, 1, 1));
    bench_set(&b, "gt",
              FLOATS(0, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 2, 0, 0.5f, 0.5f, 1, 1, 1));
    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(-1, 1, 1, -1, -1, -1, 2, 0, -1, -1, /* objects of each class */
                    0, 1, 0.9f, 1, 0, 0, 1, 0.5f, 0, 1, 0, 2, 0.7f, 0, 0),
             1e-6);
    bench_end(&b);
}

TEST(detection_layers_refuse_what_does_not_fit)
{
    BENCH_REFUSES("x:1x1x2x2 i:1x3x9x9", "y", "type: \"PriorBox\"", "min_size");
    BENCH_REFUSES("x:1x1x2x2 i:1x3x9x9", "y",
                  "type: \"PriorBox\" prior_box_param { min_size: 4 max_size: 3 }",
                  "max_size above it");
    BENCH_REFUSES("x:1x1x2x2 i:1x3x9x9", "y",
                  "type: \"PriorBox\" prior_box_param { min_size: 4 variance: 1 "
                  "variance: 2 }",
                  "1 or 4 of variance");
    BENCH_REFUSES("x:1x1x2 i:1x3x9x9", "y",
                  "type: \"PriorBox\" prior_box_param { min_size: 4 }", "4 axes");
    BENCH_REFUSES("l:1x12 c:1x5 p:1x2x12", "y",
                  "type: \"DetectionOutput\" detection_output_param { num_classes: 2 }",
                  "5 scores for 1 images x 3 priors x 2 classes");
    BENCH_REFUSES("l:1x12 c:1x6 p:1x2x12", "y", "type: \"DetectionOutput\"",
                  "num_classes");
    BENCH_REFUSES("l:1x8 c:1x6 p:1x2x12 g:1x1x1x8", "y",
                  "type: \"MultiBoxLoss\" multibox_loss_param { num_classes: 2 }",
                  "8 numbers of locations");
    BENCH_REFUSES("l:1x12 c:1x6 p:1x2x12 g:1x7", "y",
                  "type: \"MultiBoxLoss\" multibox_loss_param { num_classes: 2 }",
                  "rows of 8");
    BENCH_REFUSES(
        "d:1x1x1x7 g:1x1x1x7", "y",
        "type: \"DetectionEvaluate\" detection_evaluate_param { num_classes: 2 }",
        "rows of 7");
    BENCH_REFUSES("x:3", "y", "type: \"Normalize\"", "at least 2 axes");
}

TEST(multibox_loss_refuses_a_label_that_is_no_class)
{
    bench_t b = bench("l:1x12 c:1x6 p:1x2x12 g:1x1x1x8", "loss",
                      "type: \"MultiBoxLoss\" multibox_loss_param { num_classes: 2 }",
                      CAFFE__PHASE__TEST);

    bench_set(&b, "g", FLOATS(0, 2, 0, 0, 0, 1, 1, 0));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "label 2 of 2 classes");
    bench_set(&b, "g", FLOATS(0, 0, 0, 0, 0, 1, 1, 0));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID, "background");
    bench_end(&b);
}
