/* imageset.c - converts a list of image files to a database. A block of 256 images at a
 * time is read, decoded, resized and encoded by several threads, then written in the
 * order of the list. */
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/random/rng.h"
#include "data/convert/common.h"
#include "data/decode.h"
#include "data/image_list.h"

enum { BLOCK = 256 }; /* images of a block */

/* One image of the block; the next block uses its memory again. */
typedef struct slot {
    fire_str_t record;    /* the encoded Datum; empty: the image could not be read */
    size_t     data_size; /* bytes of the image, for check_size */
} slot_t;

/* Memory that a thread keeps from image to image. */
typedef struct maker {
    fire_workspace_t scratch;
    fire_str_t       path, file; /* path of the image; the image encoded again */
} maker_t;

/* A conversion in progress. */
typedef struct imageset {
    const fire_imageset_options_t *opt;
    fire_image_list_t              list;
    fire_convert_t                 out;
    int64_t first; /* number of the block's first image in the list */
    slot_t  slot[BLOCK];
    maker_t maker[FIRE_MAX_PARALLEL];
    /* data size of the first image written */
    size_t first_size;
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

/* "jpg" and "jpeg" are the same kind. */
static bool same_kind(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0 || (is_jpeg(a) && is_jpeg(b));
}

/* Copy interleaved BGR pixels (height, width, channels) to planes (channels, height,
 * width), blue first, as a raw Datum has them. */
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

/* Set d to a compressed image. A file that has the wanted kind and size already is
 * stored byte for byte; anything else is encoded again. */
static fire_status_t encode(const fire_imageset_options_t *o, maker_t *m,
                            const fire_pixels_t *pixels, fire_datum_t *d)
{
    const char *path = m->path.text;
    const char *kind = o->encode_type[0] != '\0' ? o->encode_type : extension(path);
    size_t      n    = 0;

    d->encoded = true;
    if (o->height == 0 && !o->gray && same_kind(kind, extension(path))) {
        FIRE_TRY(fire_buffer_read_file(path, &m->scratch.record, &n));
        d->data  = m->scratch.record.bytes;
        d->ndata = n;
        return FIRE_OK;
    }
    m->file.n = 0;
    FIRE_TRY(fire_image_encode(pixels, kind, &m->file));
    d->data  = (const uint8_t *)m->file.text;
    d->ndata = (size_t)m->file.n;
    return FIRE_OK;
}

/* Set d to the image: compressed if the options ask for it, else raw planes. */
static fire_status_t make_datum(const fire_imageset_options_t *o, maker_t *m,
                                const fire_pixels_t *pixels, fire_datum_t *d)
{
    fire_extent_t e = pixels->extent;

    if (o->encoded || o->encode_type[0] != '\0') return encode(o, m, pixels, d);
    FIRE_TRY(to_planes(pixels, &m->scratch.record));
    d->channels = e.channels;
    d->height   = e.height;
    d->width    = e.width;
    d->data     = m->scratch.record.bytes;
    d->ndata    = (size_t)fire_extent_count(e);
    return FIRE_OK;
}

/* The image of the given line of the output: in list order, or shuffled. */
static const fire_image_item_t *item_at(const imageset_t *s, int64_t line)
{
    fire_rng_key_t key = fire_rng_key(s->opt->seed, FIRE_RNG_SHUFFLE, 0, 0);

    if (s->opt->shuffle)
        line = (int64_t)fire_rng_permute(key, (uint64_t)s->list.count, (uint64_t)line);
    return &s->list.item[line];
}

/* Make the record of image i of the block; runs in several threads. An image that
 * cannot be read gets an empty record and a warning, as in Caffe. */
static fire_status_t make_record(void *arg, int worker, int64_t i)
{
    imageset_t                    *s    = arg;
    const fire_imageset_options_t *o    = s->opt;
    maker_t                       *m    = &s->maker[worker];
    slot_t                        *slot = &s->slot[i];
    const fire_image_item_t       *item = item_at(s, s->first + i);
    fire_datum_t                   d    = {.label = item->label};
    fire_pixels_t                  pixels;
    fire_status_t                  st;

    m->path.n = slot->record.n = 0;
    FIRE_TRY(fire_str_printf(&m->path, "%s%s", o->root, item->path));
    st =
        fire_image_file_decode(m->path.text, o->gray ? FIRE_COLOR_GRAY : FIRE_COLOR_BGR,
                               o->height, o->width, &m->scratch, &pixels);
    if (st < 0 && st != FIRE_ERR_NOMEM) {
        FIRE_LOG(WARNING, "skipped: %s", fire_last_error());
        return FIRE_OK;
    }
    if (st == FIRE_OK) st = make_datum(o, m, &pixels, &d);
    if (st < 0) return fire_error_prefix(st, "%s", m->path.text);
    slot->data_size = d.ndata;
    return fire_datum_write(&d, NULL, &slot->record);
}

/* Enforce --check_size. */
static fire_status_t check_size(imageset_t *s, const char *path, size_t size)
{
    if (s->first_size == 0) s->first_size = size;
    if (!s->opt->check_size || size == s->first_size) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%s: %zu bytes, the first image has %zu", path,
                     size, s->first_size);
}

/* Append the record of image i of the block, unless it is empty. */
static fire_status_t write_record(imageset_t *s, int64_t i)
{
    const fire_image_item_t *item = item_at(s, s->first + i);
    const slot_t            *slot = &s->slot[i];
    char                    *key;
    fire_status_t            st;

    if (slot->record.n == 0) {
        s->out.total--;
        return FIRE_OK;
    }
    FIRE_TRY(check_size(s, item->path, slot->data_size));
    FIRE_TRY(fire_asprintf(&key, "%08lld_%s", (long long)(s->first + i), item->path));
    st = fire_convert_put_record(&s->out, key, &slot->record);
    fire_free(key);
    return st;
}

static fire_status_t convert_blocks(imageset_t *s)
{
    for (s->first = 0; s->first < s->list.count; s->first += BLOCK) {
        int64_t n = s->list.count - s->first < BLOCK ? s->list.count - s->first : BLOCK;

        FIRE_TRY(fire_parallel(n, 0, make_record, s));
        for (int64_t i = 0; i < n; i++)
            FIRE_TRY(write_record(s, i));
    }
    if (s->out.writer->count == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "none of the images could be read");
    return FIRE_OK;
}

static void destroy(imageset_t *s)
{
    fire_image_list_fini(&s->list);
    for (int i = 0; i < BLOCK; i++)
        fire_str_fini(&s->slot[i].record);
    for (int i = 0; i < FIRE_MAX_PARALLEL; i++) {
        fire_workspace_fini(&s->maker[i].scratch);
        fire_str_fini(&s->maker[i].path);
        fire_str_fini(&s->maker[i].file);
    }
    fire_free(s);
}

fire_status_t fire_convert_imageset(const fire_imageset_options_t *options,
                                    const char *list, const char *db,
                                    const char            *backend,
                                    const fire_progress_t *progress)
{
    imageset_t   *s;
    fire_status_t st;

    if (options->height < 0 || options->width < 0 ||
        (options->height == 0) != (options->width == 0))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "to resize images, give both a height and a width");
    FIRE_TRY(FIRE_NEW(&s, 1));
    s->opt = options;
    st     = fire_image_list_load(list, &s->list);
    if (st == FIRE_OK)
        st = fire_convert_open(&s->out, db, backend, s->list.count, progress);
    if (st == FIRE_OK) st = fire_convert_close(&s->out, convert_blocks(s));
    destroy(s);
    return st;
}
