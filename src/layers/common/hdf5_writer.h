/* hdf5_writer.h - an HDF5 file that grows: arrays of one name, appended along their
 * first axis. */
#ifndef FIRE_LAYERS_COMMON_HDF5_WRITER_H
#define FIRE_LAYERS_COMMON_HDF5_WRITER_H
#include "base/error.h"

typedef struct fire_hdf5_writer fire_hdf5_writer_t;

/* Start an empty file. The caller ends it with fire_hdf5_writer_close(). */
fire_status_t fire_hdf5_writer_open(const char *path, fire_hdf5_writer_t **writer_p);
/* What was appended so far is readable even if the program ends here. */
fire_status_t fire_hdf5_writer_append(fire_hdf5_writer_t *writer, const char *name,
                                      int ndim, const int64_t *dim,
                                      const float *values);
void          fire_hdf5_writer_close(fire_hdf5_writer_t *writer); /* NULL is allowed */
#endif
