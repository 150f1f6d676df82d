/* From a record or a file to pixels. */
#include "data/decode.h"

#include "base/file.h"
#include "test.h"

/* A grey PGM of 2 x 3: 10, 20, ... 60. */
static const char *write_image(void)
{
    static const uint8_t pgm[] = {'P', '5', ' ', '3', ' ', '2', ' ', '2', '5',
                                  '5', ' ', 10,  20,  30,  40,  50,  60};

    CHECK_OK(fire_file_write(test_path("a.pgm"), pgm, sizeof(pgm)));
    return test_path("a.pgm");
}

TEST(raw_bytes_of_a_datum_are_used_where_they_are)
{
    static const uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
    fire_datum_t         d        = {.channels = 1, .height = 2, .width = 3};
    fire_workspace_t     s        = {0};
    fire_pixels_t        pixels;

    d.data  = bytes;
    d.ndata = 6;
    CHECK_OK(fire_datum_decode(&d, FIRE_COLOR_ASIS, &s, &pixels));
    CHECK(pixels.bytes == bytes);
    CHECK_EQ(pixels.extent.height, 2);
    CHECK_EQ(pixels.extent.width, 3);
    fire_workspace_fini(&s);
}

TEST(an_image_file_is_read_with_the_colours_that_are_wanted)
{
    fire_workspace_t s = {0};
    fire_pixels_t    pixels;

    CHECK_OK(fire_image_file_decode(write_image(), FIRE_COLOR_GRAY, 0, 0, &s, &pixels));
    CHECK_EQ(pixels.extent.channels, 1);
    CHECK_EQ(pixels.bytes[5], 60);
    CHECK_OK(fire_image_file_decode(write_image(), FIRE_COLOR_BGR, 0, 0, &s, &pixels));
    CHECK_EQ(pixels.extent.channels, 3);
    fire_workspace_fini(&s);
}

TEST(an_image_file_is_resized_if_height_and_width_are_given)
{
    fire_workspace_t s = {0};
    fire_pixels_t    pixels;

    CHECK_OK(fire_image_file_decode(write_image(), FIRE_COLOR_GRAY, 4, 6, &s, &pixels));
    CHECK_EQ(pixels.extent.height, 4);
    CHECK_EQ(pixels.extent.width, 6);
    CHECK_OK(fire_image_file_decode(write_image(), FIRE_COLOR_GRAY, 4, 0, &s, &pixels));
    CHECK_EQ(pixels.extent.height, 2);
    fire_workspace_fini(&s);
}

TEST(a_file_that_is_missing_or_no_image_is_named)
{
    fire_workspace_t s = {0};
    fire_pixels_t    pixels;

    CHECK_FAILS(
        fire_image_file_decode("/nowhere/a.png", FIRE_COLOR_BGR, 0, 0, &s, &pixels),
        FIRE_ERR_IO, "cannot open \"/nowhere/a.png\"");
    CHECK_OK(fire_file_write(test_path("b.png"), "no image", 8));
    CHECK(fire_image_file_decode(test_path("b.png"), FIRE_COLOR_BGR, 0, 0, &s,
                                 &pixels) < 0);
    CHECK(strstr(fire_last_error(), "b.png: ") != NULL);
    fire_workspace_fini(&s);
}
