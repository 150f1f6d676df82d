/* cifar10.c - CIFAR-10's binary batches. A file holds 10000 images; each is a label
 * byte and 3 x 32 x 32 bytes of pixels, red plane first. Keys count the images of a set
 * from 00000. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/file.h"
#include "data/convert/common.h"

/* BYTES: of the pixels of an image. PER_FILE: images of a file. */
enum { SIDE = 32, BYTES = 3 * SIDE * SIDE, PER_FILE = 10000, TRAIN_FILES = 5 };

/* Append n images; `first` is the key of the first. */
static fire_status_t put_file(fire_convert_t *c, const uint8_t *bytes, int n, int first)
{
    for (int i = 0; i < n; i++, bytes += 1 + BYTES) {
        fire_datum_t d = {.channels = 3,
                          .height   = SIDE,
                          .width    = SIDE,
                          .label    = bytes[0],
                          .data     = bytes + 1,
                          .ndata    = BYTES};
        char         key[16];

        snprintf(key, sizeof(key), "%05d", first + i);
        FIRE_TRY(fire_convert_put(c, key, &d, NULL));
    }
    return FIRE_OK;
}

/* Path of file i: a test set has one file (nfile 1), the training set five. */
static fire_status_t path_of(const char *folder, int nfile, int i, char **path_p)
{
    if (nfile == 1) return fire_asprintf(path_p, "%s/test_batch.bin", folder);
    return fire_asprintf(path_p, "%s/data_batch_%d.bin", folder, i + 1);
}

/* Look for missing files before anything is written. */
static fire_status_t check_files(const char *folder, int nfile)
{
    fire_status_t st = FIRE_OK;

    for (int i = 0; st >= 0 && i < nfile; i++) {
        char *path;

        FIRE_TRY(path_of(folder, nfile, i, &path));
        st = fire_file_check(path);
        fire_free(path);
    }
    return st;
}

static fire_status_t convert_file(fire_convert_t *c, const char *path, int first)
{
    char         *bytes;
    size_t        n = 0;
    fire_status_t st;

    FIRE_TRY(fire_file_read(path, &bytes, &n));
    if (n > 0 && n % (1 + BYTES) == 0 && n <= (size_t)PER_FILE * (1 + BYTES))
        st = put_file(c, (const uint8_t *)bytes, (int)(n / (1 + BYTES)), first);
    else
        st =
            FIRE_FAIL(FIRE_ERR_PARSE,
                      "%s: %zu bytes; a CIFAR-10 batch has %d, a label and %d for each "
                      "image",
                      path, n, PER_FILE * (1 + BYTES), BYTES);
    fire_free(bytes);
    return st;
}

static fire_status_t convert_set(const char *folder, const char *out, const char *set,
                                 int nfile, const char *backend,
                                 const fire_progress_t *progress)
{
    fire_convert_t c;
    char          *db;
    fire_status_t  st;

    FIRE_TRY(fire_asprintf(&db, "%s/cifar10_%s_%s", out, set, backend));
    st = fire_convert_open(&c, db, backend, (int64_t)nfile * PER_FILE, progress);
    fire_free(db);
    if (st < 0) return st;
    for (int i = 0; st == FIRE_OK && i < nfile; i++) {
        char *path = NULL;

        st = path_of(folder, nfile, i, &path);
        if (st == FIRE_OK) st = convert_file(&c, path, i * PER_FILE);
        fire_free(path);
    }
    return fire_convert_close(&c, st);
}

fire_status_t fire_convert_cifar10(const char *folder, const char *out,
                                   const char *backend, const fire_progress_t *progress)
{
    FIRE_TRY(check_files(folder, TRAIN_FILES));
    FIRE_TRY(check_files(folder, 1));
    FIRE_TRY(convert_set(folder, out, "train", TRAIN_FILES, backend, progress));
    return convert_set(folder, out, "test", 1, backend, progress);
}
