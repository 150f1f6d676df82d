/* Blobs of model files, in old and present forms. */
#include "model/blob_proto.h"

#include "model/text.h"
#include "test.h"

static Caffe__BlobProto *blob_of(const char *text)
{
    ProtobufCMessage *msg;

    CHECK_OK(
        fire_text_parse(text, strlen(text), "t", &caffe__blob_proto__descriptor, &msg));
    return (Caffe__BlobProto *)msg;
}

TEST(the_shape_is_that_of_the_shape_message)
{
    Caffe__BlobProto *b = blob_of("shape { dim: [2, 3, 0] }");
    int64_t           dim[FIRE_MAX_DIMS], count;
    int               ndim;

    CHECK_OK(fire_blob_proto_shape(b, "b", &ndim, dim, &count));
    CHECK_EQ(ndim, 3);
    CHECK_EQ(dim[1], 3);
    CHECK_EQ(count, 0);
    fire_message_free(b);
}

TEST(four_old_numbers_are_a_shape_and_win)
{
    Caffe__BlobProto *b =
        blob_of("num: 2 channels: 3 height: 4 width: 5 shape { dim: 9 }");
    int64_t dim[FIRE_MAX_DIMS], count;
    int     ndim;

    CHECK_OK(fire_blob_proto_shape(b, "b", &ndim, dim, &count));
    CHECK_EQ(ndim, 4);
    CHECK_EQ(dim[3], 5);
    CHECK_EQ(count, 120);
    fire_message_free(b);
}

TEST(impossible_shapes_are_refused)
{
    static const char *const text[] = {
        "shape { dim: [2, -3] }", "shape { dim: [4294967296, 4294967296] }", "num: -1"};
    int64_t dim[FIRE_MAX_DIMS], count;
    int     ndim;

    for (int i = 0; i < 3; i++) {
        Caffe__BlobProto *b = blob_of(text[i]);

        CHECK_FAILS(fire_blob_proto_shape(b, "layer \"x\" blob 0", &ndim, dim, &count),
                    FIRE_ERR_PARSE, "layer \"x\" blob 0: dimension");
        fire_message_free(b);
    }
}

TEST(more_than_32_dimensions_are_refused)
{
    Caffe__BlobProto *b = blob_of("shape { dim: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
                                  "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] }");
    int64_t           dim[FIRE_MAX_DIMS], count;
    int               ndim;

    CHECK_FAILS(fire_blob_proto_shape(b, "b", &ndim, dim, &count), FIRE_ERR_PARSE,
                "33 dimensions");
    fire_message_free(b);
}

TEST(old_shapes_fit_shorter_ones_with_ones_in_front)
{
    Caffe__BlobProto *old  = blob_of("num: 1 channels: 1 height: 3 width: 4"),
                     *new  = blob_of("shape { dim: [1, 1, 3, 4] }");
    const int64_t matrix[] = {3, 4}, whole[] = {1, 1, 3, 4}, other[] = {1, 2, 3, 4};
    const int64_t five[] = {1, 1, 1, 3, 4};

    CHECK(fire_blob_proto_fits(old, 2, matrix));
    CHECK(fire_blob_proto_fits(old, 4, whole));
    CHECK(!fire_blob_proto_fits(old, 4, other));
    CHECK(!fire_blob_proto_fits(old, 5, five));
    CHECK(!fire_blob_proto_fits(new, 2, matrix));
    CHECK(fire_blob_proto_fits(new, 4, whole));
    fire_message_free(old);
    fire_message_free(new);
}

TEST(values_are_read_from_floats_or_doubles)
{
    Caffe__BlobProto *b = blob_of("data: [1, 2] double_diff: [3, .1]");
    float             v[2];

    CHECK_OK(fire_blob_proto_read(b, FIRE_DATA, "b", 2, v));
    CHECK(v[0] == 1 && v[1] == 2);
    CHECK_OK(fire_blob_proto_read(b, FIRE_DIFF, "b", 2, v));
    CHECK(v[0] == 3 && v[1] == .1f);
    CHECK(fire_blob_proto_has(b, FIRE_DATA) && fire_blob_proto_has(b, FIRE_DIFF));
    fire_message_free(b);
}

TEST(another_number_of_values_than_the_shape_has_is_refused)
{
    Caffe__BlobProto *b = blob_of("data: [1, 2]");
    float             v[3];

    CHECK_FAILS(
        fire_blob_proto_read(b, FIRE_DATA, "m.caffemodel: layer \"ip\" blob 1", 3, v),
        FIRE_ERR_PARSE,
        "m.caffemodel: layer \"ip\" blob 1: 2 values, but its shape has 3");
    CHECK_FAILS(fire_blob_proto_read(b, FIRE_DIFF, "b", 3, v), FIRE_ERR_PARSE,
                "0 values");
    fire_message_free(b);
}

TEST(what_is_written_is_read_back_in_the_present_form)
{
    Caffe__BlobProto *b = blob_of(
                         "num: 1 channels: 1 height: 1 width: 1 double_data: 5"),
                     *want =
                         blob_of("shape { dim: [2, 1] } data: [7, 8] diff: [9, 10]");
    const int64_t dim[]  = {2, 1};
    const float   data[] = {7, 8}, diff[] = {9, 10};

    CHECK_OK(fire_blob_proto_set_shape(b, 2, dim));
    CHECK_OK(fire_blob_proto_write(b, FIRE_DATA, 2, data));
    CHECK_OK(fire_blob_proto_write(b, FIRE_DIFF, 2, data));
    CHECK_OK(fire_blob_proto_write(b, FIRE_DIFF, 2, diff));
    CHECK(fire_message_equal(b, want));
    fire_message_free(b);
    fire_message_free(want);
}

TEST(an_empty_blob_is_told_from_one_of_no_axes)
{
    Caffe__BlobProto *empty = blob_of(""), *scalar = blob_of("shape { } data: 1");

    CHECK(fire_blob_proto_is_empty(empty));
    CHECK(!fire_blob_proto_is_empty(scalar));
    fire_message_free(empty);
    fire_message_free(scalar);
}
