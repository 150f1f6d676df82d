/* hdf5_io.h - the few things done with the HDF5 library, for sources named
 * *_hdf5.c. The caller holds fire_hdf5_lock() around all of it. */
#ifndef FIRE_MODEL_HDF5_IO_H
#define FIRE_MODEL_HDF5_IO_H
#include <hdf5.h>
#include <fire/blob.h>
#include "model/hdf5.h"

/* Fail with "cannot <doing> "path" name: " and the library's innermost reason. */
fire_status_t fire_hdf5_fail(const char *doing, const char *path, const char *name);

fire_status_t fire_hdf5_open(const char *path, hid_t *file_p);
void          fire_hdf5_close(hid_t file);

/* A file to write is built up in memory and put in place by commit(), which
 * closes it in any case: a full disk then meets our own writer, and nothing
 * half-written stays behind. */
fire_status_t fire_hdf5_create(hid_t *file_p);
fire_status_t fire_hdf5_commit(hid_t file, const char *path);

/* `name` may hold slashes; groups on the way are made. `path` is for messages. */
fire_status_t fire_hdf5_write_group(hid_t at, const char *name, const char *path);
fire_status_t fire_hdf5_write_floats(hid_t at, const char *name, const char *path,
                                     int ndim, const int64_t *dim, const float *values);
fire_status_t fire_hdf5_write_int(hid_t at, const char *name, const char *path,
                                  int value);
fire_status_t fire_hdf5_write_ints(hid_t at, const char *name, const char *path,
                                   int ndim, const int64_t *dim, const int *values);
/* n texts of one length, the longest one's; shorter ones end with zeros. */
fire_status_t fire_hdf5_write_texts(hid_t at, const char *name, const char *path,
                                    int64_t n, const char *const *text);
fire_status_t fire_hdf5_write_string(hid_t at, const char *name, const char *path,
                                     const char *text);
fire_status_t fire_hdf5_write_bytes(hid_t at, const char *name, const char *path,
                                    size_t n, const void *bytes);

/* What kind of thing is it: H5I_GROUP, H5I_DATASET, H5I_BADID if not there. */
H5I_type_t    fire_hdf5_kind(hid_t at, const char *name);
fire_status_t fire_hdf5_read_shape(hid_t at, const char *name, const char *path,
                                   int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                                   int64_t *count_p);
/* All values of a dataset of numbers; `values` has room for all of them. */
fire_status_t fire_hdf5_read_floats(hid_t at, const char *name, const char *path,
                                    float *values);
fire_status_t fire_hdf5_read_int(hid_t at, const char *name, const char *path,
                                 int *value_p);
/* End *bytes_p, *text_p with fire_free(). */
fire_status_t fire_hdf5_read_bytes(hid_t at, const char *name, const char *path,
                                   size_t *n_p, uint8_t **bytes_p);
fire_status_t fire_hdf5_read_string(hid_t at, const char *name, const char *path,
                                    char **text_p);

/* Members of a group, in the order of their names. */
fire_status_t fire_hdf5_count(hid_t group, const char *path, int64_t *n_p);
fire_status_t fire_hdf5_name(hid_t group, int64_t i, const char *path, char *name,
                             size_t size);
#endif
