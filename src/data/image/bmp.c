/* bmp.c - decodes uncompressed Windows bitmaps with 8, 24 or 32 bits per pixel. */
#include "data/image/image.h"

/* What the header tells. Numbers in the file are little-endian. */
typedef struct bitmap {
    uint32_t       offset, header; /* of the pixels in the file; bytes of the header */
    int64_t        width, height;
    int            bits;
    bool           top_down; /* the first line of the file is the top one */
    const uint8_t *palette;  /* [ncolor] of blue, green, red, 0 */
    uint32_t       ncolor;
} bitmap_t;

/* 16 and 32 bits, little-endian. */
static uint32_t u16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const uint8_t *p)
{
    return u16(p) | u16(p + 2) << 16;
}

static fire_status_t damaged(void)
{
    return FIRE_FAIL(FIRE_ERR_PARSE,
                     "damaged BMP: its header or its pixels are cut off");
}

/* Read the header of n bytes of file, and check what the rest relies on. */
static fire_status_t read_header(const uint8_t *file, size_t n, bitmap_t *bmp)
{
    int32_t height;

    if (n < 54) return damaged();
    bmp->offset = u32(file + 10);
    bmp->header = u32(file + 14);
    if (bmp->header < 40 || bmp->header > n - 14) return damaged();
    height        = (int32_t)u32(file + 22);
    bmp->width    = (int32_t)u32(file + 18);
    bmp->top_down = height < 0;
    bmp->height   = height < 0 ? -(int64_t)height : height;
    bmp->bits     = (int)u16(file + 28);
    if (u32(file + 30) != 0 || (bmp->bits != 8 && bmp->bits != 24 && bmp->bits != 32))
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "a BMP must be uncompressed, with 8, 24 or 32 bits per pixel");
    bmp->palette = file + 14 + bmp->header;
    bmp->ncolor  = u32(file + 46) == 0 ? 256 : u32(file + 46);
    if (bmp->bits == 8 &&
        (bmp->ncolor > 256 || (size_t)bmp->ncolor * 4 > n - 14 - bmp->header))
        return damaged();
    return FIRE_OK;
}

/* One line of pixels as BGR; a palette is looked up, a fourth byte dropped. */
static void copy_line(const bitmap_t *bmp, const uint8_t *src, uint8_t *dst)
{
    for (int64_t x = 0; x < bmp->width; x++, dst += 3) {
        const uint8_t *p = src + x * (bmp->bits / 8);

        /* A number beyond the palette becomes the first entry, which usually is
         * black. */
        if (bmp->bits == 8) p = bmp->palette + 4 * (*p < bmp->ncolor ? *p : 0);
        dst[0] = p[0], dst[1] = p[1], dst[2] = p[2];
    }
}

fire_status_t fire_image_decode_bmp(const uint8_t *file, size_t n, fire_color_t color,
                                    fire_buffer_t *b, fire_pixels_t *pixels_p)
{
    bitmap_t      bmp = {0};
    int64_t       stride;
    fire_extent_t e;

    FIRE_TRY(read_header(file, n, &bmp));
    FIRE_TRY(fire_image_reserve(b, 3, bmp.height, bmp.width));
    stride = (bmp.width * bmp.bits / 8 + 3) / 4 * 4;
    if (bmp.offset > n || (size_t)(stride * bmp.height) > n - bmp.offset)
        return damaged();
    for (int64_t y = 0; y < bmp.height; y++)
        copy_line(&bmp,
                  file + bmp.offset + (bmp.top_down ? y : bmp.height - 1 - y) * stride,
                  b->bytes + y * bmp.width * 3);
    e = (fire_extent_t){3, (int)bmp.height, (int)bmp.width};
    if (color == FIRE_COLOR_GRAY) {
        fire_image_gray(b->bytes, bmp.height * bmp.width);
        e.channels = 1;
    }
    *pixels_p = fire_pixels_interleaved(b->bytes, e);
    return FIRE_OK;
}
