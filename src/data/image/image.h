/* image.h - images in memory: decoding files, resizing, encoding.
 *
 * Colours are in the order of Caffe and OpenCV: blue, green, red. Bytes are meant to
 * equal OpenCV's, because trained models expect what Caffe fed them. */
#ifndef FIRE_DATA_IMAGE_IMAGE_H
#define FIRE_DATA_IMAGE_IMAGE_H
#include <math.h>
#include "base/random/rng.h"
#include "base/text/text.h"
#include "data/source/source.h"

/* The size of an image. */
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

/* A view of pixels that somebody else owns: bytes or floats, planar as in a Datum or
 * interleaved as decoders write them. Element (c, y, x) is at index c * step_c + y *
 * step_y + x * step_x. */
typedef struct fire_pixels {
    const uint8_t *bytes;
    const float   *floats; /* used if bytes is NULL */
    fire_extent_t  extent;
    int64_t        step_c, step_y, step_x; /* in elements */
} fire_pixels_t;

/* Planes one after another: (channels, height, width), as in a Datum. */
static inline fire_pixels_t fire_pixels_planar(const uint8_t *bytes,
                                               const float *floats, fire_extent_t e)
{
    return (fire_pixels_t){bytes, floats, e, (int64_t)e.height * e.width, e.width, 1};
}

/* Channels of a pixel side by side: (height, width, channels), as decoders write. */
static inline fire_pixels_t fire_pixels_interleaved(const uint8_t *bytes,
                                                    fire_extent_t  e)
{
    return (fire_pixels_t){bytes,     NULL, e, 1, (int64_t)e.width * e.channels,
                           e.channels};
}

/* The channels that decoding shall give. */
typedef enum fire_color {
    FIRE_COLOR_ASIS, /* 1, 3 or 4 channels: grey, BGR or BGR + alpha, as the file */
    FIRE_COLOR_BGR,
    FIRE_COLOR_GRAY,
} fire_color_t;

/* Decode the n bytes of a JPEG, PNG, BMP or PNM file into b; *pixels_p points there.
 * The first bytes of the file tell its kind. */
fire_status_t fire_image_decode(const uint8_t *file, size_t n, fire_color_t color,
                                fire_buffer_t *b, fire_pixels_t *pixels_p);

/* Round x to the nearest byte, halves to even, as OpenCV's saturate_cast does. */
static inline uint8_t fire_image_byte(float x)
{
    return (uint8_t)(x > 0.0f ? rintf(x < 255.0f ? x : 255.0f) : 0.0f);
}

/* Resize interleaved bytes into b as OpenCV's INTER_LINEAR does, with its fixed-point
 * arithmetic. in must not point into b. */
fire_status_t fire_image_resize(const fire_pixels_t *in, int height, int width,
                                fire_buffer_t *b, fire_pixels_t *out_p);

/* The same with one of OpenCV's filters (cv::resize's interpolation argument). */
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

/* Encode an interleaved image of 1 or 3 channels and append the file to out. `kind`:
 * "jpg" or "jpeg" (quality 95, OpenCV's default) or "png". */
fire_status_t fire_image_encode(const fire_pixels_t *in, const char *kind,
                                fire_str_t *out);

/* ---- for decoders and encoders ---- */

/* Make room in b for an image. Fails for sizes below 1 and above 2^28 values: a damaged
 * header could ask for all memory. */
fire_status_t fire_image_reserve(fire_buffer_t *b, int64_t channels, int64_t height,
                                 int64_t width);
/* Convert BGR to grey in place with OpenCV's weights: 3 * count bytes become count. */
void fire_image_gray(uint8_t *bgr, int64_t count);

typedef fire_status_t (*fire_image_decoder_t)(const uint8_t *file, size_t n,
                                              fire_color_t color, fire_buffer_t *b,
                                              fire_pixels_t *pixels_p);

/* Decode a whole file of n bytes into b. jpeg needs FIRE_HAVE_JPEG, png FIRE_HAVE_PNG. */
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
