/* picture.c - thumbnails as HTML images that hold their own data. */
#include "data/check/picture.h"

#include <math.h>

enum { SIDE = 96 };

fire_status_t fire_html_text(fire_str_t *html, const char *text)
{
    for (; *text != '\0'; text++)
        FIRE_TRY(*text == '<'    ? fire_str_printf(html, "&lt;")
                 : *text == '>'  ? fire_str_printf(html, "&gt;")
                 : *text == '&'  ? fire_str_printf(html, "&amp;")
                 : *text == '\'' ? fire_str_printf(html, "&#39;")
                                 : fire_str_add(html, text, 1));
    return FIRE_OK;
}

static fire_status_t put_base64(fire_str_t *out, const uint8_t *bytes, int64_t n)
{
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (int64_t i = 0; i < n; i += 3) {
        int      rest = (int)(n - i);
        uint32_t word = (uint32_t)bytes[i] << 16 |
                        (rest > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (rest > 2 ? (uint32_t)bytes[i + 2] : 0);
        char four[4] = {digit[word >> 18], digit[word >> 12 & 63],
                        rest > 1 ? digit[word >> 6 & 63] : '=',
                        rest > 2 ? digit[word & 63] : '='};

        FIRE_TRY(fire_str_add(out, four, 4));
    }
    return FIRE_OK;
}

/* Copy 1 or 3 channels to interleaved bytes in scratch->padded; of other numbers of
 * channels the first one. */
static fire_status_t to_bytes(const fire_pixels_t *p, fire_workspace_t *scratch,
                              fire_pixels_t *out)
{
    fire_extent_t e   = p->extent;
    int           C   = e.channels == 3 ? 3 : 1;
    float         low = INFINITY, high = -INFINITY;
    uint8_t      *to;

    FIRE_TRY(fire_image_reserve(&scratch->padded, C, e.height, e.width));
    to = scratch->padded.bytes;
    for (int64_t i = 0; i < fire_extent_count(e) && p->bytes == NULL; i++) {
        low  = fminf(low, p->floats[i]);
        high = fmaxf(high, p->floats[i]);
    }
    for (int y = 0; y < e.height; y++)
        for (int x = 0; x < e.width; x++)
            for (int c = 0; c < C; c++) {
                int64_t at = y * p->step_y + x * p->step_x + c * p->step_c;

                *to++ =
                    p->bytes != NULL ? p->bytes[at]
                    : high > low
                        ? fire_image_byte(255 * (p->floats[at] - low) / (high - low))
                        : 0;
            }
    *out = fire_pixels_interleaved(scratch->padded.bytes,
                                   (fire_extent_t){C, e.height, e.width});
    return FIRE_OK;
}

/* Shrink to SIDE pixels at most. */
static fire_status_t shrink(fire_workspace_t *scratch, fire_pixels_t *p)
{
    int longest =
        p->extent.height > p->extent.width ? p->extent.height : p->extent.width;
    double scale = (double)SIDE / longest;
    int    h = (int)(p->extent.height * scale), w = (int)(p->extent.width * scale);

    if (longest <= SIDE) return FIRE_OK;
    return fire_image_filter(FIRE_FILTER_AREA, p, h > 0 ? h : 1, w > 0 ? w : 1,
                             &scratch->scaled, p);
}

fire_status_t fire_check_picture(const fire_pixels_t *pixels, const char *key,
                                 fire_workspace_t *scratch, fire_str_t *html)
{
    fire_pixels_t small;
    fire_str_t    file = {0};
    fire_status_t st;

    FIRE_TRY(to_bytes(pixels, scratch, &small));
    FIRE_TRY(shrink(scratch, &small));
    FIRE_TRY(fire_str_printf(html, "<img width='%d' height='%d' title='",
                             small.extent.width, small.extent.height));
    FIRE_TRY(fire_html_text(html, key));
    st = fire_image_encode(&small, "png", &file);
    if (st >= 0) st = fire_str_printf(html, "' src='data:image/png;base64,");
    if (st >= 0) st = put_base64(html, (const uint8_t *)file.text, (int64_t)file.n);
    fire_str_fini(&file);
    if (st < 0 && st != FIRE_ERR_UNSUPPORTED) return st;
    return fire_str_printf(html, "'>\n");
}
