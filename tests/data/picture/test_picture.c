/* Pictures as classify.py and detect.py load, resize and crop them. */
#include "data/picture/picture.h"

#include "base/file.h"
#include "test.h"

static fire_picture_t made(int height, int width, int channels, const float *value)
{
    fire_picture_t p;

    CHECK_OK(fire_picture_create(height, width, channels, &p));
    memcpy(p.value, value, (size_t)fire_picture_count(&p) * sizeof(*value));
    return p;
}

static const char *ppm(const void *bytes, size_t n)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/image.ppm", test_tmpdir());
    CHECK_OK(fire_file_write(path, bytes, n));
    return path;
}

TEST(a_file_becomes_red_green_blue_from_0_to_1)
{
    fire_picture_t p;

    CHECK_OK(fire_picture_load(ppm("P6 2 1 255\n\xFF\0\x33\0\0\xFF", 17), 3, &p));
    CHECK_EQ(p.height, 1);
    CHECK_EQ(p.width, 2);
    CHECK_EQ(p.channels, 3);
    CHECK_NEAR(p.value[0], 1.0, 0.0);
    CHECK_NEAR(p.value[1], 0.0, 0.0);
    CHECK_NEAR(p.value[2], 0.2, 1e-7);
    CHECK_NEAR(p.value[5], 1.0, 0.0);
    fire_picture_fini(&p);
}

TEST(a_grey_file_has_three_like_channels_where_colours_are_wanted)
{
    fire_picture_t p;
    const char    *path = ppm("P5 1 1 255\n\x33", 12);

    CHECK_OK(fire_picture_load(path, 3, &p));
    CHECK_NEAR(p.value[0], 0.2, 1e-7);
    CHECK_NEAR(p.value[2], 0.2, 1e-7);
    fire_picture_fini(&p);
    CHECK_OK(fire_picture_load(path, 1, &p));
    CHECK_EQ(p.channels, 1);
    fire_picture_fini(&p);
}

TEST(what_is_no_image_is_named)
{
    fire_picture_t p;

    CHECK_FAILS(fire_picture_load("missing.jpg", 3, &p), FIRE_ERR_IO, "missing.jpg");
    CHECK_FAILS(fire_picture_load(ppm("hello", 5), 3, &p), FIRE_ERR_PARSE, "image.ppm");
}

TEST(a_picture_keeps_its_values_at_its_own_size)
{
    static const float value[] = {0.1f, 0.9f, 0.4f, 0.3f, 0.8f, 0.6f};
    fire_picture_t     p       = made(2, 3, 1, value), q;

    CHECK_OK(fire_picture_resize(&p, 2, 3, &q));
    CHECK(memcmp(q.value, value, sizeof(value)) == 0);
    fire_picture_fini(&p);
    fire_picture_fini(&q);
}

TEST(resizing_is_linear_and_meets_the_least_value_beyond_the_border)
{
    static const float value[] = {1, 2}; /* at -0.25, 0.25, 0.75, 1.25; 1 is least */
    static const float want[]  = {1, 1.25f, 1.75f, 1.75f};
    fire_picture_t     p       = made(1, 2, 1, value), q;

    CHECK_OK(fire_picture_resize(&p, 1, 4, &q));
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(q.value[i], want[i], 1e-7);
    fire_picture_fini(&p);
    fire_picture_fini(&q);
}

TEST(a_part_can_be_cut_out_and_mirrored)
{
    static const float value[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    static const float want[]  = {5, 4, 8, 7};
    fire_picture_t     p       = made(3, 3, 1, value), q;

    CHECK_OK(fire_picture_crop(&p, (fire_rect_t){1, 1, 3, 3}, &q));
    fire_picture_mirror(&q);
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(q.value[i], want[i], 0.0);
    fire_picture_fini(&p);
    fire_picture_fini(&q);
}
