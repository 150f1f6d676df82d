/* hdf5_rows.h - samples that lie in HDF5 files: row i of each of several datasets.
 * One file at a time is held in memory, whole, as in Caffe. */
#ifndef FIRE_DATA_HDF5_ROWS_H
#define FIRE_DATA_HDF5_ROWS_H
#include <fire/blob.h>
#include "base/error.h"

typedef struct fire_rows_set {
    int     ndim; /* without the first axis, which counts rows */
    int64_t dim[FIRE_MAX_DIMS];
    int64_t count; /* floats in a row */
} fire_rows_set_t;

typedef struct fire_rows fire_rows_t;

/* `list`: a text file that names the HDF5 files; `name`: the datasets, nset of them.
 * All files must have all of them, with rows of the same shape. */
fire_status_t fire_rows_open(const char *list, char *const *name, int nset,
                             fire_rows_t **rows_p);
void          fire_rows_close(fire_rows_t *r); /* NULL is allowed */

const fire_rows_set_t *fire_rows_set(const fire_rows_t *r, int set);
int64_t                fire_rows_count(const fire_rows_t *r); /* of all files */

/* Row of a sample (counted over all epochs): file after file, wrapping at the end;
 * shuffled, files and the rows inside each come in another order every epoch. The
 * pointers (one per dataset) are valid until the next call. */
fire_status_t fire_rows_read(fire_rows_t *r, uint64_t seed, bool shuffle,
                             int64_t sample, const float **row_p);
#endif
