/* The layers of YOLO. Losses and gradients were computed in double precision from their
 * definition, the slope of GIoU by finite differences. Tests src/layers/detection/yolo/. */
#include <math.h>

#include "layers/bench.h"
#include "layers/detection/yolo/iou.h"

/* Predictions of 2 boxes and 2 classes at 2 x 3 places, and two objects. */
static const float predictions[] = {
    -1.114f, 0.104f,  1.322f,  -0.46f,  0.757f,  -1.025f, 0.193f,  1.411f,  -0.371f,
    0.847f,  -0.936f, 0.282f,  -1.5f,   -0.282f, 0.936f,  -0.847f, 0.371f,  -1.411f,
    -0.193f, 1.025f,  -0.757f, 0.46f,   -1.322f, -0.104f, 1.114f,  -0.668f, 0.55f,
    -1.233f, -0.015f, 1.203f,  -0.579f, 0.639f,  -1.144f, 0.074f,  1.292f,  -0.49f,
    0.728f,  -1.054f, 0.163f,  1.381f,  -0.401f, 0.817f,  -0.965f, 0.252f,  1.47f,
    -0.312f, 0.906f,  -0.876f, 0.342f,  -1.441f, -0.223f, 0.995f,  -0.787f, 0.431f,
    -1.351f, -0.134f, 1.084f,  -0.698f, 0.52f,   -1.262f, -0.045f, 1.173f,  -0.609f,
    0.609f,  -1.173f, 0.045f,  1.262f,  -0.52f,  0.698f,  -1.084f, 0.134f,  1.351f,
    -0.431f, 0.787f,  -0.995f, 0.223f,  1.441f,  -0.342f, 0.876f,  -0.906f, 0.312f,
    -1.47f,  -0.252f, 0.965f};
#define PREDICTIONS ((floats_t){sizeof(predictions) / sizeof(float), predictions})
#define OBJECTS \
    FLOATS(1, 0.45f, 0.3f, 0.5f, 0.6f, 0, 0.8f, 0.7f, 0.3f, 0.4f, 0, 0, 0, 0, 0)

static const float region_gradient[]  = {0,
                                         0.21937701f,
                                         0,
                                         0,
                                         0,
                                         -0.13209119f,
                                         0,
                                         0.16072284f,
                                         0,
                                         0,
                                         0,
                                         0.20837537f,
                                         0,
                                         -3.4373255f,
                                         0,
                                         0,
                                         0,
                                         -6.5281974f,
                                         0,
                                         5.125f,
                                         0,
                                         0,
                                         0,
                                         1.5073255f,
                                         0.07003788f,
                                         0.033204855f,
                                         0.073562152f,
                                         0.01971516f,
                                         0.06202777f,
                                         0.18927696f,
                                         0,
                                         1.2669274f,
                                         0,
                                         0,
                                         0,
                                         -1.1805161f,
                                         0,
                                         -1.2669274f,
                                         0,
                                         0,
                                         0,
                                         1.1805161f,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0.067007245f,
                                         0.043592661f,
                                         0.074073493f,
                                         0.023868091f,
                                         0.066382807f,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0,
                                         0};
static const float squares_gradient[] = {0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0.75287408f, 0.33894482f,
                                         0.63413559f, 0.22565679f,
                                         0.49625007f, 0.76905804f,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0.3615368f,
                                         0,           0,
                                         0,           -0.19926616f,
                                         0,           -0.69463608f,
                                         0,           0,
                                         0,           0.38749138f,
                                         0,           -0.53774665f,
                                         0,           0,
                                         0,           -1.7549724f,
                                         0,           0.88514718f,
                                         0,           0,
                                         0,           -0.37949695f,
                                         0.7793702f,  -0.62714777f,
                                         0.6677442f,  0.2527498f,
                                         0.53344996f, -0.20570693f,
                                         0,           0.63718681f,
                                         0,           0,
                                         0,           -0.53467626f,
                                         0,           -0.66218094f,
                                         0,           0,
                                         0,           0.67412177f};
static const float overlap_gradient[] = {0,           0.51370374f,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0.4848103f,
                                         0,           -0.22571573f,
                                         0,           0,
                                         0,           -0.41078768f,
                                         0,           0.28666874f,
                                         0,           0,
                                         0,           0.031442114f,
                                         0.75287408f, -0.66105518f,
                                         0.63413559f, 0.22565679f,
                                         0.49625007f, -0.23094196f,
                                         0,           0.60452737f,
                                         0,           0,
                                         0,           -0.57010643f,
                                         0,           -0.69154227f,
                                         0,           0,
                                         0,           0.64359915f,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0,
                                         0,           0.38508801f,
                                         0,           0,
                                         0,           0,
                                         0,           -0.48786805f,
                                         0,           0,
                                         0,           0,
                                         0,           0.20849969f,
                                         0.7793702f,  0.37285223f,
                                         0.6677442f,  0.2527498f,
                                         0.53344996f, -0.20570693f,
                                         0,           0,
                                         0,           0,
                                         0,           -0.53467626f,
                                         0,           0,
                                         0,           0,
                                         0,           0.67412177f};

/* The loss, and twice the gradient (loss weight 2). */
static void loss_is(const char *layer, double loss, const float *gradient)
{
    char    weighted[512];
    float   twice[84];
    bench_t b;

    for (int i = 0; i < 84; i++)
        twice[i] = 2.0f * gradient[i];
    snprintf(weighted, sizeof(weighted), "%s loss_weight: 2", layer);
    b = bench("x:1x14x2x3 t:1x3x5", "y", weighted, CAFFE__PHASE__TRAIN);
    bench_set(&b, "x", PREDICTIONS);
    bench_set(&b, "t", OBJECTS);
    bench_forward(&b);
    bench_is(&b, "y", FLOATS((float)loss), 1e-4);
    bench_backward(&b);
    bench_diff_is(&b, "x", (floats_t){84, twice}, 2e-5);
    bench_end(&b);
}

TEST(region_loss_teaches_the_box_that_resembles_an_object_most)
{
    loss_is(
        "type: \"RegionLoss\" region_loss_param { num: 2 num_class: 2 biases: 1 "
        "biases: "
        "1.2 biases: 2.2 biases: 0.8 thresh: 0.4 noobject_scale: 0.5 coord_scale: 5 "
        "object_scale: 2 class_scale: 1.5 }",
        89.1708315, region_gradient);
}

TEST(yolov3_teaches_by_squares)
{
    loss_is("type: \"Yolov3\" yolov3_param { num: 2 num_class: 2 mask: 0 mask: 1 "
            "biases: 10 "
            "biases: 13 biases: 40 biases: 20 biases: 16 biases: 30 thresh: 0.4 "
            "iou_thresh: "
            "0.3 coord_scale: 1 }",
            10.4943446, squares_gradient);
}

TEST(yolov3_teaches_by_overlaps)
{
    loss_is("type: \"Yolov3\" yolov3_param { num: 2 num_class: 2 mask: 0 mask: 2 "
            "biases: 50 "
            "biases: 40 biases: 40 biases: 20 biases: 16 biases: 30 thresh: 0.4 "
            "iou_thresh: "
            "0.3 iou_loss: GIOU }",
            5.89192034, overlap_gradient);
}

TEST(rows_of_annotated_data_teach_the_same)
{
    static const char *const layer =
        "type: \"RegionLoss\" region_loss_param { num: 2 num_class: 2 biases: 1 "
        "biases: 1.2 "
        "biases: 2.2 biases: 0.8 thresh: 0.4 noobject_scale: 0.5 object_scale: 2 "
        "class_scale: 1.5 }";
    bench_t b = bench("x:1x14x2x3 t:1x1x3x8", "y", layer, CAFFE__PHASE__TRAIN);

    bench_set(&b, "x", PREDICTIONS);
    bench_set(&b, "t",
              FLOATS(0, 2, 0, 0.2f, 0, 0.7f, 0.6f, 0, 0, 1, 0, 0.65f, 0.5f, 0.95f, 0.9f,
                     0, -1, -1, -1, -1, -1, -1, -1, -1));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(89.1708315f), 1e-4);
    bench_end(&b);
}

/* ---- overlaps ---- */

TEST(overlap_of_boxes_that_do_not_touch_is_negative_when_generalised)
{
    fire_yolo_box_t a = {0.25f, 0.5f, 0.5f, 1}, b = {0.875f, 0.5f, 0.25f, 1};

    CHECK_NEAR(fire_yolo_iou(a, b), 0, 0);
    CHECK_NEAR(fire_yolo_giou(a, b), -0.25, 1e-6);
    CHECK_NEAR(fire_yolo_giou(a, a), 1, 1e-6);
    CHECK_NEAR(fire_yolo_iou(a, (fire_yolo_box_t){0.5f, 0.5f, 0.5f, 1}), 1.0 / 3, 1e-6);
}

static float overlap(bool generalised, fire_yolo_box_t a, fire_yolo_box_t b)
{
    return generalised ? fire_yolo_giou(a, b) : fire_yolo_iou(a, b);
}

TEST(slopes_of_overlaps_are_those_of_finite_differences)
{
    static const fire_yolo_box_t box[] = {{0.3f, 0.4f, 0.5f, 0.3f},
                                          {0.35f, 0.3f, 0.2f, 0.6f},
                                          {0.9f, 0.8f, 0.1f, 0.2f},
                                          {0.32f, 0.42f, 0.1f, 0.1f}};

    for (int i = 0; i < 32; i++) {
        fire_yolo_box_t a = box[i % 4], b = box[i / 4 % 4];
        float           slope[4], *side[] = {&a.x, &a.y, &a.w, &a.h};

        if (i % 4 == i / 4 % 4) continue;
        fire_yolo_overlap_slope(i >= 16, a, b, slope);
        for (int k = 0; k < 4; k++) {
            float at = *side[k], step = 1e-3f, high, low;

            *side[k] = at + step;
            high     = overlap(i >= 16, a, b);
            *side[k] = at - step;
            low      = overlap(i >= 16, a, b);
            *side[k] = at;
            CHECK_NEAR(slope[k], (k < 2 ? 1 : 2) * (high - low) / (2 * step), 0.02);
        }
    }
}

/* ---- detections ---- */

TEST(yolo_v2_detects_the_best_class_of_a_box)
{
    bench_t b =
        bench("x:1x7x1x2", "y",
              "type: \"YoloDetectionOutput\" yolo_detection_output_param { "
              "num_classes: 2 num_box: 1 biases: 1 biases: 0.5 confidence_threshold: "
              "0.5 }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "x", FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 4, -4, 0, 0, 2, 2));
    bench_forward(&b);
    /* objectness 0.982014, class 0.880797 */
    bench_is(&b, "y", FLOATS(0, 2, 0.864955f, 0, 0.25f, 0.5f, 0.75f), 1e-5);
    bench_end(&b);
}

TEST(yolo_v2_without_detections_says_so_for_each_image)
{
    bench_t b =
        bench("x:2x7x1x1", "y",
              "type: \"YoloDetectionOutput\" yolo_detection_output_param { "
              "num_classes: 2 num_box: 1 biases: 1 biases: 1 confidence_threshold: "
              "0.9 }",
              CAFFE__PHASE__TEST);

    CHECK_OK(fire_blob_set(bench_blob(&b, "x"), FIRE_DATA, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, -1, -1, -1, -1, -1, -1, 1, -1, -1, -1, -1, -1, -1), 0);
    bench_end(&b);
}

TEST(yolo_v3_detects_on_several_scales_and_keeps_the_best)
{
    bench_t b =
        bench("a:2x7x1x1 b:2x7x1x1", "y",
              "type: \"Yolov3DetectionOutput\" yolov3_detection_output_param { "
              "num_classes: 2 num_box: 1 mask_group_num: 2 mask: 1 mask: 0 "
              "anchors_scale: 32 anchors_scale: 16 biases: 8 biases: 4 biases: 16 "
              "biases: 16 confidence_threshold: 0.5 nms_threshold: 0.4 }",
              CAFFE__PHASE__TEST);

    /* image 0: both scales see the same box; image 1: only the second, two classes */
    bench_set(&b, "a", FLOATS(0, 0, 0, 0, 3, 2, -9, 0, 0, 0, 0, -9, 0, 0));
    bench_set(&b, "b", FLOATS(0, 0, 0, 0.69314718f, 2, 2, -9, 0, 0, 0, 0, 9, 3, 2));
    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(1, 1, 0.952457f, 0.25f, 0.375f, 0.75f, 0.625f, 0, 1, 0.8390245f,
                    0.25f, 0.25f, 0.75f, 0.75f),
             1e-5);
    bench_end(&b);
}

TEST(yolo_v3_doubts_boxes_that_say_they_are_unsure)
{
    bench_t b =
        bench("a:1x10x1x1", "y",
              "type: \"Yolov3DetectionOutput\" yolov3_detection_output_param { "
              "num_classes: 1 num_box: 1 mask_group_num: 1 mask: 0 anchors_scale: 32 "
              "biases: 16 biases: 8 gaussian_box: true }",
              CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 0, 9));
    bench_forward(&b);
    /* objectness 1 / 2, half unsure, class 0.999877 */
    bench_is(&b, "y", FLOATS(0, 1, 0.249969f, 0.25f, 0.375f, 0.75f, 0.625f), 1e-5);
    bench_end(&b);
}

TEST(eval_detection_of_yolo_v2_tells_true_from_false)
{
    bench_t b = bench("x:1x7x1x2 t:1x2x5", "y",
                      "type: \"EvalDetection\" eval_detection_param { num_class: 2 "
                      "num_object: 1 biases: 1 biases: 1 nms: 0.9 }",
                      CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "1 10 (10)");
    bench_set(&b, "x", FLOATS(0, 0, 0, 0, 0, 0, 0, 0, 4, 0, -9, 9, 9, -9));
    bench_set(&b, "t", FLOATS(1, 0.25f, 0.5f, 0.5f, 1, 1, 0.9f, 0.9f, 0.1f, 0.1f));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, 2, 0, 0.5f, 0, 1, 1, 0.982014f, 1, 0), 1e-5);
    bench_end(&b);
}

TEST(eval_detection_of_yolo_v1_leaves_difficult_objects_out)
{
    bench_t b     = bench("x:1x28 t:1x28", "y",
                          "type: \"EvalDetection\" eval_detection_param { side: 2 "
                              "num_class: 2 num_object: 1 }",
                          CAFFE__PHASE__TEST);
    float   x[28] = {0}, t[28] = {0};

    /* all places say class 1 with 0.5; places 0 and 3 predict the whole cell */
    for (int place = 0; place < 4; place++) {
        x[4 + place]  = 0.5f;
        x[8 + place]  = place == 0 ? 0.8f : place == 3 ? 0.6f : 0.1f;
        x[12 + place] = 0.5f;
    }
    for (int place = 0; place < 4; place++) {
        x[16 + place] = 0.5f;
        x[20 + place] = x[24 + place] = place % 3 == 0 ? 0.70710678f : 0.1f;
    }
    t[4] = t[7] = 1; /* objects at places 0 and 3, the latter difficult */
    t[3]        = 1;
    t[8] = t[11] = 1; /* of class 1 */
    t[12] = t[13] = 0.25f;
    t[14] = t[15] = 0.5f;
    t[24] = t[25] = 0.75f;
    t[26] = t[27] = 0.5f;
    bench_set(&b, "x", (floats_t){28, x});
    bench_set(&b, "t", (floats_t){28, t});
    bench_forward(&b);
    bench_is(&b, "y",
             FLOATS(0, 1, 1, 0.4f, 1, 0, 1, 0.3f, 0, 0, 1, 0.05f, 0, 1, 1, 0.05f, 0, 1),
             1e-5);
    bench_end(&b);
}
