/* DummyData and MemoryData. Tests src/layers/data/memory_data.c too. */
#include "rig.h"

#include "layers/data/memory_data.h"

TEST(dummy_data_takes_old_and_new_shapes)
{
    rig_t r;

    CHECK_OK(
        rig_open(&r,
                 "name: 'd' type: 'DummyData' top: 'a' top: 'b' dummy_data_param { "
                 "shape { dim: 2 dim: 3 } shape { dim: 4 } data_filler { value: 5 } "
                 "data_filler { value: 6 } }",
                 CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_forward(&r));
    CHECK(fire_blob_count(r.top[0]) == 6 && rig_top(&r, 0)[5] == 5);
    CHECK(fire_blob_count(r.top[1]) == 4 && rig_top(&r, 1)[3] == 6);
    rig_close(&r);
    CHECK_OK(
        rig_open(&r,
                 "name: 'd' type: 'DummyData' top: 'a' top: 'b' dummy_data_param { "
                 "num: 2 num: 5 channels: 3 height: 1 width: 2 }",
                 CAFFE__PHASE__TRAIN));
    CHECK_EQ(fire_blob_count(r.top[0]), 12);
    CHECK_EQ(fire_blob_count(r.top[1]), 30);
    rig_close(&r);
}

TEST(constants_are_filled_once_and_random_values_every_time)
{
    rig_t  r;
    float *a, before;

    CHECK_OK(
        rig_open(&r,
                 "name: 'd' type: 'DummyData' top: 'a' top: 'b' dummy_data_param { "
                 "shape { dim: 2 } data_filler { value: 5 } "
                 "data_filler { type: 'uniform' } }",
                 CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_forward(&r));
    CHECK_OK(fire_blob_update(r.top[0], FIRE_DATA, FIRE_CPU, &a));
    a[0]          = 77; /* what a user writes there stays */
    before        = rig_top(&r, 1)[0];
    r.moment.step = 1;
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(rig_top(&r, 0)[0], 77);
    CHECK(rig_top(&r, 1)[0] != before);
    rig_close(&r);
}

TEST(lanes_of_dummy_data_are_parts_of_the_whole)
{
    const char *text = "name: 'd' type: 'DummyData' top: 'a' dummy_data_param { "
                       "shape { dim: 10 dim: 3 } data_filler { type: 'gaussian' } }";
    float       whole[30], part[30];

    for (int lanes = 1; lanes <= 4; lanes++) {
        int64_t at = 0;

        for (int lane = 0; lane < lanes; lane++) {
            rig_t r;

            CHECK_OK(rig_open(&r, text, CAFFE__PHASE__TRAIN));
            r.moment.lane  = lane;
            r.moment.lanes = lanes;
            r.moment.step  = 3;
            CHECK_OK(rig_forward(&r));
            memcpy(part + at, rig_top(&r, 0),
                   (size_t)fire_blob_count(r.top[0]) * sizeof(*part));
            at += fire_blob_count(r.top[0]);
            rig_close(&r);
        }
        CHECK_EQ(at, 30);
        if (lanes == 1) memcpy(whole, part, sizeof(whole));
        CHECK(memcmp(whole, part, sizeof(whole)) == 0);
    }
}

TEST(dummy_data_without_fitting_shapes_is_refused)
{
    static const char *const bad[] = {
        "",
        "dummy_data_param { }",
        "dummy_data_param { num: 2 }",
        "dummy_data_param { shape { dim: 1 } num: 1 }",
        "dummy_data_param { shape { dim: 1 } shape { dim: 2 } shape { dim: 3 } }",
        "dummy_data_param { shape { dim: 1 } data_filler {} data_filler {} data_filler "
        "{} }"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        rig_t r;

        CHECK_FAILS(
            rig_open(&r,
                     format("name: 'd' type: 'DummyData' top: 'a' top: 'b' %s", bad[i]),
                     CAFFE__PHASE__TRAIN),
            FIRE_ERR_INVALID, "");
        rig_close(&r);
    }
}

static const char memory[] = "name: 'm' type: 'MemoryData' top: 'a' top: 'b' "
                             "memory_data_param { batch_size: 2 channels: 1 height: 1 "
                             "width: 3 }";

TEST(memory_data_goes_round_its_arrays_from_the_first_sample)
{
    float data[12], labels[4] = {4, 5, 6, 7};
    rig_t r;

    for (int i = 0; i < 12; i++)
        data[i] = (float)i;
    CHECK_OK(rig_open(&r, memory, CAFFE__PHASE__TRAIN));
    CHECK_OK(fire_memory_data_set(&r.layer, data, labels, 4));
    for (r.moment.step = 5; r.moment.step < 8; r.moment.step++) {
        int first = (int)(r.moment.step - 5) * 2 % 4;

        CHECK_OK(rig_forward(&r));
        CHECK_EQ(rig_top(&r, 0)[5], (first + 1) * 3 + 2);
        CHECK_EQ(rig_top(&r, 1)[0], 4 + first);
    }
    rig_close(&r);
}

TEST(memory_data_needs_arrays_of_whole_batches)
{
    float data[9] = {0};
    rig_t r;

    CHECK_OK(rig_open(&r, memory, CAFFE__PHASE__TRAIN));
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID, "must be given arrays");
    CHECK_FAILS(fire_memory_data_set(&r.layer, data, data, 3), FIRE_ERR_INVALID,
                "multiple of batch_size 2");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, "name: 'm' type: 'MemoryData' top: 'a' top: 'b'",
                         CAFFE__PHASE__TRAIN),
                FIRE_ERR_INVALID, "memory_data_param needs");
    rig_close(&r);
}
