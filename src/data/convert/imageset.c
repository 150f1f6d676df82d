/* imageset.c - a list of image files to a database. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/rng.h"
#include "data/convert/common.h"
#include "data/decode.h"
#include "data/image_list.h"

typedef struct imageset {
    const fire_imageset_options_t *opt;
    fire_image_list_t              list;
    fire_convert_t                 out;
    fire_scratch_t                 scratch;
    fire_str_t                     encoded;
    size_t                         first_size; /* for check_size */
} imageset_t;

static const char *extension(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL ? dot + 1 : "";
}

static bool is_jpeg(const char *kind)
{
    return strcasecmp(kind, "jpg") == 0 || strcasecmp(kind, "jpeg") == 0;
}

static bool same_kind(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0 || (is_jpeg(a) && is_jpeg(b));
}

/* Interleaved pixels to planes, blue first. */
static fire_status_t to_planes(const fire_pixels_t *in, fire_buffer_t *b)
{
    fire_extent_t e = in->extent;
    uint8_t      *to;

    FIRE_TRY(fire_image_reserve(b, e.channels, e.height, e.width));
    to = b->bytes;
    for (int c = 0; c < e.channels; c++)
        for (int64_t i = 0; i < (int64_t)e.height * e.width; i++)
            *to++ = in->bytes[i * e.channels + c];
    return FIRE_OK;
}

/* A file that is already of the wanted kind and size goes in as it is. */
static fire_status_t encode(imageset_t *s, const char *path,
                            const fire_pixels_t *pixels, fire_datum_t *d)
{
    const fire_imageset_options_t *o = s->opt;
    const char *kind = o->encode_type[0] != '\0' ? o->encode_type : extension(path);
    size_t      n    = 0;

    d->encoded = true;
    if (o->height == 0 && o->width == 0 && !o->gray &&
        same_kind(kind, extension(path))) {
        FIRE_TRY(fire_buffer_read_file(path, &s->scratch.record, &n));
        d->data  = s->scratch.record.bytes;
        d->ndata = n;
        return FIRE_OK;
    }
    s->encoded.n = 0;
    FIRE_TRY(fire_image_encode(pixels, kind, &s->encoded));
    d->data  = (const uint8_t *)s->encoded.text;
    d->ndata = (size_t)s->encoded.n;
    return FIRE_OK;
}

static fire_status_t make_datum(imageset_t *s, const char *path,
                                const fire_pixels_t *pixels, fire_datum_t *d)
{
    fire_extent_t e = pixels->extent;

    if (s->opt->encoded || s->opt->encode_type[0] != '\0')
        return encode(s, path, pixels, d);
    FIRE_TRY(to_planes(pixels, &s->scratch.record));
    d->channels = e.channels;
    d->height   = e.height;
    d->width    = e.width;
    d->data     = s->scratch.record.bytes;
    d->ndata    = (size_t)fire_extent_count(e);
    return FIRE_OK;
}

static fire_status_t check_size(imageset_t *s, const char *path, size_t size)
{
    if (s->first_size == 0) s->first_size = size;
    if (!s->opt->check_size || size == s->first_size) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%s: %zu bytes, the first image has %zu", path,
                     size, s->first_size);
}

/* Images that cannot be read are left out, with a warning, as Caffe does. */
static fire_status_t put_image(imageset_t *s, int64_t line,
                               const fire_image_item_t *item)
{
    const fire_imageset_options_t *o = s->opt;
    fire_datum_t                   d = {.label = item->label};
    fire_pixels_t                  pixels;
    char                          *path, *key = NULL;
    fire_status_t                  st;

    FIRE_TRY(fire_asprintf(&path, "%s%s", o->root, item->path));
    st = fire_image_file_decode(path, o->gray ? FIRE_COLOR_GRAY : FIRE_COLOR_BGR,
                                o->height, o->width, &s->scratch, &pixels);
    if (st < 0 && st != FIRE_ERR_NOMEM) {
        FIRE_LOG(WARNING, "skipped: %s", fire_last_error());
        s->out.total--;
        st = FIRE_OK;
        goto err_path;
    }
    if (st == FIRE_OK) st = make_datum(s, path, &pixels, &d);
    if (st == FIRE_OK) st = check_size(s, path, d.ndata);
    if (st == FIRE_OK)
        st = fire_asprintf(&key, "%08lld_%s", (long long)line, item->path);
    if (st == FIRE_OK) st = fire_convert_put(&s->out, key, &d, NULL);
    fire_free(key);

err_path:
    fire_free(path);
    return st;
}

static fire_status_t put_all(imageset_t *s, const char *db, const char *backend,
                             const fire_progress_t *progress)
{
    uint64_t       n   = (uint64_t)s->list.count;
    fire_rng_key_t key = fire_rng_key(s->opt->seed, FIRE_RNG_SHUFFLE, 0, 0);
    fire_status_t  st  = FIRE_OK;

    FIRE_TRY(fire_convert_open(&s->out, db, backend, s->list.count, progress));
    for (uint64_t i = 0; st == FIRE_OK && i < n; i++) {
        uint64_t item = s->opt->shuffle ? fire_rng_permute(key, n, i) : i;

        st = put_image(s, (int64_t)i, &s->list.item[item]);
    }
    if (st == FIRE_OK && s->out.writer->count == 0)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "%s: none of the images could be read", db);
    return fire_convert_close(&s->out, st);
}

fire_status_t fire_convert_imageset(const fire_imageset_options_t *options,
                                    const char *list, const char *db,
                                    const char            *backend,
                                    const fire_progress_t *progress)
{
    imageset_t    s = {.opt = options};
    fire_status_t st;

    FIRE_TRY(fire_image_list_load(list, &s.list));
    st = put_all(&s, db, backend, progress);
    fire_image_list_fini(&s.list);
    fire_scratch_fini(&s.scratch);
    fire_str_fini(&s.encoded);
    return st;
}
