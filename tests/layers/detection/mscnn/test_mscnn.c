/* MS-CNN and Cascade R-CNN: what their layers share, and proposals of several images.
 * Values of single images are in tests/layers/cases. Tests
 * src/layers/detection/mscnn/. */
#include "layers/bench.h"
#include "layers/detection/mscnn/fields.h"

TEST(box_output_keeps_proposals_of_images_apart)
{
    bench_t b = bench("a:2x6x1x1", "y s",
                      "type: \"BoxOutput\" box_output_param { field_w: 16 field_h: 16 "
                      "downsample_rate: 16 min_size: 4 }",
                      CAFFE__PHASE__TEST);

    /* the same box in both images, with scores 2 and 3 */
    bench_set(&b, "a", FLOATS(1, 3, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 5 1 1 (10)");
    bench_is(&b, "y", FLOATS(0, 0, 0, 16, 16, 1, 0, 0, 16, 16), 1e-5);
    bench_is(&b, "s", FLOATS(0, 0, 0, 16, 16, 2, 1, 0, 0, 16, 16, 3), 1e-5);
    bench_end(&b);
}

TEST(a_box_of_box_output_that_is_cut_off_at_its_start_keeps_its_size)
{
    bench_t b = bench("a:1x6x1x2", "y",
                      "type: \"BoxOutput\" box_output_param { field_w: 16 field_h: 8 "
                      "downsample_rate: 16 min_size: 4 fg_thr: 1 }",
                      CAFFE__PHASE__TEST);

    /* half a field to the left: from -8 to 8 becomes 0 to 16 */
    bench_set(&b, "a", FLOATS(0, 0, 5, 0, -0.5f, 0, 0, 0, 0, 0, 0, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0, 0, 4, 16, 12), 1e-5);
    bench_end(&b);
}

TEST(predictions_move_and_zoom_within_limits)
{
    bench_t b =
        bench("p:1x2x1x4 d:1x4x1x4", "y",
              "type: \"BoxGroupOutput\" box_group_output_param { field_xyr: 4 "
              "field_whr: 2 box_group_param { stride: 10 field_w: 8 field_h: 8 } "
              "min_size: 2 max_post_nms_num: 1 }",
              CAFFE__PHASE__TEST);
    float d[16] = {0};

    d[1]  = 9;  /* at most a quarter of the field, 2, to the right */
    d[9]  = 9;  /* at most twice as wide */
    d[13] = -9; /* at least half as high */
    bench_set(&b, "p", FLOATS(0.9f, 0.1f, 0.9f, 0.9f, 0, 0, 0, 0));
    bench_set(&b, "d", (floats_t){16, d});
    bench_forward(&b);
    /* centre (15 + 2, 5), 16 x 4, both ends inside */
    bench_is(&b, "y", FLOATS(0, 9, 3, 24, 6), 1e-5);
    bench_end(&b);
}

TEST(decode_bbox_may_leave_no_region)
{
    bench_t b = bench("d:1x8 r:1x5 m:1x1", "y",
                      "type: \"DecodeBBox\" decode_bbox_param { gt_iou_thr: 0.5 }",
                      CAFFE__PHASE__TRAIN);

    CHECK_OK(fire_blob_set(bench_blob(&b, "d"), FIRE_DATA, 0));
    bench_set(&b, "r", FLOATS(0, 1, 1, 9, 9));
    bench_set(&b, "m", FLOATS(0.75f));
    bench_forward(&b);
    bench_shape_is(&b, "y", "0 5 1 1 (0)");
    bench_end(&b);
}

TEST(names_of_shares_are_those_of_nms_type)
{
    fire_field_share_t s;

    CHECK_OK(fire_share_read("IOFU", &s));
    CHECK_EQ(s, FIRE_SHARE_FIRST);
    CHECK_FAILS(fire_share_read("iou", &s), FIRE_ERR_INVALID,
                "none of IOU, IOMU, IOFU");
}
