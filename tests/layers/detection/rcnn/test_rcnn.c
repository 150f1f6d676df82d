/* What R-CNN's descendants share. Tests src/layers/detection/rcnn/. */
#include "layers/bench.h"
#include "layers/detection/rcnn/pixels.h"

TEST(boxes_in_pixels_overlap_by_the_pixels_that_both_hold)
{
    fire_bbox_t a = {0, 0, 9, 9}, b = {5, 0, 14, 9}, far = {20, 20, 29, 29};

    CHECK_NEAR(fire_pixels_overlap(a, a), 1, 0);
    CHECK_NEAR(fire_pixels_overlap(a, b), 50.0 / 150, 1e-6);
    CHECK_NEAR(fire_pixels_overlap(a, far), 0, 0);
    CHECK_NEAR(fire_pixels_overlap((fire_bbox_t){3, 3, 3, 3}, a), 0.01, 1e-7);
}

TEST(a_box_in_pixels_moves_by_parts_of_its_size)
{
    const float delta[] = {0.5f, -0.25f, 0.0f, 0.69314718f};
    fire_bbox_t b       = fire_pixels_move((fire_bbox_t){0, 0, 9, 19}, delta);

    CHECK_NEAR(b.xmin, 5, 1e-5);
    CHECK_NEAR(b.xmax, 15, 1e-5);
    CHECK_NEAR(b.ymin, -15, 1e-5);
    CHECK_NEAR(b.ymax, 25, 1e-5);
    b = fire_pixels_clip(b, 12, 20);
    CHECK_NEAR(b.xmax, 11, 0);
    CHECK_NEAR(b.ymin, 0, 0);
    CHECK_NEAR(b.ymax, 19, 0);
}

TEST(suppression_ends_with_as_many_boxes_as_wanted)
{
    const fire_bbox_t box[] = {
        {0, 0, 9, 9}, {1, 0, 10, 9}, {20, 0, 29, 9}, {40, 0, 49, 9}};
    fire_ranked_t list[] = {{0.9f, 0}, {0.8f, 1}, {0.7f, 2}, {0.6f, 3}};

    CHECK_EQ(fire_pixels_suppress(box, list, 4, 0.5f, 2), 2);
    CHECK_EQ(list[0].index, 0);
    CHECK_EQ(list[1].index, 2);
}

/* A map of one place with one anchor of 16 x 16 pixels; its upper left corner is 0. */
static const char *const one_anchor =
    "type: \"Proposal\" proposal_param { ratio: 1 scale: 1 min_size: %d }";

TEST(proposals_of_several_images_say_which_they_are_of)
{
    char    layer[128];
    bench_t b;

    snprintf(layer, sizeof(layer), one_anchor, 4);
    b = bench("s:2x2x1x1 d:2x4x1x1 i:2x3", "r p", layer, CAFFE__PHASE__TEST);
    bench_set(&b, "s", FLOATS(0.25f, 0.75f, 0.5f, 0.5f));
    bench_set(&b, "d", FLOATS(0, 0, 0, 0, 0.25f, 0, 0, 0));
    bench_set(&b, "i", FLOATS(32, 32, 1, 32, 16, 1));
    bench_forward(&b);
    bench_shape_is(&b, "r", "2 5 (10)");
    bench_is(&b, "r", FLOATS(0, 0, 0, 16, 16, 1, 4, 0, 15, 16), 1e-5);
    bench_is(&b, "p", FLOATS(0.75f, 0.5f), 0);
    bench_end(&b);
}

TEST(there_may_be_no_proposal_and_layers_behind_take_that)
{
    char    layer[128];
    bench_t b;

    snprintf(layer, sizeof(layer), one_anchor, 40);
    b = bench("s:1x2x1x1 d:1x4x1x1 i:1x3", "r", layer, CAFFE__PHASE__TEST);
    bench_set(&b, "s", FLOATS(0.25f, 0.75f));
    bench_set(&b, "d", FLOATS(0, 0, 0, 0));
    bench_set(&b, "i", FLOATS(32, 32, 1));
    bench_forward(&b);
    bench_shape_is(&b, "r", "0 5 (0)");
    bench_end(&b);
}

TEST(proposals_of_a_map_without_settings_are_those_of_faster_rcnn)
{
    bench_t      b = bench("s:1x18x1x1 d:1x36x1x1 i:1x3", "r", "type: \"Proposal\"",
                           CAFFE__PHASE__TEST);
    float        zero[36] = {0}, score[18];
    const float *r;

    /* the image is so large that only the anchors' right and lower ends show */
    for (int i = 0; i < 18; i++)
        score[i] = 1.0f - 0.01f * (float)i;
    bench_set(&b, "s", (floats_t){18, score});
    bench_set(&b, "d", (floats_t){36, zero});
    bench_set(&b, "i", FLOATS(1000, 1000, 1));
    bench_forward(&b);
    CHECK_OK(fire_blob_read(bench_blob(&b, "r"), FIRE_DATA, FIRE_CPU, &r));
    CHECK_NEAR(r[3], 100,
               0); /* 0.5 x 8: (-84, -40, 99, 55), an end further by moving */
    CHECK_NEAR(r[4], 56, 0);
    bench_end(&b);
}
