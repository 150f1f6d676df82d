/* AnnotatedData: boxes follow what happens to the image. Tests
 * src/data/transform/augment.c, src/data/transform/distort.c and src/data/transform/fit.c
 * too. */
#include "data/transform/augment.h"
#include "data/transform/distort.h"
#include "model/message.h"
#include "rig.h"

#include <stdlib.h>

enum { SIDE = 64, PLANE = SIDE * SIDE };

/* Record i: 64 x 64, 3 channels; the object is a bright square of 16 x 16 at (16, 32),
 * with label i + 1; record 2 has none. */
static const char *make_annotated(int n)
{
    const char    *path = tmp_path("boxes");
    fire_writer_t *w;

    CHECK_OK(fire_writer_open("lmdb", path, &w));
    for (int i = 0; i < n; i++) {
        static uint8_t         pixels[3 * PLANE], packed[3 * PLANE + 1024];
        Caffe__Datum           datum = CAFFE__DATUM__INIT;
        Caffe__NormalizedBBox  box   = CAFFE__NORMALIZED_BBOX__INIT;
        Caffe__Annotation      one = CAFFE__ANNOTATION__INIT, *ones = &one;
        Caffe__AnnotationGroup group = CAFFE__ANNOTATION_GROUP__INIT, *groups = &group;
        Caffe__AnnotatedDatum  record = CAFFE__ANNOTATED_DATUM__INIT;
        char                   key[16];

        for (int k = 0; k < 3 * PLANE; k++) {
            int x = k % SIDE, y = k % PLANE / SIDE;

            pixels[k] = x >= 16 && x < 32 && y >= 32 && y < 48 ? 200 : 0;
        }
        datum.has_channels = datum.has_height = datum.has_width = datum.has_data = true;
        datum.channels                                                           = 3;
        datum.height = datum.width = SIDE;
        datum.data                 = (ProtobufCBinaryData){sizeof(pixels), pixels};
        box.has_xmin = box.has_ymin = box.has_xmax = box.has_ymax = true;
        box.xmin = 2 / 8.0f, box.xmax = 4 / 8.0f, box.ymin = 4 / 8.0f,
        box.ymax              = 6 / 8.0f;
        one.bbox              = &box;
        group.has_group_label = true;
        group.group_label     = i + 1;
        group.n_annotation    = 1;
        group.annotation      = &ones;
        record.datum          = &datum;
        record.has_type       = true;
        if (i != 2) {
            record.n_annotation_group = 1;
            record.annotation_group   = &groups;
        }
        snprintf(key, sizeof(key), "%08d", i);
        CHECK_OK(fire_writer_put(w, key, packed,
                                 caffe__annotated_datum__pack(&record, packed)));
    }
    CHECK_OK(fire_writer_commit(w));
    return path;
}

static const char *layer(const char *db, int batch, const char *more)
{
    return format(
        "name: 'd' type: 'AnnotatedData' top: 'data' top: 'label' data_param { "
        "source: '%s' backend: LMDB batch_size: %d } %s",
        db, batch, more);
}

static void row_is(const float *row, const float *want)
{
    for (int k = 0; k < 8; k++)
        CHECK_NEAR(row[k], want[k], 1e-6);
}

TEST(every_object_of_a_batch_is_a_row_of_the_label)
{
    rig_t r;

    CHECK_OK(rig_open(&r, layer(make_annotated(3), 3, ""), CAFFE__PHASE__TEST));
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(fire_blob_count(r.top[0]), 3 * 3 * PLANE);
    CHECK_EQ(fire_blob_count(r.top[1]), 2 * 8);
    row_is(rig_top(&r, 1), (float[]){0, 1, 0, 0.25f, 0.5f, 0.5f, 0.75f, 0});
    row_is(rig_top(&r, 1) + 8, (float[]){1, 2, 0, 0.25f, 0.5f, 0.5f, 0.75f, 0});
    CHECK_NEAR(rig_top(&r, 0)[32 * SIDE + 16], 200, 0);
    rig_close(&r);
}

TEST(labels_for_yolo_have_300_rows_for_each_image)
{
    rig_t r;

    CHECK_OK(rig_open(
        &r,
        layer(make_annotated(3), 3,
              "annotated_data_param { yolo_data_type: 1 yolo_data_jitter: 0 }"),
        CAFFE__PHASE__TEST));
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(fire_blob_count(r.top[1]), 3 * 300 * 5);
    for (int image = 0; image < 3; image++) {
        const float *row     = rig_top(&r, 1) + image * 300 * 5;
        const float  want[6] = {(float)image, 0.375f, 0.625f, 0.25f, 0.25f, 0};

        for (int k = 0; k < 6; k++) /* the third record has none */
            CHECK_NEAR(row[k], image < 2 ? want[k] : 0, 1e-6);
    }
    rig_close(&r);
}

TEST(a_batch_without_objects_says_so)
{
    rig_t r;

    CHECK_OK(rig_open(&r, layer(make_annotated(3), 1, ""), CAFFE__PHASE__TEST));
    r.moment.step = 2;
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(fire_blob_count(r.top[1]), 8);
    CHECK_NEAR(rig_top(&r, 1)[0], -1, 0);
    rig_close(&r);
}

/* The bright square lies where the box says, whatever was done to the image. */
static void box_fits_square(rig_t *r, double slack)
{
    const float *x = rig_top(r, 0), *label = rig_top(r, 1);
    int          h = (int)r->top[0]->dim[2], w = (int)r->top[0]->dim[3];
    double       xs = 0, ys = 0, n = 0;

    if (label[0] < 0) return;
    for (int i = 0; i < h * w; i++)
        if (x[i] > 100) {
            xs += i % w + 0.5;
            ys += i / w + 0.5;
            n++;
        }
    CHECK(n > 0);
    CHECK_NEAR(xs / n / w, (label[3] + label[5]) / 2, slack);
    CHECK_NEAR(ys / n / h, (label[4] + label[6]) / 2, slack);
}

TEST(boxes_follow_mirrors_windows_canvases_and_sizes)
{
    static const char *const how[] = {
        "transform_param { mirror: true }",
        "annotated_data_param { yolo_data_jitter: 0.4 } transform_param { resize_param "
        "{ "
        "height: 64 width: 64 } }",
        "transform_param { mirror: true resize_param { height: 16 width: 24 } }",
        "transform_param { expand_param { max_expand_ratio: 3 } resize_param { height: "
        "32 "
        "width: 96 } mean_value: 20 mean_value: 10 mean_value: 0 }",
        "transform_param { resize_param { height: 64 width: 64 } } "
        "annotated_data_param { "
        "batch_sampler { sampler { min_scale: 0.6 max_scale: 1 min_aspect_ratio: 0.5 "
        "max_aspect_ratio: 2 } sample_constraint { min_object_coverage: 1 } "
        "max_sample: 1 "
        "} }",
        "transform_param { mirror: true resize_param { height: 32 width: 48 "
        "resize_mode: FIT_LARGE_SIZE_AND_PAD interp_mode: LINEAR interp_mode: AREA "
        "interp_mode: NEAREST interp_mode: CUBIC interp_mode: LANCZOS4 } }",
        "transform_param { mirror: true resize_param { height: 24 width: 32 "
        "resize_mode: FIT_SMALL_SIZE } }"};
    const char *db = make_annotated(1);

    for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
        rig_t  r;
        double least = 1, most = 0;

        CHECK_OK(rig_open(&r, layer(db, 1, how[i]), CAFFE__PHASE__TRAIN));
        for (r.moment.step = 0; r.moment.step < 40; r.moment.step++) {
            CHECK_OK(rig_forward(&r));
            box_fits_square(&r, 0.04);
            least = fmin(least, rig_top(&r, 1)[3]);
            most  = fmax(most, rig_top(&r, 1)[3]);
        }
        CHECK(most > least + 0.1); /* it is random */
        rig_close(&r);
    }
}

TEST(objects_outside_of_the_window_are_left_out)
{
    fire_annotation_t     object[] = {{1, 0, false, {0.1f, 0.1f, 0.3f, 0.3f}},
                                      {2, 0, false, {0.4f, 0.4f, 0.9f, 0.9f}}};
    Caffe__EmitConstraint center   = CAFFE__EMIT_CONSTRAINT__INIT;
    int64_t               n        = 2;

    fire_augment_objects(&center, (fire_bbox_t){0, 0, 0.5f, 0.5f}, object, &n);
    CHECK_EQ(n, 1);
    CHECK_EQ(object[0].label, 1);
    CHECK_NEAR(object[0].box.xmin, 0.2, 1e-6);
    object[0].box = (fire_bbox_t){0.4f, 0.4f, 0.9f, 0.9f};
    fire_augment_objects(NULL, (fire_bbox_t){0, 0, 0.5f, 0.5f}, object, &n);
    CHECK_EQ(n, 1);
    CHECK_NEAR(object[0].box.xmax, 1, 1e-6); /* clipped */
}

TEST(distortion_changes_what_it_names_and_nothing_else)
{
    Caffe__DistortionParameter p     = CAFFE__DISTORTION_PARAMETER__INIT;
    fire_draw_t                draw  = fire_draw(1, 2, 3);
    uint8_t                    x[6]  = {10, 100, 200, 50, 50, 50};
    const uint8_t              was[] = {10, 100, 200, 50, 50, 50};

    fire_distort(&p, &draw, x, 2);
    CHECK(memcmp(x, was, sizeof(x)) == 0);
    p.hue_prob = p.saturation_prob = 1;
    p.saturation_lower = p.saturation_upper = 1; /* through HSV and back */
    fire_distort(&p, &draw, x, 2);
    for (int i = 0; i < 6; i++)
        CHECK(abs(x[i] - was[i]) <= 1);
    p.saturation_lower = p.saturation_upper = 0;
    fire_distort(&p, &draw, x, 2);
    CHECK_EQ(x[0], x[2]); /* grey */
    p                = (Caffe__DistortionParameter)CAFFE__DISTORTION_PARAMETER__INIT;
    p.contrast_prob  = 1;
    p.contrast_lower = p.contrast_upper = 2;
    fire_distort(&p, &draw, x + 3, 1);
    CHECK_EQ(x[3], 100);
}

/* One record of `n` bytes that claims to be channels x 8 x width. */
static const char *make_odd(const char *name, int channels, int width, size_t n)
{
    static uint8_t        pixels[1024], packed[2048];
    const char           *path   = tmp_path(name);
    Caffe__Datum          datum  = CAFFE__DATUM__INIT;
    Caffe__AnnotatedDatum record = CAFFE__ANNOTATED_DATUM__INIT;
    fire_writer_t        *w;

    datum.has_channels = datum.has_height = datum.has_width = datum.has_data = true;
    datum.channels                                                           = channels;
    datum.height                                                             = 8;
    datum.width                                                              = width;
    datum.data   = (ProtobufCBinaryData){n, pixels};
    record.datum = &datum;
    CHECK_OK(fire_writer_open("lmdb", path, &w));
    CHECK_OK(fire_writer_put(w, "odd", packed,
                             caffe__annotated_datum__pack(&record, packed)));
    CHECK_OK(fire_writer_commit(w));
    return path;
}

TEST(annotated_images_of_an_odd_size_are_refused_by_record)
{
    rig_t r;

    CHECK_FAILS(
        rig_open(&r, layer(make_odd("a", 3, 8, 100), 1, ""), CAFFE__PHASE__TEST),
        FIRE_ERR_PARSE, "record \"odd\": damaged Datum: 3 x 8 x 8 with 100");
    rig_close(&r);
    CHECK_FAILS(
        rig_open(&r, layer(make_odd("b", -4, -2, 64), 1, ""), CAFFE__PHASE__TEST),
        FIRE_ERR_PARSE, "damaged Datum: -4 x 8 x -2");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, layer(make_odd("c", 3, 8, 0), 1, ""), CAFFE__PHASE__TEST),
                FIRE_ERR_PARSE, "damaged Datum: 3 x 8 x 8 with 0");
    rig_close(&r);
}

/* As OpenCV fills a border: rounded, and no lower or higher than a byte is. */
TEST(padding_is_the_nearest_byte)
{
    rig_t r;

    CHECK_OK(rig_open(
        &r,
        layer(make_annotated(1), 1,
              "transform_param { resize_param { height: 64 width: 128 resize_mode: "
              "FIT_LARGE_SIZE_AND_PAD pad_value: 300 pad_value: -5 pad_value: 117.6 } "
              "}"),
        CAFFE__PHASE__TEST));
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(rig_top(&r, 0)[0], 255);
    CHECK_EQ(rig_top(&r, 0)[64 * 128], 0);
    CHECK_EQ(rig_top(&r, 0)[2 * 64 * 128], 118);
    rig_close(&r);
}

/* Values for three channels must not be looked up for a fifth. */
TEST(values_per_channel_are_refused_for_other_channels)
{
    const char *db = make_odd("five", 5, 8, 5 * 64);
    rig_t       r;

    CHECK_FAILS(rig_open(&r,
                         layer(db, 1,
                               "transform_param { mean_value: 1 mean_value: 2 "
                               "mean_value: 3 expand_param { max_expand_ratio: 3 } }"),
                         CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "3 mean_values for an image with 5 channels");
    rig_close(&r);
    CHECK_OK(rig_open(
        &r,
        layer(db, 1,
              "transform_param { resize_param { height: 8 width: 16 resize_mode: "
              "FIT_LARGE_SIZE_AND_PAD pad_value: 1 pad_value: 2 pad_value: 3 } }"),
        CAFFE__PHASE__TEST));
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID,
                "3 values of pad_value for an image with 5 channels");
    rig_close(&r);
}

TEST(samplers_that_cannot_draw_a_window_are_refused)
{
    static const char *const wrong[][2] = {
        {"min_scale: 0", "min_scale and max_scale"},
        {"max_scale: 1.5", "min_scale and max_scale"},
        {"min_scale: 0.9 max_scale: 0.3", "they are 0.9 and 0.3"},
        {"min_scale: nan", "min_scale and max_scale"},
        {"min_aspect_ratio: 0", "min_aspect_ratio and max_aspect_ratio"},
        {"max_aspect_ratio: inf", "they are 1 and inf"}};
    const char *db = make_annotated(1);
    rig_t       r;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        CHECK_FAILS(
            rig_open(&r,
                     layer(db, 1,
                           format("annotated_data_param { batch_sampler { sampler { "
                                  "%s } } }",
                                  wrong[i][0])),
                     CAFFE__PHASE__TRAIN),
            FIRE_ERR_INVALID, wrong[i][1]);
        rig_close(&r);
    }
    CHECK_FAILS(rig_open(&r,
                         layer(db, 1,
                               "transform_param { expand_param { max_expand_ratio: inf "
                               "} }"),
                         CAFFE__PHASE__TRAIN),
                FIRE_ERR_INVALID, "max_expand_ratio inf is too large");
    rig_close(&r);
}

TEST(annotated_data_refuses_what_it_cannot_do)
{
    const char *db = make_annotated(1);
    rig_t       r;

    CHECK_FAILS(
        rig_open(&r, "name: 'd' type: 'AnnotatedData' top: 'data'", CAFFE__PHASE__TEST),
        FIRE_ERR_INVALID, "source");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, layer(db, 1, "transform_param { crop_size: 4 }"),
                         CAFFE__PHASE__TEST),
                FIRE_ERR_UNSUPPORTED, "crop_size would cut objects");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r,
                         layer(db, 1, "transform_param { resize_param { height: 4 } }"),
                         CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "needs a height and a width");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r,
                         layer(db, 1,
                               "transform_param { resize_param { height: 4 width: 4 "
                               "pad_value: 1 pad_value: 2 } }"),
                         CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "2 values of pad_value");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, layer(make_db("lmdb", "plain", 1, 1, 4, 4), 1, ""),
                         CAFFE__PHASE__TEST),
                FIRE_ERR_PARSE, "record");
    rig_close(&r);
}
