/* blob_proto.h - reads and writes BlobProto, the arrays in model files. Old files give
 * the shape as num, channels, height and width instead of `shape`, and may hold
 * doubles; both are accepted.
 *
 * `what` names the array in error messages: "net.caffemodel: layer \"ip1\" blob 0". */
#ifndef FIRE_MODEL_BLOB_PROTO_H
#define FIRE_MODEL_BLOB_PROTO_H
#include <fire/blob.h>
#include "caffe.pb-c.h"

/* Read the shape and the number of elements. Fails for negative dimensions, more than
 * FIRE_MAX_DIMS axes, or an overflow. */
fire_status_t fire_blob_proto_shape(const Caffe__BlobProto *proto, const char *what,
                                    int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                                    int64_t *count_p);

/* Does the array have this shape? An old four-number shape also matches a shorter one
 * with ones in front, as in Caffe: 1 1 1 20 is a vector of 20. */
bool fire_blob_proto_fits(const Caffe__BlobProto *proto, int ndim, const int64_t *dim);

/* Has it neither shape nor values? In HDF5 models such a blob stands for one that is
 * shared with another layer and stored there. */
bool fire_blob_proto_is_empty(const Caffe__BlobProto *proto);

/* Copy the `count` values of a part (data or diff) to `values`; doubles are rounded.
 * Fails if the message has another number of them. */
fire_status_t fire_blob_proto_read(const Caffe__BlobProto *proto, fire_part_t part,
                                   const char *what, int64_t count, float *values);
/* Does it hold values of this part? */
bool fire_blob_proto_has(const Caffe__BlobProto *proto, fire_part_t part);

/* set_shape() sets the shape and drops an old one; write() sets the `count` values of a
 * part. */
fire_status_t fire_blob_proto_set_shape(Caffe__BlobProto *proto, int ndim,
                                        const int64_t *dim);
fire_status_t fire_blob_proto_write(Caffe__BlobProto *proto, fire_part_t part,
                                    int64_t count, const float *values);
#endif
