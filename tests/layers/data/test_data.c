/* Data: records in order, shuffled, over lanes and workers, damaged. */
#include "rig.h"

#include "data/source/source.h"

static const char *data_layer(const char *db, int batch, const char *more)
{
    return format("name: 'd' type: 'Data' top: 'data' top: 'label' "
                  "data_param { source: '%s' batch_size: %d backend: LMDB } %s",
                  db, batch, more);
}

static const char *shuffled_layer(const char *db, int batch, const char *more)
{
    return format(
        "name: 'd' type: 'Data' top: 'data' top: 'label' "
        "data_param { source: '%s' batch_size: %d backend: LMDB shuffle: true }"
        " %s",
        db, batch, more);
}

TEST(the_data_layer_reads_records_in_key_order_and_wraps_inside_a_batch)
{
    rig_t r;

    CHECK_OK(rig_open(&r, data_layer(make_db("lmdb", "db", 5, 2, 3, 4), 3, ""),
                      CAFFE__PHASE__TEST));
    CHECK_EQ(fire_blob_count(r.top[0]), 3 * 2 * 3 * 4);
    for (int step = 0; step < 4; step++) {
        r.moment.step = step;
        CHECK_OK(rig_forward(&r));
        for (int i = 0; i < 3; i++) {
            int record = (step * 3 + i) % 5;

            CHECK_EQ(rig_top(&r, 1)[i], record);
            for (int k = 0; k < 24; k++)
                CHECK_EQ(rig_top(&r, 0)[i * 24 + k], record * 7 + k);
        }
    }
    rig_close(&r);
}

/* Labels of the samples that `lanes` lanes see in one step, in lane order. */
static void run_lanes(const char *text, int lanes, int64_t step, float *label,
                      float *first_pixel)
{
    int at = 0;

    for (int lane = 0; lane < lanes; lane++) {
        rig_t   r;
        int64_t n, row;

        CHECK_OK(rig_open(&r, text, CAFFE__PHASE__TRAIN));
        r.moment.lane  = lane;
        r.moment.lanes = lanes;
        r.moment.step  = step;
        CHECK_OK(rig_forward(&r));
        n   = fire_blob_count(r.top[1]);
        row = n > 0 ? fire_blob_count(r.top[0]) / n : 0;
        for (int64_t i = 0; i < n; i++, at++) {
            label[at]       = rig_top(&r, 1)[i];
            first_pixel[at] = rig_top(&r, 0)[i * row];
        }
        rig_close(&r);
    }
    CHECK_EQ(at, 10);
}

TEST(lanes_see_together_what_one_lane_sees_alone_shuffled_and_cropped)
{
    const char *text = shuffled_layer(make_db("lmdb", "db", 23, 1, 9, 9), 10,
                                      "transform_param { crop_size: 4 mirror: true }");
    float       label[10], pixel[10], label1[10], pixel1[10];

    for (int64_t step = 0; step < 5; step++) {
        run_lanes(text, 1, step, label1, pixel1);
        for (int lanes = 2; lanes <= 16; lanes *= 2) {
            run_lanes(text, lanes, step, label, pixel);
            CHECK(memcmp(label, label1, sizeof(label)) == 0);
            CHECK(memcmp(pixel, pixel1, sizeof(pixel)) == 0);
        }
    }
}

TEST(a_layer_that_starts_late_continues_exactly)
{
    const char *text = data_layer(make_db("lmdb", "db", 11, 1, 6, 6), 4,
                                  "transform_param { crop_size: 3 }");
    rig_t       whole, late;

    CHECK_OK(rig_open(&whole, text, CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_open(&late, text, CAFFE__PHASE__TRAIN));
    for (int64_t step = 0; step < 20; step++) {
        whole.moment.step = step;
        CHECK_OK(rig_forward(&whole));
        if (step < 13) continue;
        late.moment.step = step;
        CHECK_OK(rig_forward(&late));
        CHECK(memcmp(rig_top(&whole, 0), rig_top(&late, 0), 4 * 9 * sizeof(float)) ==
              0);
        CHECK(memcmp(rig_top(&whole, 1), rig_top(&late, 1), 4 * sizeof(float)) == 0);
    }
    rig_close(&whole);
    rig_close(&late);
}

TEST(a_shuffled_epoch_has_every_record_once_and_each_epoch_another_order)
{
    rig_t r;
    float order[3][30];

    CHECK_OK(rig_open(&r, shuffled_layer(make_db("lmdb", "db", 30, 1, 1, 1), 10, ""),
                      CAFFE__PHASE__TRAIN));
    for (int step = 0; step < 9; step++) {
        r.moment.step = step;
        CHECK_OK(rig_forward(&r));
        memcpy(&order[step / 3][step % 3 * 10], rig_top(&r, 1), 10 * sizeof(float));
    }
    rig_close(&r);
    for (int e = 0; e < 3; e++) {
        bool seen[30] = {false};

        for (int i = 0; i < 30; i++) {
            int record = (int)order[e][i];

            CHECK(record >= 0 && record < 30 && !seen[record]);
            seen[record] = true;
        }
    }
    CHECK(memcmp(order[0], order[1], sizeof(order[0])) != 0);
    CHECK(memcmp(order[1], order[2], sizeof(order[0])) != 0);
}

TEST(a_moment_can_ask_every_data_layer_to_shuffle)
{
    const char *db = make_db("lmdb", "db", 20, 1, 1, 1);
    rig_t       own, asked;

    CHECK_OK(rig_open(&own, shuffled_layer(db, 20, ""), CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_open(&asked, data_layer(db, 20, ""), CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_forward(&own));
    CHECK_OK(rig_forward(&asked));
    CHECK_EQ(rig_top(&asked, 1)[7], 7);
    asked.moment.shuffle = true;
    CHECK_OK(rig_forward(&asked));
    CHECK(memcmp(rig_top(&own, 1), rig_top(&asked, 1), 20 * sizeof(float)) == 0);
    rig_close(&own);
    rig_close(&asked);
}

TEST(bvlc_s_rule_deals_records_out_to_workers_one_by_one)
{
    const char *text = data_layer(make_db("lmdb", "db", 12, 1, 1, 1), 2, "");
    rig_t       r;

    CHECK_OK(rig_open(&r, text, CAFFE__PHASE__TRAIN));
    r.moment.rule  = FIRE_BATCH_PER_WORKER;
    r.moment.lanes = 3;
    r.moment.lane  = 1;
    r.moment.step  = 1;
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(rig_top(&r, 1)[0], 7);
    CHECK_EQ(rig_top(&r, 1)[1], 10);
    rig_close(&r);
}

TEST(the_label_top_can_be_left_out)
{
    rig_t r;

    CHECK_OK(rig_open(&r,
                      format("name: 'd' type: 'Data' top: 'data' data_param { source: "
                             "'%s' batch_size: 2 backend: LMDB }",
                             make_db("lmdb", "db", 3, 1, 2, 2)),
                      CAFFE__PHASE__TEST));
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(rig_top(&r, 0)[4], 7);
    rig_close(&r);
}

static const char *mixed_sizes(void)
{
    const char    *path = tmp_path("mixed");
    fire_writer_t *w;

    CHECK_OK(fire_writer_open("lmdb", path, &w));
    put_raw(w, "a", 0, 1, 4, 4, 0);
    put_raw(w, "b", 1, 1, 5, 6, 1);
    CHECK_OK(fire_writer_commit(w));
    return path;
}

TEST(with_batch_size_1_every_record_may_have_its_own_shape)
{
    rig_t r;

    CHECK_OK(rig_open(&r, data_layer(mixed_sizes(), 1, ""), CAFFE__PHASE__TEST));
    r.moment.step = 1;
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(fire_blob_dims(r.top[0])[2], 5);
    CHECK_EQ(fire_blob_dims(r.top[0])[3], 6);
    CHECK_EQ(rig_top(&r, 0)[29], 7 + 29);
    rig_close(&r);
}

TEST(in_a_larger_batch_another_shape_is_an_error_that_names_the_record)
{
    rig_t r;

    CHECK_OK(rig_open(&r, data_layer(mixed_sizes(), 2, ""), CAFFE__PHASE__TEST));
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID, "record \"b\"");
    rig_close(&r);
}

TEST(a_corrupt_record_is_an_error_that_names_file_and_key)
{
    const char    *path = tmp_path("corrupt");
    fire_writer_t *w;
    rig_t          r;

    CHECK_OK(fire_writer_open("lmdb", path, &w));
    put_raw(w, "0", 0, 1, 4, 4, 0);
    put_raw(w, "1", 1, 1, 4, 4, 1);
    CHECK_OK(fire_writer_put(w, "2", "\x08\x01\x22\x7f",
                             4)); /* 127 bytes that are not there */
    CHECK_OK(fire_writer_commit(w));
    CHECK_OK(rig_open(&r, data_layer(path, 2, ""), CAFFE__PHASE__TEST));
    CHECK_OK(rig_forward(&r));
    r.moment.step = 1;
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_PARSE, "corrupt, record \"2\"");
    r.moment.step = 0;
    CHECK_OK(rig_forward(&r)); /* the layer still works */
    rig_close(&r);
}

TEST(settings_that_cannot_work_are_refused_with_advice)
{
    const char *db    = make_db("lmdb", "db", 2, 3, 4, 4);
    const char *large = make_db("lmdb", "large", 1, 3, 99, 99);
    rig_t       r;

    CHECK_FAILS(rig_open(&r, "name: 'd' type: 'Data' top: 'x'", CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "source");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, data_layer(db, 0, ""), CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "batch_size");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, data_layer(large, 2000000000, ""), CAFFE__PHASE__TEST),
                FIRE_ERR_NOMEM, "use a smaller batch_size");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, data_layer(db, 1, "transform_param { crop_size: 5 }"),
                         CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "crop_size 5 is larger");
    rig_close(&r);
    CHECK_FAILS(
        rig_open(&r,
                 data_layer(db, 1, "transform_param { mean_value: 1 mean_value: 2 }"),
                 CAFFE__PHASE__TEST),
        FIRE_ERR_INVALID, "2 mean_values");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, data_layer("/nowhere", 1, ""), CAFFE__PHASE__TEST),
                FIRE_ERR_IO, "/nowhere");
    rig_close(&r);
}

TEST(nothing_is_allocated_once_the_pipeline_is_warm)
{
    rig_t   r;
    int64_t before;

    CHECK_OK(rig_open(&r, data_layer(make_db("lmdb", "db", 50, 3, 8, 8), 7, ""),
                      CAFFE__PHASE__TRAIN));
    for (; r.moment.step < 20; r.moment.step++)
        CHECK_OK(rig_forward(&r));
    before = fire_alloc_count();
    for (; r.moment.step < 60; r.moment.step++)
        CHECK_OK(rig_forward(&r));
    CHECK_EQ(fire_alloc_count(), before);
    rig_close(&r);
}

TEST(when_an_allocation_fails_the_layer_says_so_and_leaks_nothing)
{
    (void)test_ctx(); /* a GPU is opened while there is memory */

    const char *text = data_layer(make_db("lmdb", "db", 8, 1, 3, 3), 4, "");

    for (int n = 1; n < 40; n++) {
        rig_t         r;
        fire_status_t st;

        fire_alloc_fail_at(n);
        st = rig_open(&r, text, CAFFE__PHASE__TRAIN);
        if (st == FIRE_OK) st = rig_forward(&r);
        fire_alloc_fail_at(0);
        CHECK(st == FIRE_OK || st == FIRE_ERR_NOMEM);
        if (st == FIRE_OK) CHECK_EQ(rig_top(&r, 1)[3], 3);
        rig_close(&r);
    }
}

/* Two rows of (2, 3, 4) pixels and labels 0 ... 4 of 5, mixed. */
TEST(mixup_gives_labels_that_tell_how_much_of_each_image_there_is)
{
    rig_t r;
    int   mixed = 0;

    CHECK_OK(
        rig_open(&r,
                 data_layer(make_db("lmdb", "db", 5, 2, 3, 4), 4,
                            "transform_param { augment_param { mixup: 1 classes: 5 "
                            "} }"),
                 CAFFE__PHASE__TRAIN));
    CHECK_EQ(fire_blob_dims(r.top[1])[1], 5);
    for (r.moment.step = 0; r.moment.step < 20; r.moment.step++) {
        CHECK_OK(rig_forward(&r));
        for (int i = 0; i < 4; i++) {
            const float *label = rig_top(&r, 1) + i * 5;
            float        sum = 0, pixel = 0;

            for (int c = 0; c < 5; c++) {
                sum += label[c];
                pixel += label[c] * (float)(c * 7);
            }
            CHECK_NEAR(sum, 1, 1e-6);
            CHECK_NEAR(rig_top(&r, 0)[i * 24], pixel, 1e-4); /* pixel 0 is 7 * label */
            mixed += label[(r.moment.step * 4 + i) % 5] < 0.99f;
        }
    }
    CHECK(mixed > 40);
    rig_close(&r);
}

TEST(mixup_in_a_lane_of_one_image_is_refused)
{
    rig_t r;

    CHECK_FAILS(
        rig_open(&r,
                 data_layer(make_db("lmdb", "db", 5, 2, 3, 4), 1,
                            "transform_param { augment_param { mixup: 1 classes: "
                            "5 } }"),
                 CAFFE__PHASE__TRAIN),
        FIRE_ERR_INVALID, "mixup needs at least two images in a lane");
    rig_close(&r);
}

TEST(a_label_beyond_the_classes_of_mixup_is_an_error)
{
    rig_t r;

    CHECK_OK(
        rig_open(&r,
                 data_layer(make_db("lmdb", "db", 5, 2, 3, 4), 4,
                            "transform_param { augment_param { mixup: 1 classes: 3 "
                            "} }"),
                 CAFFE__PHASE__TRAIN));
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID,
                "label 3 is none of the 3 classes of augment_param");
    rig_close(&r);
}
