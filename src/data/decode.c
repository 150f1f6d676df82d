/* decode.c - reads image files and turns Datums into pixels. */
#include "data/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

void fire_workspace_fini(fire_workspace_t *s)
{
    fire_buffer_fini(&s->record);
    fire_buffer_fini(&s->pixels);
    fire_buffer_fini(&s->cropped);
    fire_buffer_fini(&s->resized);
    fire_buffer_fini(&s->padded);
    fire_buffer_fini(&s->scaled);
    fire_buffer_fini(&s->spare);
}

fire_status_t fire_datum_decode(const fire_datum_t *d, fire_color_t color,
                                fire_workspace_t *s, fire_pixels_t *pixels_p)
{
    fire_extent_t e      = {d->channels, d->height, d->width};
    float        *floats = NULL;

    if (d->encoded)
        return fire_image_decode(d->data, d->ndata, color, &s->pixels, pixels_p);
    if (d->ndata == 0) {
        FIRE_TRY(fire_grow(&s->pixels.bytes, &s->pixels.cap,
                           d->nfloat * (int64_t)sizeof(*floats), 1));
        floats = (float *)s->pixels.bytes;
        fire_datum_floats(d, floats);
    }
    *pixels_p = fire_pixels_planar(floats == NULL ? d->data : NULL, floats, e);
    return FIRE_OK;
}

/* Read until the end of the file, however long fstat() said it was. Keeps one spare
 * byte, so that the last read() returns 0 without growing the buffer. */
static fire_status_t read_all(int fd, fire_buffer_t *b, size_t *n_p)
{
    size_t  n = 0;
    ssize_t got;

    do {
        FIRE_TRY(fire_grow(&b->bytes, &b->cap, (int64_t)n + 1, 1));
        got = read(fd, b->bytes + n, (size_t)b->cap - n);
        if (got > 0) n += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0) return FIRE_FAIL(FIRE_ERR_IO, "cannot read: %s", strerror(errno));
    *n_p = n;
    return FIRE_OK;
}

fire_status_t fire_buffer_read_file(const char *path, fire_buffer_t *b, size_t *n_p)
{
    int           fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat   info;
    fire_status_t st = FIRE_OK;

    if (fd < 0)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot open \"%s\": %s", path, strerror(errno));
    if (fstat(fd, &info) == 0)
        st = fire_grow(&b->bytes, &b->cap, (int64_t)info.st_size + 1, 1);
    if (st == FIRE_OK) st = read_all(fd, b, n_p);
    close(fd);
    return st < 0 ? fire_error_prefix(st, "%s", path) : FIRE_OK;
}

fire_status_t fire_image_file_decode(const char *path, fire_color_t color, int height,
                                     int width, fire_workspace_t *s,
                                     fire_pixels_t *pixels_p)
{
    fire_pixels_t whole;
    size_t        n = 0;
    fire_status_t st;

    FIRE_TRY(fire_buffer_read_file(path, &s->record, &n));
    st = fire_image_decode(s->record.bytes, n, color, &s->pixels, &whole);
    if (st < 0) return fire_error_prefix(st, "%s", path);
    if (height == 0 || width == 0) {
        *pixels_p = whole;
        return FIRE_OK;
    }
    return fire_image_resize(&whole, height, width, &s->resized, pixels_p);
}

fire_status_t fire_pixels_own(fire_workspace_t *s, fire_pixels_t *pixels)
{
    fire_extent_t e = pixels->extent;
    uint8_t      *to;

    if (pixels->bytes == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "images must be bytes, not floats");
    if (pixels->bytes == s->pixels.bytes || pixels->bytes == s->resized.bytes)
        return FIRE_OK;
    FIRE_TRY(fire_image_reserve(&s->pixels, e.channels, e.height, e.width));
    to = s->pixels.bytes;
    for (int64_t i = 0; i < (int64_t)e.height * e.width; i++)
        for (int c = 0; c < e.channels; c++)
            *to++ = pixels->bytes[c * pixels->step_c + i];
    *pixels = fire_pixels_interleaved(s->pixels.bytes, e);
    return FIRE_OK;
}
