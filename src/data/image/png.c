/* png.c - decodes and encodes PNG with libpng, with the conversions that OpenCV uses.
 * libpng reports errors by longjmp(). */
#include <png.h>
#include <stdio.h>
#include <string.h>

#include "data/image/image.h"

/* The file being read, and libpng's last error message. */
typedef struct job {
    const uint8_t *at, *end; /* next byte; one past the last */
    char           text[128];
} job_t;

static void on_error(png_structp png, png_const_charp message)
{
    job_t *job = png_get_error_ptr(png);

    snprintf(job->text, sizeof(job->text), "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void on_read(png_structp png, png_bytep out, size_t n)
{
    job_t *job = png_get_io_ptr(png);

    if (n > (size_t)(job->end - job->at)) png_error(png, "the file ends early");
    memcpy(out, job->at, n);
    job->at += n;
}

/* Tell libpng to give 8 bits per value and the wanted channels, whatever the file has.
 * Returns the number of channels. */
static int convert(png_structp png, png_infop info, fire_color_t color)
{
    int  type     = png_get_color_type(png, info);
    bool alpha    = (type & PNG_COLOR_MASK_ALPHA) != 0 && color == FIRE_COLOR_ASIS;
    int  channels = color == FIRE_COLOR_GRAY ||
                           (color == FIRE_COLOR_ASIS && type == PNG_COLOR_TYPE_GRAY)
                        ? 1
                        : 3;

    png_set_strip_16(png);
    png_set_packing(png);
    png_set_palette_to_rgb(png);
    png_set_expand_gray_1_2_4_to_8(png);
    if (!alpha) png_set_strip_alpha(png);
    if (channels == 1)
        png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    else
        png_set_gray_to_rgb(png);
    png_set_bgr(png);
    return channels + alpha;
}

/* Read all lines; an interlaced image needs several passes over them. */
static void read_lines(png_structp png, uint8_t *out, fire_extent_t e, int passes)
{
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < e.height; y++)
            png_read_row(png, out + (size_t)y * (size_t)e.width * (size_t)e.channels,
                         NULL);
}

static fire_status_t decode(png_structp png, png_infop info, fire_color_t color,
                            fire_buffer_t *b, fire_pixels_t *pixels_p)
{
    fire_extent_t e;
    int           passes;

    png_read_info(png, info);
    e.channels = convert(png, info, color);
    e.height   = (int)png_get_image_height(png, info);
    e.width    = (int)png_get_image_width(png, info);
    FIRE_TRY(fire_image_reserve(b, e.channels, e.height, e.width));
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (png_get_rowbytes(png, info) != (size_t)e.width * (size_t)e.channels)
        png_error(png, "unknown kind of pixels");
    read_lines(png, b->bytes, e, passes);
    png_read_end(png, NULL);
    *pixels_p = fire_pixels_interleaved(b->bytes, e);
    return FIRE_OK;
}

fire_status_t fire_image_decode_png(const uint8_t *file, size_t n, fire_color_t color,
                                    fire_buffer_t *b, fire_pixels_t *pixels_p)
{
    job_t       job = {.at = file, .end = file + n};
    png_structp png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    png_infop     info = png != NULL ? png_create_info_struct(png) : NULL;
    fire_status_t st;

    if (info == NULL) {
        png_destroy_read_struct(&png, NULL, NULL);
        return FIRE_FAIL(FIRE_ERR_NOMEM, "out of memory in libpng");
    }
    png_set_read_fn(png, &job, on_read);
    if (setjmp(png_jmpbuf(png)) != 0)
        st = FIRE_FAIL(FIRE_ERR_PARSE, "damaged PNG: %s", job.text);
    else
        st = decode(png, info, color, b, pixels_p);
    png_destroy_read_struct(&png, &info, NULL);
    return st;
}

static void on_write(png_structp png, png_bytep bytes, size_t n)
{
    if (fire_str_add(png_get_io_ptr(png), bytes, n) < 0)
        png_error(png, "out of memory");
}

static void on_flush(png_structp png)
{
    (void)png;
}

static void encode(png_structp png, png_infop info, const fire_pixels_t *in)
{
    png_set_IHDR(
        png, info, (png_uint_32)in->extent.width, (png_uint_32)in->extent.height, 8,
        in->extent.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
        PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_set_bgr(png);
    for (int y = 0; y < in->extent.height; y++)
        png_write_row(png, in->bytes + y * in->step_y);
    png_write_end(png, info);
}

fire_status_t fire_image_encode_png(const fire_pixels_t *in, fire_str_t *out)
{
    job_t       job = {0};
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning);
    png_infop     info = png != NULL ? png_create_info_struct(png) : NULL;
    fire_status_t st   = FIRE_OK;

    if (info == NULL) {
        png_destroy_write_struct(&png, NULL);
        return FIRE_FAIL(FIRE_ERR_NOMEM, "out of memory in libpng");
    }
    png_set_write_fn(png, out, on_write, on_flush);
    if (setjmp(png_jmpbuf(png)) != 0)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "cannot write a PNG: %s", job.text);
    else
        encode(png, info, in);
    png_destroy_write_struct(&png, &info);
    return st;
}
