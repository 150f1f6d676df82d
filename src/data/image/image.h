/* image.h - pixels in memory, and files that become pixels. */
#ifndef FIRE_DATA_IMAGE_IMAGE_H
#define FIRE_DATA_IMAGE_IMAGE_H
#include <math.h>
#include "base/random/rng.h"
#include "base/text/text.h"
#include "data/source/source.h"

typedef struct fire_extent {
    int channels, height, width;
} fire_extent_t;

static inline bool fire_extent_equal(fire_extent_t a, fire_extent_t b)
{
    return a.channels == b.channels && a.height == b.height && a.width == b.width;
}

static inline int64_t fire_extent_count(fire_extent_t e)
{
    return (int64_t)e.channels * e.height * e.width;
}

/* Values that lie somewhere: bytes or floats, planes (Datum) or interleaved (decoded
 * images). Element (c, y, x) is at c * step_c + y * step_y + x * step_x. */
typedef struct fire_pixels {
    const uint8_t *bytes;
    const float   *floats; /* used where bytes is NULL */
    fire_extent_t  extent;
    int64_t        step_c, step_y, step_x;
} fire_pixels_t;

/* Planes one after another, as in a Datum. */
static inline fire_pixels_t fire_pixels_planar(const uint8_t *bytes,
                                               const float *floats, fire_extent_t e)
{
    return (fire_pixels_t){bytes, floats, e, (int64_t)e.height * e.width, e.width, 1};
}

/* Interleaved, as decoders write them. */
static inline fire_pixels_t fire_pixels_interleaved(const uint8_t *bytes,
                                                    fire_extent_t  e)
{
    return (fire_pixels_t){bytes,     NULL, e, 1, (int64_t)e.width * e.channels,
                           e.channels};
}

/* What an image file becomes; colours in Caffe's (OpenCV's) order: blue, green, red. */
typedef enum fire_color {
    FIRE_COLOR_ASIS, /* grey, BGR or BGR + alpha, whatever the file holds */
    FIRE_COLOR_BGR,
    FIRE_COLOR_GRAY,
} fire_color_t;

/* Decode a JPEG, PNG, BMP or PNM file into b. */
fire_status_t fire_image_decode(const uint8_t *file, size_t n, fire_color_t color,
                                fire_buffer_t *b, fire_pixels_t *pixels_p);

/* The nearest byte, as OpenCV stores a number in an image. */
static inline uint8_t fire_image_byte(float x)
{
    return (uint8_t)(x > 0.0f ? rintf(x < 255.0f ? x : 255.0f) : 0.0f);
}

/* Resize interleaved bytes as OpenCV's INTER_LINEAR does, in its fixed-point arithmetic;
 * the result lies in b. */
fire_status_t fire_image_resize(const fire_pixels_t *in, int height, int width,
                                fire_buffer_t *b, fire_pixels_t *out_p);

/* The same by another of OpenCV's filters. */
typedef enum fire_filter {
    FIRE_FILTER_LINEAR,
    FIRE_FILTER_AREA,
    FIRE_FILTER_NEAREST,
    FIRE_FILTER_CUBIC,
    FIRE_FILTER_LANCZOS4,
} fire_filter_t;

fire_status_t fire_image_filter(fire_filter_t filter, const fire_pixels_t *in,
                                int height, int width, fire_buffer_t *b,
                                fire_pixels_t *out_p);

/* Append a file with this image (interleaved, 1 or 3 channels) to out. `kind`: "jpg",
 * "jpeg" (quality 95, as OpenCV's default) or "png". */
fire_status_t fire_image_encode(const fire_pixels_t *in, const char *kind,
                                fire_str_t *out);

/* ---- for decoders and encoders ---- */

/* Room for an image of this extent, which must not be absurd. */
fire_status_t fire_image_reserve(fire_buffer_t *b, int64_t channels, int64_t height,
                                 int64_t width);
/* OpenCV's BGR to grey, in place: count pixels shrink to count bytes. */
void fire_image_gray(uint8_t *bgr, int64_t count);

typedef fire_status_t (*fire_image_decoder_t)(const uint8_t *file, size_t n,
                                              fire_color_t color, fire_buffer_t *b,
                                              fire_pixels_t *pixels_p);

/* decoders of whole files; jpeg needs FIRE_HAVE_JPEG, png FIRE_HAVE_PNG */
fire_status_t fire_image_decode_jpeg(const uint8_t *file, size_t n, fire_color_t color,
                                     fire_buffer_t *b, fire_pixels_t *pixels_p);
fire_status_t fire_image_decode_png(const uint8_t *file, size_t n, fire_color_t color,
                                    fire_buffer_t *b, fire_pixels_t *pixels_p);
fire_status_t fire_image_decode_bmp(const uint8_t *file, size_t n, fire_color_t color,
                                    fire_buffer_t *b, fire_pixels_t *pixels_p);
fire_status_t fire_image_decode_pnm(const uint8_t *file, size_t n, fire_color_t color,
                                    fire_buffer_t *b, fire_pixels_t *pixels_p);

typedef fire_status_t (*fire_image_encoder_t)(const fire_pixels_t *in, fire_str_t *out);
fire_status_t fire_image_encode_jpeg(const fire_pixels_t *in, fire_str_t *out);
fire_status_t fire_image_encode_png(const fire_pixels_t *in, fire_str_t *out);
#endif
