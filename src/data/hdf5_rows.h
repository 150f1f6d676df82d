/* hdf5_rows.h - reads samples from HDF5 files: sample i is row i of each of several
 * datasets. Holds the datasets of one file in memory at a time, whole, as Caffe does.
 * One thread may use a fire_rows_t. */
#ifndef FIRE_DATA_HDF5_ROWS_H
#define FIRE_DATA_HDF5_ROWS_H
#include <fire/blob.h>
#include "base/error.h"

/* The shape of one row of a dataset. */
typedef struct fire_rows_set {
    int     ndim; /* axes of a row: those of the dataset without the first */
    int64_t dim[FIRE_MAX_DIMS]; /* their lengths */
    int64_t count;              /* floats of a row: the product of dim */
} fire_rows_set_t;

typedef struct fire_rows fire_rows_t;

/* Open the HDF5 files named in the text file `list` (separated by white space) and
 * check that each has the datasets name[0 ... nset - 1] with rows of the same shape.
 * `name` must outlive the result. */
fire_status_t fire_rows_open(const char *list, char *const *name, int nset,
                             fire_rows_t **rows_p);
void          fire_rows_close(fire_rows_t *r); /* NULL is allowed */

/* Shape of dataset number `set`. */
const fire_rows_set_t *fire_rows_set(const fire_rows_t *r, int set);
int64_t fire_rows_count(const fire_rows_t *r); /* rows of all files together */

/* Set row_p[k] to the row of a sample in dataset k, for k < nset. Samples count rows
 * file after file and start over at the end (order.h). Shuffled, each epoch reads the
 * files in another order and the rows of each file in another order; a file is loaded
 * once per epoch. The pointers are valid until the next call. */
fire_status_t fire_rows_read(fire_rows_t *r, uint64_t seed, bool shuffle,
                             int64_t sample, const float **row_p);
#endif
