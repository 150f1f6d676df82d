/* Input: blobs that the caller fills. */
#include "rig.h"

TEST(one_shape_serves_all_tops_and_several_one_each)
{
    rig_t r;

    CHECK_OK(rig_open(&r,
                      "type: 'Input' top: 'a' top: 'b' input_param { shape { dim: "
                      "2 dim: 3 } }",
                      CAFFE__PHASE__TEST));
    CHECK_EQ(fire_blob_count(r.top[0]), 6);
    CHECK_EQ(fire_blob_count(r.top[1]), 6);
    rig_close(&r);
    CHECK_OK(rig_open(&r,
                      "type: 'Input' top: 'a' top: 'b' input_param { shape { dim: "
                      "2 } shape { dim: 5 dim: 2 } }",
                      CAFFE__PHASE__TEST));
    CHECK_EQ(fire_blob_count(r.top[0]), 2);
    CHECK_EQ(fire_blob_count(r.top[1]), 10);
    rig_close(&r);
}

TEST(what_the_caller_writes_stays_and_may_have_another_shape)
{
    static const float x[4] = {1, 2, 3, 4};
    float             *top;
    rig_t              r;

    CHECK_OK(rig_open(&r, "type: 'Input' top: 'a' input_param { shape { dim: 2 } }",
                      CAFFE__PHASE__TEST));
    CHECK_OK(fire_blob_reshape(r.top[0], 2, (int64_t[]){2, 2}));
    CHECK_OK(fire_blob_write(r.top[0], FIRE_DATA, FIRE_CPU, &top));
    memcpy(top, x, sizeof(x));
    CHECK_OK(rig_forward(&r));
    CHECK(memcmp(rig_top(&r, 0), x, sizeof(x)) == 0);
    rig_close(&r);
}

TEST(shapes_for_some_of_the_tops_are_refused)
{
    rig_t r;

    CHECK_FAILS(rig_open(&r,
                         "type: 'Input' top: 'a' top: 'b' top: 'c' input_param { "
                         "shape { dim: 2 } shape { dim: 2 } }",
                         CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "2 shapes for 3 tops");
    rig_close(&r);
}
