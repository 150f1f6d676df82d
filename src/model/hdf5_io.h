/* hdf5_io.h - the operations on HDF5 files that we need, for sources named *_hdf5.c.
 * The caller holds fire_hdf5_lock() during all of them. */
#ifndef FIRE_MODEL_HDF5_IO_H
#define FIRE_MODEL_HDF5_IO_H
#include <hdf5.h>
#include <fire/blob.h>
#include "model/hdf5.h"

/* Fail with "cannot DOING "PATH" NAME: HDF5: REASON", the library's innermost
 * reason. */
fire_status_t fire_hdf5_fail(const char *doing, const char *path, const char *name);

/* Open a file to read. End *file_p with fire_hdf5_close(). */
fire_status_t fire_hdf5_open(const char *path, hid_t *file_p);
void          fire_hdf5_close(hid_t file);

/* Create a file in memory. fire_hdf5_commit() writes it to disk and closes it in any
 * case; fire_hdf5_close() drops it. The file is written by base/file.h, so a full disk
 * is reported and no half-written file is left. sealed: with a checksum at its end
 * (base/seal.h). */
fire_status_t fire_hdf5_create(hid_t *file_p);
fire_status_t fire_hdf5_commit(hid_t file, const char *path, bool sealed);

/* Write a group or dataset `name` under `at`. Slashes in `name` create the groups on
 * the way. `path` names the file in messages. */
fire_status_t fire_hdf5_write_group(hid_t at, const char *name, const char *path);
fire_status_t fire_hdf5_write_floats(hid_t at, const char *name, const char *path,
                                     int ndim, const int64_t *dim, const float *values);
fire_status_t fire_hdf5_write_int(hid_t at, const char *name, const char *path,
                                  int value);
fire_status_t fire_hdf5_write_ints(hid_t at, const char *name, const char *path,
                                   int ndim, const int64_t *dim, const int *values);
/* A dataset of n texts of the length of the longest; shorter ones are padded with
 * zeros. */
fire_status_t fire_hdf5_write_texts(hid_t at, const char *name, const char *path,
                                    int64_t n, const char *const *text);
fire_status_t fire_hdf5_write_string(hid_t at, const char *name, const char *path,
                                     const char *text);
fire_status_t fire_hdf5_write_bytes(hid_t at, const char *name, const char *path,
                                    size_t n, const void *bytes);

/* The kind of the object: H5I_GROUP, H5I_DATASET, ...; H5I_BADID if there is none. */
H5I_type_t fire_hdf5_kind(hid_t at, const char *name);
/* Open a group or dataset; end it with H5Oclose(). Negative on failure. Here and below, a
 * link to another file is a failure. */
hid_t fire_hdf5_find(hid_t at, const char *name);
/* Shape and number of elements of a dataset. Fails if its values are in other files, or
 * more are claimed than the file can hold: call it before memory is allocated. */
fire_status_t fire_hdf5_read_shape(hid_t at, const char *name, const char *path,
                                   int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                                   int64_t *count_p);
/* Read a dataset of numbers of any type; `values` has room for all elements. */
fire_status_t fire_hdf5_read_floats(hid_t at, const char *name, const char *path,
                                    float *values);
fire_status_t fire_hdf5_read_int(hid_t at, const char *name, const char *path,
                                 int *value_p);
/* Read a dataset of bytes, or one text of fixed length. End *bytes_p, *text_p with
 * fire_free(). */
fire_status_t fire_hdf5_read_bytes(hid_t at, const char *name, const char *path,
                                   size_t *n_p, uint8_t **bytes_p);
fire_status_t fire_hdf5_read_string(hid_t at, const char *name, const char *path,
                                    char **text_p);

/* count(): number of members of a group. name(): name of member i, in alphabetical
 * order. */
fire_status_t fire_hdf5_count(hid_t group, const char *path, int64_t *n_p);
fire_status_t fire_hdf5_name(hid_t group, int64_t i, const char *path, char *name,
                             size_t size);
#endif
