/* blob.h (internal) - blobs for layers and passes, beyond the public calls of
 * <fire/blob.h>.
 *
 * A blob is an array of up to FIRE_MAX_DIMS axes with two parts, data and gradient
 * (diff). Each part has its storage, which may hold the values in several formats: on
 * CPU or GPU, plain or blocked, float32 or bf16 (storage.h). Users always see Caffe's
 * N-d shape in NCHW order. */
#ifndef FIRE_BLOB_BLOB_H
#define FIRE_BLOB_BLOB_H
#include <fire/blob.h>
#include "blob/storage.h"

FIRE_BEGIN_C
struct fire_blob {
    int     refs;               /* atomic: fire_blob_retain() */
    int     ndim;               /* axes */
    int64_t dim[FIRE_MAX_DIMS]; /* lengths of the axes */
    int64_t count;              /* elements: their product */
    /* [FIRE_DATA], [FIRE_DIFF]; may be shared with other blobs */
    fire_storage_t *part[2];
};

/* While there are views of the blob, whoever runs the layers that use it calls absorb
 * before (values may have been changed through the views) and refresh after. */
fire_status_t fire_blob_absorb_views(fire_blob_t *blob);
fire_status_t fire_blob_refresh_views(fire_blob_t *blob);

/* Dimension i of Caffe's legacy four-number view: 1 where there are fewer axes. */
int64_t fire_blob_dim_or_1(const fire_blob_t *blob, int i);

/* From now on take memory from this pool. lasting: it is kept for the whole run. */
void fire_blob_use_pool(fire_blob_t *blob, fire_pool_t *pool, bool lasting);
/* From now on dst's part is src's: the same memory. */
void fire_blob_share(fire_blob_t *dst, const fire_blob_t *src, fire_part_t part);

/* Access a part in any format; fast kernels use formats other than plain float32.
 * FIRE_READ converts the values if needed, FIRE_WRITE has undefined contents,
 * FIRE_UPDATE reads and writes. */
fire_status_t fire_blob_access(fire_blob_t *blob, fire_part_t part,
                               fire_access_t access, const fire_format_t *format,
                               void **ptr_p);

/* The format in which the part can be read on the CPU without conversion. Element-wise
 * kernels read and write it as it is, padding included: fire_blob_raw_count()
 * elements. */
fire_format_t fire_blob_format(const fire_blob_t *blob, fire_part_t part);
/* The layout of `like` for this blob's shape; a blocked layout depends on it. */
fire_status_t fire_blob_format_like(const fire_blob_t *blob, const fire_format_t *like,
                                    fire_format_t *format_p);
/* fire_blob_format() if it has channels in blocks, else the preferred blocked
 * format. */
fire_status_t fire_blob_blocked(const fire_blob_t *blob, fire_part_t part,
                                fire_format_t *format_p);
/* Elements of the memory in this format, padding included. */
int64_t fire_blob_raw_count(const fire_blob_t *blob, const fire_format_t *format);

/* The same as fire_blob_format() for CPU or GPU. */
fire_format_t fire_blob_format_at(const fire_blob_t *blob, fire_part_t part,
                                  fire_place_t place);

/* Set all elements of a part to one value: on the CPU, or on the given place. */
fire_status_t fire_blob_set(fire_blob_t *blob, fire_part_t part, float value);
fire_status_t fire_blob_fill(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                             float value);
/* Copy a part in the format and on the place where src has it, without conversion. */
fire_status_t fire_blob_copy(fire_blob_t *dst, fire_blob_t *src, fire_part_t part);
FIRE_END_C
#endif
