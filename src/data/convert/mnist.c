/* mnist.c - MNIST's idx files: a magic number, the dimensions (32-bit big-endian each),
 * then bytes. Images: (count, height, width); labels: (count). */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random/rng.h"
#include "data/convert/common.h"
#include "data/convert/unzip.h"

enum { MAGIC_IMAGES = 0x803, MAGIC_LABELS = 0x801 };

/* Both files, unpacked in memory. */
typedef struct mnist {
    char          *image_file, *label_file; /* whole contents, owned */
    const uint8_t *pixels, *labels;         /* point after the headers */
    uint32_t       count, height, width;
} mnist_t;

static uint32_t big_endian(const char *p)
{
    const uint8_t *b = (const uint8_t *)p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Read the file of images and check its header against its length. */
static fire_status_t read_images(mnist_t *m, const char *path)
{
    size_t n = 0;

    FIRE_TRY(fire_unzip_file(path, &m->image_file, &n));
    if (n < 16 || big_endian(m->image_file) != MAGIC_IMAGES)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: not a file of MNIST images", path);
    m->count  = big_endian(m->image_file + 4);
    m->height = big_endian(m->image_file + 8);
    m->width  = big_endian(m->image_file + 12);
    m->pixels = (const uint8_t *)m->image_file + 16;
    if (m->count == 0) return FIRE_FAIL(FIRE_ERR_PARSE, "%s: holds no images", path);
    if (m->height == 0 || m->width == 0 || m->height > 1 << 14 || m->width > 1 << 14 ||
        (n - 16) / m->height / m->width < m->count)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: damaged, or ends early", path);
    return FIRE_OK;
}

/* Read the file of labels; it must have one for each image. */
static fire_status_t read_labels(mnist_t *m, const char *path)
{
    size_t n = 0;

    FIRE_TRY(fire_unzip_file(path, &m->label_file, &n));
    if (n < 8 || big_endian(m->label_file) != MAGIC_LABELS)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: not a file of MNIST labels", path);
    if (big_endian(m->label_file + 4) != m->count || n - 8 < m->count)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: %u labels for %u images", path,
                         big_endian(m->label_file + 4), m->count);
    m->labels = (const uint8_t *)m->label_file + 8;
    return FIRE_OK;
}

static fire_status_t put_image(fire_convert_t *c, const mnist_t *m, uint32_t i)
{
    size_t       area = (size_t)m->height * m->width;
    fire_datum_t d    = {.channels = 1,
                         .height   = (int)m->height,
                         .width    = (int)m->width,
                         .label    = m->labels[i],
                         .data     = m->pixels + i * area,
                         .ndata    = area};
    char         key[16];

    snprintf(key, sizeof(key), "%08u", i);
    return fire_convert_put(c, key, &d, NULL);
}

static fire_status_t write_images(const mnist_t *m, fire_convert_t *c)
{
    for (uint32_t i = 0; i < m->count; i++)
        FIRE_TRY(put_image(c, m, i));
    return FIRE_OK;
}

/* Put pair i of the siamese set: two random images, one in each channel. They depend on
 * seed and i only. `pixels`: scratch for both. */
static fire_status_t put_pair(fire_convert_t *c, const mnist_t *m, uint64_t seed,
                              uint32_t i, uint8_t *pixels)
{
    fire_rng_key_t key  = fire_rng_key(seed, FIRE_RNG_SHUFFLE, 0, i);
    size_t         area = (size_t)m->height * m->width;
    uint64_t       a    = fire_rng_below(key, 0, m->count);
    uint64_t       b    = fire_rng_below(key, 1, m->count);
    fire_datum_t   d    = {.channels = 2,
                           .height   = (int)m->height,
                           .width    = (int)m->width,
                           .label    = m->labels[a] == m->labels[b],
                           .data     = pixels,
                           .ndata    = 2 * area};
    char           name[16];

    memcpy(pixels, m->pixels + a * area, area);
    memcpy(pixels + area, m->pixels + b * area, area);
    snprintf(name, sizeof(name), "%08u", i);
    return fire_convert_put(c, name, &d, NULL);
}

static fire_status_t write_pairs(const mnist_t *m, fire_convert_t *c, uint64_t seed)
{
    uint8_t      *pixels;
    fire_status_t st = FIRE_NEW(&pixels, 2 * (size_t)m->height * m->width);

    if (st < 0) return st;
    for (uint32_t i = 0; st == FIRE_OK && i < m->count; i++)
        st = put_pair(c, m, seed, i, pixels);
    fire_free(pixels);
    return st;
}

/* pair_seed NULL: single images; else pairs drawn with this seed. */
static fire_status_t convert(const char *images, const char *labels, const char *db,
                             const char *backend, const fire_progress_t *progress,
                             const uint64_t *pair_seed)
{
    mnist_t        m = {0};
    fire_convert_t c;
    fire_status_t  st = read_images(&m, images);

    if (st == FIRE_OK) st = read_labels(&m, labels);
    if (st == FIRE_OK) st = fire_convert_open(&c, db, backend, m.count, progress);
    if (st == FIRE_OK)
        st = fire_convert_close(&c, pair_seed != NULL ? write_pairs(&m, &c, *pair_seed)
                                                      : write_images(&m, &c));
    fire_free(m.image_file);
    fire_free(m.label_file);
    return st;
}

fire_status_t fire_convert_mnist(const char *images, const char *labels, const char *db,
                                 const char *backend, const fire_progress_t *progress)
{
    return convert(images, labels, db, backend, progress, NULL);
}

fire_status_t fire_convert_mnist_siamese(const char *images, const char *labels,
                                         uint64_t seed, const char *db,
                                         const char            *backend,
                                         const fire_progress_t *progress)
{
    return convert(images, labels, db, backend, progress, &seed);
}
