/* image.c - finds the decoder of a file by its first bytes, and the encoder by name. */
#include "data/image/image.h"

#include <string.h>
#include <strings.h>

#include "base/alloc.h"

enum { MAX_VALUES = 1 << 28 }; /* values of an image; files with more are refused */

/* A file format: files begin with `magic`. */
typedef struct format {
    const char          *name, *magic;
    fire_image_decoder_t decode; /* NULL: not in this build */
} format_t;

#ifndef FIRE_HAVE_JPEG
#    define fire_image_decode_jpeg NULL
#    define fire_image_encode_jpeg NULL
#endif
#ifndef FIRE_HAVE_PNG
#    define fire_image_decode_png NULL
#    define fire_image_encode_png NULL
#endif

static const format_t formats[] = {
    {"JPEG", "\xff\xd8\xff", fire_image_decode_jpeg},
    {"PNG", "\x89PNG\r\n\x1a\n", fire_image_decode_png},
    {"BMP", "BM", fire_image_decode_bmp},
    {"PNM", "P5", fire_image_decode_pnm},
    {"PNM", "P6", fire_image_decode_pnm},
};

fire_status_t fire_image_decode(const uint8_t *file, size_t n, fire_color_t color,
                                fire_buffer_t *b, fire_pixels_t *pixels_p)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const format_t *f = &formats[i];

        if (n < strlen(f->magic) || memcmp(file, f->magic, strlen(f->magic)) != 0)
            continue;
        if (f->decode == NULL)
            return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "this build cannot read %s images",
                             f->name);
        return f->decode(file, n, color, b, pixels_p);
    }
    return FIRE_FAIL(FIRE_ERR_PARSE, "not an image that can be read (JPEG, PNG, BMP, "
                                     "PGM, PPM)");
}

fire_status_t fire_image_encode(const fire_pixels_t *in, const char *kind,
                                fire_str_t *out)
{
    fire_image_encoder_t encode = NULL;

    if (strcasecmp(kind, "jpg") == 0 || strcasecmp(kind, "jpeg") == 0)
        encode = fire_image_encode_jpeg;
    if (strcasecmp(kind, "png") == 0) encode = fire_image_encode_png;
    if (encode == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "this build cannot write images of type \"%s\"", kind);
    return encode(in, out);
}

fire_status_t fire_image_reserve(fire_buffer_t *b, int64_t channels, int64_t height,
                                 int64_t width)
{
    if (channels < 1 || height < 1 || width < 1 || width > MAX_VALUES / channels ||
        height > MAX_VALUES / (channels * width))
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "an image of %lld x %lld pixels is empty or too large; is the "
                         "file damaged?",
                         (long long)width, (long long)height);
    return fire_grow(&b->bytes, &b->cap, channels * height * width, 1);
}

void fire_image_gray(uint8_t *bgr, int64_t count)
{
    /* 0.114, 0.587, 0.299 times 2^14 */
    enum { B = 1868, G = 9617, R = 4899, HALF = 1 << 13 };

    for (int64_t i = 0; i < count; i++) {
        const uint8_t *p = bgr + 3 * i;

        bgr[i] = (uint8_t)((p[0] * B + p[1] * G + p[2] * R + HALF) >> 14);
    }
}
