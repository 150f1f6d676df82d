/* rows_hdf5.c - hdf5_rows.h with the HDF5 library. Opening reads only the shapes of all
 * files; a file's values are loaded when the first of its rows is asked for. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/random/rng.h"
#include "data/hdf5_rows.h"
#include "model/hdf5_io.h"

/* One of the listed HDF5 files. */
typedef struct file {
    const char *path; /* points into fire_rows.text */
    int64_t     rows; /* rows of each of its datasets */
} file_t;

struct fire_rows {
    char            *text; /* contents of the list file */
    file_t          *file;
    int64_t          nfile, cap;
    int64_t          total; /* rows of all files */
    char *const     *name;  /* [nset] names of datasets; the caller's */
    int              nset;
    fire_rows_set_t *set;    /* [nset] */
    float          **data;   /* [nset] values of the loaded file */
    int64_t         *size;   /* [nset] capacity of data[k], in floats */
    int64_t          loaded; /* number of the loaded file; -1: none */
};

static fire_status_t list_files(fire_rows_t *r, const char *list)
{
    char *rest = NULL, *word;

    for (word = strtok_r(r->text, " \t\r\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        FIRE_TRY(fire_grow(&r->file, &r->cap, r->nfile + 1, sizeof(*r->file)));
        r->file[r->nfile++].path = word;
    }
    if (r->nfile == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: lists no HDF5 files", list);
    return FIRE_OK;
}

static bool is_same_shape(const fire_rows_set_t *a, const fire_rows_set_t *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->dim, b->dim, (size_t)a->ndim * sizeof(*a->dim)) == 0;
}

/* Check dataset i of file f, and count its rows. The first file defines the shapes; the
 * others must agree. */
static fire_status_t check_set(fire_rows_t *r, hid_t h5, file_t *f, int i)
{
    fire_rows_set_t *set = &r->set[i], s = {0};
    int64_t          dim[FIRE_MAX_DIMS], count;
    int              ndim;

    FIRE_TRY(fire_hdf5_read_shape(h5, r->name[i], f->path, &ndim, dim, &count));
    if (ndim < 1 || count < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: dataset \"%s\" holds no rows", f->path,
                         r->name[i]);
    if (i > 0 && dim[0] != f->rows)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: dataset \"%s\" has %lld rows, \"%s\" has %lld", f->path,
                         r->name[i], (long long)dim[0], r->name[0], (long long)f->rows);
    f->rows = dim[0];
    s.ndim  = ndim - 1;
    s.count = count / dim[0];
    memcpy(s.dim, dim + 1, (size_t)s.ndim * sizeof(*dim));
    if (f != r->file && !is_same_shape(&s, set))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: rows of dataset \"%s\" have another shape than in %s",
                         f->path, r->name[i], r->file->path);
    *set = s;
    return FIRE_OK;
}

static fire_status_t check_file(fire_rows_t *r, file_t *f)
{
    hid_t         h5;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_hdf5_open(f->path, &h5));
    for (int i = 0; i < r->nset && st == FIRE_OK; i++)
        st = check_set(r, h5, f, i);
    fire_hdf5_close(h5);
    r->total += f->rows;
    return st;
}

static fire_status_t check_files(fire_rows_t *r)
{
    fire_status_t st = FIRE_OK;

    fire_hdf5_lock();
    for (int64_t i = 0; i < r->nfile && st == FIRE_OK; i++)
        st = check_file(r, &r->file[i]);
    fire_hdf5_unlock();
    return st;
}

fire_status_t fire_rows_open(const char *list, char *const *name, int nset,
                             fire_rows_t **rows_p)
{
    fire_rows_t  *r;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&r, 1));
    r->name   = name;
    r->nset   = nset;
    r->loaded = -1;
    FIRE_TRY_GOTO(st, fire_file_read_text(list, &r->text), err_rows);
    FIRE_TRY_GOTO(st, FIRE_NEW(&r->set, nset), err_rows);
    FIRE_TRY_GOTO(st, FIRE_NEW(&r->data, nset), err_rows);
    FIRE_TRY_GOTO(st, FIRE_NEW(&r->size, nset), err_rows);
    FIRE_TRY_GOTO(st, list_files(r, list), err_rows);
    FIRE_TRY_GOTO(st, check_files(r), err_rows);
    *rows_p = r;
    return FIRE_OK;

err_rows:
    fire_rows_close(r);
    return st;
}

void fire_rows_close(fire_rows_t *r)
{
    if (r == NULL) return;
    for (int i = 0; r->data != NULL && i < r->nset; i++)
        fire_free(r->data[i]);
    fire_free(r->data);
    fire_free(r->size);
    fire_free(r->set);
    fire_free(r->file);
    fire_free(r->text);
    fire_free(r);
}

int64_t fire_rows_count(const fire_rows_t *r)
{
    return r->total;
}

const fire_rows_set_t *fire_rows_set(const fire_rows_t *r, int set)
{
    return &r->set[set];
}

/* Load dataset i of file f. The file may have changed since it was opened, so its size
 * is checked again. */
static fire_status_t load_set(fire_rows_t *r, hid_t h5, const file_t *f, int i)
{
    int64_t dim[FIRE_MAX_DIMS], count, room = f->rows * r->set[i].count;
    int     ndim;

    FIRE_TRY(fire_hdf5_read_shape(h5, r->name[i], f->path, &ndim, dim, &count));
    if (count != room)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: dataset \"%s\" held %lld numbers at the start and now "
                         "holds %lld; start again",
                         f->path, r->name[i], (long long)room, (long long)count);
    FIRE_TRY(fire_grow(&r->data[i], &r->size[i], room, sizeof(**r->data)));
    return fire_hdf5_read_floats(h5, r->name[i], f->path, r->data[i]);
}

static fire_status_t load_sets(fire_rows_t *r, const file_t *f)
{
    hid_t         h5;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_hdf5_open(f->path, &h5));
    for (int i = 0; i < r->nset && st == FIRE_OK; i++)
        st = load_set(r, h5, f, i);
    fire_hdf5_close(h5);
    return st;
}

/* Have the values of file `number` in memory. */
static fire_status_t load_file(fire_rows_t *r, int64_t number)
{
    fire_status_t st;

    if (r->loaded == number) return FIRE_OK;
    r->loaded = -1;
    FIRE_LOG(DEBUG, "Loading HDF5 file: %s", r->file[number].path);
    fire_hdf5_lock();
    st = load_sets(r, &r->file[number]);
    fire_hdf5_unlock();
    if (st == FIRE_OK) r->loaded = number;
    return st;
}

/* Element `at` of a permutation of n. Streams of FIRE_RNG_SHUFFLE: 0 belongs to
 * order.h, 1 shuffles the files, 2 + f the rows of file f. */
static uint64_t shuffled(uint64_t seed, uint64_t stream, int64_t epoch, int64_t n,
                         int64_t at)
{
    return fire_rng_permute(
        fire_rng_key(seed, FIRE_RNG_SHUFFLE, stream, (uint64_t)epoch), (uint64_t)n,
        (uint64_t)at);
}

fire_status_t fire_rows_read(fire_rows_t *r, uint64_t seed, bool shuffle,
                             int64_t sample, const float **row_p)
{
    int64_t epoch = sample / r->total, row = sample % r->total, number = 0;

    for (int64_t i = 0; i < r->nfile; i++) {
        number = shuffle ? (int64_t)shuffled(seed, 1, epoch, r->nfile, i) : i;
        if (row < r->file[number].rows) break;
        row -= r->file[number].rows;
    }
    if (shuffle)
        row = (int64_t)shuffled(seed, 2 + (uint64_t)number, epoch, r->file[number].rows,
                                row);
    FIRE_TRY(load_file(r, number));
    for (int i = 0; i < r->nset; i++)
        row_p[i] = r->data[i] + row * r->set[i].count;
    return FIRE_OK;
}
