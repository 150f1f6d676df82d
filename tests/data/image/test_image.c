/* Decoding, encoding and resizing images. Tests src/data/image/. */
#include "data/image/image.h"

#include <stdlib.h>

#include "test.h"

/* A smooth picture, interleaved: so that JPEG keeps it nearly as it is. */
static fire_pixels_t picture(uint8_t *bytes, int channels, int height, int width)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < channels; c++)
                *bytes++ = (uint8_t)(40 + 3 * x + 2 * y + 30 * c);
    bytes -= channels * height * width;
    return fire_pixels_interleaved(bytes, (fire_extent_t){channels, height, width});
}

static fire_status_t decode(const fire_str_t *file, fire_color_t color,
                            fire_buffer_t *b, fire_pixels_t *p)
{
    return fire_image_decode((const uint8_t *)file->text, (size_t)file->n, color, b, p);
}

static int worst(const fire_pixels_t *a, const fire_pixels_t *b)
{
    int most = 0;

    CHECK(fire_extent_equal(a->extent, b->extent));
    for (int64_t i = 0; i < fire_extent_count(a->extent); i++) {
        int diff = abs(a->bytes[i] - b->bytes[i]);

        if (diff > most) most = diff;
    }
    return most;
}

static const char *const kinds[] = {"png", "jpg"};

static bool have(int kind)
{
#ifndef FIRE_HAVE_PNG
    if (kind == 0) return false;
#endif
#ifndef FIRE_HAVE_JPEG
    if (kind == 1) return false;
#endif
    return kind < 2;
}

TEST(an_image_survives_png_exactly_and_jpeg_nearly)
{
    static const int allowed[] = {0, 6};
    uint8_t          bytes[3 * 13 * 11];

    for (int k = 0; k < 2; k++)
        for (int channels = 1; have(k) && channels <= 3; channels += 2) {
            fire_pixels_t in   = picture(bytes, channels, 13, 11), out;
            fire_str_t    file = {0};
            fire_buffer_t b    = {0};

            CHECK_OK(fire_image_encode(&in, kinds[k], &file));
            CHECK_OK(decode(&file, FIRE_COLOR_ASIS, &b, &out));
            CHECK(worst(&in, &out) <= allowed[k]);
            fire_str_fini(&file);
            fire_buffer_fini(&b);
        }
}

TEST(colour_becomes_grey_and_grey_becomes_colour_on_request)
{
    uint8_t bytes[3 * 13 * 11];

    for (int k = 0; k < 2; k++)
        for (int channels = 1; have(k) && channels <= 3; channels += 2) {
            fire_pixels_t in   = picture(bytes, channels, 13, 11), out;
            fire_str_t    file = {0};
            fire_buffer_t b    = {0};

            CHECK_OK(fire_image_encode(&in, kinds[k], &file));
            CHECK_OK(decode(&file, FIRE_COLOR_GRAY, &b, &out));
            CHECK_EQ(out.extent.channels, 1);
            CHECK_NEAR(out.bytes[0], channels == 1 ? 40 : 40 + .587 * 30 + .299 * 60,
                       4);
            CHECK_OK(decode(&file, FIRE_COLOR_BGR, &b, &out));
            CHECK_EQ(out.extent.channels, 3);
            CHECK_NEAR(out.bytes[2], channels == 1 ? 40 : 100, 6);
            fire_str_fini(&file);
            fire_buffer_fini(&b);
        }
}

TEST(a_file_cut_anywhere_is_an_error_and_no_crash)
{
    uint8_t       bytes[3 * 13 * 11];
    fire_pixels_t in = picture(bytes, 3, 13, 11), out;
    fire_buffer_t b  = {0};

    for (int k = 0; have(k); k++) {
        fire_str_t file = {0};
        int64_t    n;

        CHECK_OK(fire_image_encode(&in, kinds[k], &file));
        n = file.n;
        for (file.n = 0; file.n < n - 2; file.n++)
            CHECK_FAILS(decode(&file, FIRE_COLOR_BGR, &b, &out), FIRE_ERR_PARSE, "");
        fire_str_fini(&file);
    }
    fire_buffer_fini(&b);
}

TEST(what_is_no_image_or_absurdly_large_is_refused)
{
    const uint8_t text[] = "hello", large[] = "P6 99999 99999 255\n";
    fire_buffer_t b = {0};
    fire_pixels_t p;

    CHECK_FAILS(fire_image_decode(text, 5, FIRE_COLOR_BGR, &b, &p), FIRE_ERR_PARSE,
                "not an image");
    CHECK_FAILS(fire_image_decode(text, 0, FIRE_COLOR_BGR, &b, &p), FIRE_ERR_PARSE,
                "not an image");
    CHECK_FAILS(fire_image_decode(large, sizeof(large), FIRE_COLOR_BGR, &b, &p),
                FIRE_ERR_PARSE, "99999 x 99999");
    p = fire_pixels_interleaved(text, (fire_extent_t){3, 1, 1});
    CHECK_FAILS(fire_image_resize(&p, INT32_MAX, INT32_MAX, &b, &p), FIRE_ERR_PARSE,
                "is empty or too large");
}

TEST(pnm_files_are_read)
{
    const uint8_t color[] = "P6\n# a comment\n2 1\n255\nRGBrgb";
    const uint8_t gray[]  = "P5 2 1 255 yz";
    fire_buffer_t b       = {0};
    fire_pixels_t p;

    CHECK_OK(fire_image_decode(color, sizeof(color) - 1, FIRE_COLOR_ASIS, &b, &p));
    CHECK(p.extent.channels == 3 && p.extent.width == 2 && p.extent.height == 1);
    CHECK(memcmp(p.bytes, "BGRbgr", 6) == 0);
    CHECK_OK(fire_image_decode(gray, sizeof(gray) - 1, FIRE_COLOR_BGR, &b, &p));
    CHECK(memcmp(p.bytes, "yyyzzz", 6) == 0);
    CHECK_FAILS(fire_image_decode(color, sizeof(color) - 2, FIRE_COLOR_ASIS, &b, &p),
                FIRE_ERR_PARSE, "ends early");
    fire_buffer_fini(&b);
}

/* 2 x 2 pixels, bottom line first, lines padded to 4 bytes. */
TEST(bmp_files_are_read)
{
    uint8_t       file[54 + 16] = "BM";
    fire_buffer_t b             = {0};
    fire_pixels_t p;

    file[10] = 54, file[14] = 40, file[18] = 2, file[22] = 2, file[26] = 1;
    file[28] = 24;
    memcpy(file + 54, "defghi..BGRabc..", 16);
    CHECK_OK(fire_image_decode(file, sizeof(file), FIRE_COLOR_ASIS, &b, &p));
    CHECK(p.extent.width == 2 && p.extent.height == 2);
    CHECK(memcmp(p.bytes, "BGRabcdefghi", 12) == 0);
    CHECK_FAILS(fire_image_decode(file, sizeof(file) - 1, FIRE_COLOR_ASIS, &b, &p),
                FIRE_ERR_PARSE, "damaged");
    fire_buffer_fini(&b);
}

TEST(resizing_keeps_a_flat_image_flat_and_a_ramp_a_ramp)
{
    uint8_t       bytes[3 * 16 * 16];
    fire_pixels_t in = picture(bytes, 3, 16, 16), out;
    fire_buffer_t b  = {0};

    CHECK_OK(fire_image_resize(&in, 32, 32, &b, &out));
    for (int y = 1; y < 31; y++)
        for (int x = 1; x < 31; x++)
            CHECK_NEAR(out.bytes[(y * 32 + x) * 3],
                       40 + 3 * (x - .5) / 2 + 2 * (y - .5) / 2, 1);
    memset(bytes, 200, sizeof(bytes));
    CHECK_OK(fire_image_resize(&in, 7, 29, &b, &out));
    for (int i = 0; i < 3 * 7 * 29; i++)
        CHECK(out.bytes[i] >= 199 && out.bytes[i] <= 200);
    fire_buffer_fini(&b);
}

/* The row behind the last one, which is not the image's, is white. */
TEST(resizing_an_image_of_millions_of_rows_stays_inside)
{
    const int     height = (1 << 24) + 2;
    uint8_t      *bytes  = calloc((size_t)height + 1, 1);
    fire_pixels_t in = fire_pixels_interleaved(bytes, (fire_extent_t){1, height, 1});
    fire_pixels_t out;
    fire_buffer_t b = {0};

    bytes[height] = 255;
    CHECK_OK(fire_image_resize(&in, height + 1, 1, &b, &out));
    CHECK_EQ(out.bytes[height], 0);
    fire_buffer_fini(&b);
    free(bytes);
}

TEST(halving_averages_four_pixels)
{
    const uint8_t four[] = {10, 20, 30, 41};
    fire_pixels_t in     = fire_pixels_interleaved(four, (fire_extent_t){1, 2, 2}), out;
    fire_buffer_t b      = {0};

    CHECK_OK(fire_image_resize(&in, 1, 1, &b, &out));
    CHECK_EQ(out.bytes[0], (10 + 20 + 30 + 41 + 2) / 4);
    fire_buffer_fini(&b);
}

static void filtered_is(fire_filter_t filter, int width, const uint8_t *line, int to,
                        const uint8_t *want)
{
    fire_pixels_t in = fire_pixels_interleaved(line, (fire_extent_t){1, 1, width}), out;
    fire_buffer_t b  = {0};

    CHECK_OK(fire_image_filter(filter, &in, 1, to, &b, &out));
    CHECK_EQ(out.extent.width, to);
    for (int i = 0; i < to; i++)
        CHECK_EQ(out.bytes[i], want[i]);
    fire_buffer_fini(&b);
}

TEST(other_filters_give_opencvs_pixels)
{
    static const uint8_t three[] = {0, 30, 90}, two[] = {0, 100}, flat[] = {7, 7, 7};

    filtered_is(FIRE_FILTER_AREA, 3, three, 2, (uint8_t[]){10, 70});
    filtered_is(FIRE_FILTER_AREA, 2, two, 3, (uint8_t[]){0, 50, 100});
    filtered_is(FIRE_FILTER_NEAREST, 3, three, 5, (uint8_t[]){0, 0, 30, 30, 90});
    filtered_is(FIRE_FILTER_CUBIC, 3, three, 3, three);
    filtered_is(FIRE_FILTER_LANCZOS4, 3, three, 3, three);
    for (int f = FIRE_FILTER_LINEAR; f <= FIRE_FILTER_LANCZOS4; f++)
        filtered_is((fire_filter_t)f, 3, flat, 7, (uint8_t[]){7, 7, 7, 7, 7, 7, 7});
}
