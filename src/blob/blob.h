/* blob.h (internal) - what layers and passes need beyond the public calls. */
#ifndef FIRE_BLOB_BLOB_H
#define FIRE_BLOB_BLOB_H
#include <fire/blob.h>
#include "blob/storage.h"

FIRE_BEGIN_C
struct fire_blob {
    int             ndim;
    int64_t         dim[FIRE_MAX_DIMS];
    int64_t         count;
    fire_storage_t *part[2];
};

/* Axis as users write it: negative counts from the end. `who` is for the message. */
fire_status_t fire_blob_axis(const fire_blob_t *blob, int axis, const char *who,
                             int *axis_p);
/* Product of the dimensions from `first` up to but not including `end`. */
int64_t fire_blob_count_range(const fire_blob_t *blob, int first, int end);
/* Caffe's legacy view: dimension i, or 1 where there are fewer axes. */
int64_t fire_blob_dim_or_1(const fire_blob_t *blob, int i);
bool    fire_blob_same_shape(const fire_blob_t *a, const fire_blob_t *b);
/* "64 3 28 28 (150528)", as Caffe prints shapes; returns buf. */
const char *fire_blob_shape_string(const fire_blob_t *blob, char *buf, size_t size);
enum { FIRE_SHAPE_TEXT = 128 };

/* Take memory from this pool from now on; lasting: to keep it. */
void fire_blob_use_pool(fire_blob_t *blob, fire_pool_t *pool, bool lasting);
/* Let dst's part be src's: same memory, from now on. */
void fire_blob_share(fire_blob_t *dst, const fire_blob_t *src, fire_part_t part);

/* Access in another format than plain float32: what fast kernels use. */
fire_status_t fire_blob_access(fire_blob_t *blob, fire_part_t part,
                               fire_access_t access, const fire_format_t *format,
                               void **ptr_p);

/* The format that reading on the CPU costs nothing in, and the elements of its memory, padding
 * included. Element-wise kernels work on these as they lie. */
fire_format_t fire_blob_format(const fire_blob_t *blob, fire_part_t part);
/* The same layout for a blob of another size, where sizes matter. */
fire_status_t fire_blob_format_like(const fire_blob_t *blob, const fire_format_t *like,
                                    fire_format_t *format_p);
/* That format if it has channels in blocks, else one that has. */
fire_status_t fire_blob_blocked(const fire_blob_t *blob, fire_part_t part,
                                fire_format_t *format_p);
int64_t       fire_blob_raw_count(const fire_blob_t *blob, const fire_format_t *format);

/* The best among those on one place. */
fire_format_t fire_blob_format_at(const fire_blob_t *blob, fire_part_t part,
                                  fire_place_t place);

/* All elements of a part to one value: on the CPU; where the caller wants it. */
fire_status_t fire_blob_set(fire_blob_t *blob, fire_part_t part, float value);
fire_status_t fire_blob_fill(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                             float value);
/* As the values lie, on whatever place that is. */
fire_status_t fire_blob_copy(fire_blob_t *dst, fire_blob_t *src, fire_part_t part);
FIRE_END_C
#endif
