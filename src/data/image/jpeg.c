/* jpeg.c - decodes and encodes JPEG with libjpeg-turbo. A file that ends early is an
 * error here; the library would fill the rest with grey and only warn.
 *
 * The library reports errors by a callback that must not return, hence longjmp(). */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <jpeglib.h>
#include <jerror.h>

#include "data/image/image.h"

enum { QUALITY = 95 };

/* The library's error handler with our part behind it: where to jump and the
 * message. */
typedef struct failure {
    struct jpeg_error_mgr base;
    jmp_buf               back;
    char                  text[JMSG_LENGTH_MAX];
} failure_t;

static void on_error(j_common_ptr c)
{
    failure_t *f = (failure_t *)c->err;

    f->base.format_message(c, f->text);
    longjmp(f->back, 1);
}

/* Warnings that mean missing data become errors; others are ignored. */
static void on_message(j_common_ptr c, int level)
{
    int code = c->err->msg_code;

    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) on_error(c);
}

/* One line of CMYK to BGR in place, by OpenCV's formula. Adobe writes CMYK inverted,
 * and OpenCV takes all CMYK as such. */
static void cmyk_to_bgr(uint8_t *p, int width)
{
    for (int x = 0; x < width; x++) {
        int c = p[4 * x], m = p[4 * x + 1], y = p[4 * x + 2], k = p[4 * x + 3];

        p[3 * x]     = (uint8_t)(k - ((255 - y) * k >> 8));
        p[3 * x + 1] = (uint8_t)(k - ((255 - m) * k >> 8));
        p[3 * x + 2] = (uint8_t)(k - ((255 - c) * k >> 8));
    }
}

/* The colour space that the library shall convert to. */
static void choose_output(struct jpeg_decompress_struct *c, fire_color_t color)
{
    if (c->num_components == 4)
        c->out_color_space = JCS_CMYK;
    else if (color == FIRE_COLOR_GRAY ||
             (color == FIRE_COLOR_ASIS && c->num_components == 1))
        c->out_color_space = JCS_GRAYSCALE;
    else
        c->out_color_space = JCS_EXT_BGR;
}

/* Room for the image. CMYK lines need 4 bytes per pixel until they are converted. */
static fire_status_t reserve(const struct jpeg_decompress_struct *c, fire_buffer_t *b)
{
    return fire_image_reserve(b, c->num_components == 4 ? 4 : 3, c->output_height,
                              c->output_width);
}

static void read_lines(struct jpeg_decompress_struct *c, uint8_t *out, int channels)
{
    while (c->output_scanline < c->output_height) {
        uint8_t *line = out + (size_t)c->output_scanline * c->output_width * channels;

        jpeg_read_scanlines(c, &line, 1);
        if (c->out_color_space == JCS_CMYK) cmyk_to_bgr(line, (int)c->output_width);
    }
}

/* Decode after the header was read. The size is checked first, because
 * jpeg_start_decompress() may allocate as much as the header asks for. */
static fire_status_t decode(struct jpeg_decompress_struct *c, fire_color_t color,
                            fire_buffer_t *b, fire_pixels_t *pixels_p)
{
    fire_extent_t e;

    choose_output(c, color);
    jpeg_calc_output_dimensions(c);
    FIRE_TRY(reserve(c, b));
    jpeg_start_decompress(c);
    e = (fire_extent_t){c->out_color_space == JCS_GRAYSCALE ? 1 : 3,
                        (int)c->output_height, (int)c->output_width};
    read_lines(c, b->bytes, e.channels);
    jpeg_finish_decompress(c);
    if (color == FIRE_COLOR_GRAY && e.channels == 3) {
        fire_image_gray(b->bytes, (int64_t)e.height * e.width);
        e.channels = 1;
    }
    *pixels_p = fire_pixels_interleaved(b->bytes, e);
    return FIRE_OK;
}

fire_status_t fire_image_decode_jpeg(const uint8_t *file, size_t n, fire_color_t color,
                                     fire_buffer_t *b, fire_pixels_t *pixels_p)
{
    struct jpeg_decompress_struct c = {0};
    failure_t                     failure;
    fire_status_t                 st;

    c.err                     = jpeg_std_error(&failure.base);
    failure.base.error_exit   = on_error;
    failure.base.emit_message = on_message;
    if (setjmp(failure.back) != 0) {
        jpeg_destroy_decompress(&c);
        return FIRE_FAIL(FIRE_ERR_PARSE, "damaged JPEG: %s", failure.text);
    }
    jpeg_create_decompress(&c);
    jpeg_mem_src(&c, file, n);
    jpeg_read_header(&c, TRUE);
    st = decode(&c, color, b, pixels_p);
    jpeg_destroy_decompress(&c);
    return st;
}

/* Write the file; the library allocates its memory, the caller must free() it. */
static void encode(struct jpeg_compress_struct *c, const fire_pixels_t *in)
{
    c->image_width      = (JDIMENSION)in->extent.width;
    c->image_height     = (JDIMENSION)in->extent.height;
    c->input_components = in->extent.channels;
    c->in_color_space   = in->extent.channels == 1 ? JCS_GRAYSCALE : JCS_EXT_BGR;
    jpeg_set_defaults(c);
    jpeg_set_quality(c, QUALITY, TRUE);
    jpeg_start_compress(c, TRUE);
    while (c->next_scanline < c->image_height) {
        JSAMPROW line = (JSAMPROW)(in->bytes + c->next_scanline * in->step_y);

        jpeg_write_scanlines(c, &line, 1);
    }
    jpeg_finish_compress(c);
}

fire_status_t fire_image_encode_jpeg(const fire_pixels_t *in, fire_str_t *out)
{
    struct jpeg_compress_struct c = {0};
    failure_t                   failure;
    unsigned char *volatile file = NULL;
    unsigned long n              = 0;
    fire_status_t st;

    c.err                   = jpeg_std_error(&failure.base);
    failure.base.error_exit = on_error;
    if (setjmp(failure.back) != 0) {
        st = FIRE_FAIL(FIRE_ERR_INVALID, "cannot write a JPEG: %s", failure.text);
    } else {
        jpeg_create_compress(&c);
        jpeg_mem_dest(&c, (unsigned char **)&file, &n);
        encode(&c, in);
        st = fire_str_add(out, (const void *)file, n);
    }
    jpeg_destroy_compress(&c);
    free((void *)file);
    return st;
}
