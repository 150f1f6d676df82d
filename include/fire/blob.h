/* blob.h - n-dimensional float arrays with a value (data) and a gradient (diff).
 *
 * A blob is logical: users see Caffe's shapes in NCHW order and float32. What lies
 * in memory may be on another device, in another number format or layout; reading
 * converts where that is needed. One thread at a time per blob. */
#ifndef FIRE_BLOB_H
#define FIRE_BLOB_H
#include <fire/status.h>

FIRE_BEGIN_C
enum { FIRE_MAX_DIMS = 32 }; /* Caffe's limit */

typedef enum fire_place { FIRE_CPU, FIRE_GPU } fire_place_t;
typedef enum fire_part { FIRE_DATA, FIRE_DIFF } fire_part_t;
typedef struct fire_blob fire_blob_t;

/* An empty blob (no axes, count 1 as in Caffe once reshaped; count 0 until then).
 * The caller ends it with fire_blob_destroy(). */
FIRE_CALL     fire_blob_create(fire_blob_t **blob_p);
FIRE_API void fire_blob_destroy(fire_blob_t *blob); /* NULL is allowed */

/* Set the shape. Values are kept if memory suffices and undefined otherwise. */
FIRE_CALL fire_blob_reshape(fire_blob_t *blob, int ndim, const int64_t *dim);
FIRE_CALL fire_blob_reshape_like(fire_blob_t *blob, const fire_blob_t *other);

FIRE_API int            fire_blob_ndim(const fire_blob_t *blob);
FIRE_API const int64_t *fire_blob_dims(const fire_blob_t *blob);
FIRE_API int64_t        fire_blob_count(const fire_blob_t *blob);

/* Borrow the elements, float32 in NCHW order; valid until the blob is reshaped,
 * destroyed or accessed elsewhere. New memory reads as zeros.
 *   read    to look at          write   to overwrite all (old values are lost)
 *   update  to change in place */
FIRE_CALL fire_blob_read(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                         const float **ptr_p);
FIRE_CALL fire_blob_write(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                          float **ptr_p);
FIRE_CALL fire_blob_update(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                           float **ptr_p);
FIRE_END_C
#endif
