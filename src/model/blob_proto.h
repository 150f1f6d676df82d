/* blob_proto.h - arrays inside of model files. Old files give a shape as num,
 * channels, height and width, and may hold doubles; both are accepted.
 *
 * `what` names the array in error messages: "net.caffemodel: layer \"ip1\" blob 0". */
#ifndef FIRE_MODEL_BLOB_PROTO_H
#define FIRE_MODEL_BLOB_PROTO_H
#include <fire/blob.h>
#include "caffe.pb-c.h"

/* Shape and number of elements; dimensions below 0 are an error. */
fire_status_t fire_blob_proto_shape(const Caffe__BlobProto *proto, const char *what,
                                    int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                                    int64_t *count_p);

/* Has the array this shape? Old four-number shapes match shorter ones with ones
 * in front, as in Caffe: 1 1 1 20 is a vector of 20. */
bool fire_blob_proto_fits(const Caffe__BlobProto *proto, int ndim, const int64_t *dim);

/* Nothing in it: in HDF5 models the place of a blob stored with another layer. */
bool fire_blob_proto_is_empty(const Caffe__BlobProto *proto);

/* Copy `count` values out; another number of them in the message is an error. */
fire_status_t fire_blob_proto_read(const Caffe__BlobProto *proto, fire_part_t part,
                                   const char *what, int64_t count, float *values);
bool          fire_blob_proto_has(const Caffe__BlobProto *proto, fire_part_t part);

/* Set the shape; set the values of one part, count of them. */
fire_status_t fire_blob_proto_set_shape(Caffe__BlobProto *proto, int ndim,
                                        const int64_t *dim);
fire_status_t fire_blob_proto_write(Caffe__BlobProto *proto, fire_part_t part,
                                    int64_t count, const float *values);
#endif
