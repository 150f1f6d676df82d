/* Shapes of blobs, and memory that is shared. */
#include "blob/blob.h"
#include "test.h"

static fire_blob_t *make(int ndim, const int64_t *dim)
{
    fire_blob_t *b;

    CHECK_OK(fire_blob_create(&b));
    CHECK_OK(fire_blob_reshape(b, ndim, dim));
    return b;
}

TEST(shrinking_keeps_values_and_growing_again_too)
{
    fire_blob_t *b = make(1, (int64_t[]){8});
    float       *p;
    const float *q;

    CHECK_OK(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &p));
    for (int i = 0; i < 8; i++)
        p[i] = (float)i;
    CHECK_OK(fire_blob_reshape(b, 2, (int64_t[]){2, 2}));
    CHECK_OK(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &q));
    CHECK(q[3] == 3);
    fire_blob_destroy(b);
}

TEST(shared_parts_are_one_memory_until_one_grows)
{
    fire_blob_t *a = make(1, (int64_t[]){4}), *b = make(2, (int64_t[]){2, 2});
    float       *p;
    const float *q;

    fire_blob_share(b, a, FIRE_DATA);
    CHECK_OK(fire_blob_write(a, FIRE_DATA, FIRE_CPU, &p));
    p[2] = 5;
    CHECK_OK(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &q));
    CHECK(q[2] == 5);
    CHECK_OK(fire_blob_reshape(b, 1, (int64_t[]){100}));
    CHECK_OK(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &p));
    p[2] = 9;
    CHECK_OK(fire_blob_read(a, FIRE_DATA, FIRE_CPU, &q));
    CHECK(q[2] == 5);
    fire_blob_destroy(a);
    fire_blob_destroy(b);
}

TEST(axes_count_from_either_end_and_wrong_ones_are_named)
{
    fire_blob_t *b = make(3, (int64_t[]){2, 3, 4});
    int          axis;

    CHECK_OK(fire_blob_axis(b, -1, "Slice", &axis));
    CHECK_EQ(axis, 2);
    CHECK_FAILS(fire_blob_axis(b, 3, "Slice", &axis), FIRE_ERR_INVALID,
                "Slice: axis 3 is out of range for shape 2 3 4 (24)");
    CHECK_EQ(fire_blob_count_range(b, 1, 3), 12);
    fire_blob_destroy(b);
}

TEST(impossible_shapes_are_refused)
{
    fire_blob_t *b = make(0, NULL);

    CHECK_EQ(fire_blob_count(b), 1);
    CHECK_FAILS(fire_blob_reshape(b, 1, (int64_t[]){-1}), FIRE_ERR_INVALID, "axis 0");
    CHECK_FAILS(fire_blob_reshape(b, 2, (int64_t[]){INT64_MAX, 4}), FIRE_ERR_INVALID,
                "axis 0 makes the blob too large");
    CHECK_FAILS(fire_blob_reshape(b, 3, (int64_t[]){0, 1L << 40, 1L << 40}),
                FIRE_ERR_INVALID, "axis 2 makes the blob too large");
    CHECK_FAILS(fire_blob_reshape(b, 33, NULL), FIRE_ERR_INVALID, "32 axes");
    fire_blob_destroy(b);
}
