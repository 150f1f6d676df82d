/* pnm.c - decodes binary PGM (P5, grey) and PPM (P6, RGB) with 8 bits per value. */
#include <ctype.h>
#include <string.h>

#include "data/image/image.h"

typedef struct text {
    const uint8_t *at, *end; /* next byte; one past the last */
} text_t;

/* Read a number of at most 9 digits after white space and #-comments. */
static bool read_number(text_t *t, int64_t *value_p)
{
    int64_t value = 0;
    int     digits;

    while (t->at < t->end && (isspace(*t->at) || *t->at == '#')) {
        if (*t->at == '#')
            while (t->at < t->end && *t->at != '\n')
                t->at++;
        else
            t->at++;
    }
    for (digits = 0; t->at < t->end && isdigit(*t->at) && digits < 9; digits++)
        value = 10 * value + (*t->at++ - '0');
    *value_p = value;
    return digits > 0;
}

/* Copy pixels of `from` channels (RGB or grey) to `to` channels (BGR or grey). */
static void copy_pixels(const uint8_t *src, int64_t count, int from, int to,
                        uint8_t *dst)
{
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < to; c++)
            dst[i * to + c] = src[i * from + (from == 3 ? 2 - c : 0)]; /* blue first */
}

fire_status_t fire_image_decode_pnm(const uint8_t *file, size_t n, fire_color_t color,
                                    fire_buffer_t *b, fire_pixels_t *pixels_p)
{
    text_t  t        = {file + 2, file + n};
    int     channels = file[1] == '6' ? 3 : 1;
    int     wanted   = channels == 1 && color != FIRE_COLOR_BGR ? 1 : 3;
    int64_t width, height, most;

    if (!read_number(&t, &width) || !read_number(&t, &height) ||
        !read_number(&t, &most) || most != 255 || t.at++ == t.end)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "damaged PGM or PPM, or one with more than 8 bits per value");
    FIRE_TRY(fire_image_reserve(b, 3, height, width));
    if (channels * width * height > t.end - t.at)
        return FIRE_FAIL(FIRE_ERR_PARSE, "the PGM or PPM file ends early");
    copy_pixels(t.at, width * height, channels, wanted, b->bytes);
    if (wanted == 3 && color == FIRE_COLOR_GRAY) {
        fire_image_gray(b->bytes, width * height);
        wanted = 1;
    }
    *pixels_p = fire_pixels_interleaved(
        b->bytes, (fire_extent_t){wanted, (int)height, (int)width});
    return FIRE_OK;
}
