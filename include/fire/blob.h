/* blob.h - n-dimensional float arrays with a value (data) and a gradient (diff).
 *
 * A blob is logical: users see Caffe's shapes in NCHW order and float32. Its memory may
 * be on another device, in another number format or layout; the functions below convert
 * it where needed. One thread at a time uses a blob. */
#ifndef FIRE_BLOB_H
#define FIRE_BLOB_H
#include <fire/status.h>

FIRE_BEGIN_C
enum { FIRE_MAX_DIMS = 32 }; /* Caffe's limit */

typedef enum fire_place { FIRE_CPU, FIRE_GPU } fire_place_t;
typedef enum fire_part { FIRE_DATA, FIRE_DIFF } fire_part_t;
typedef struct fire_blob fire_blob_t;

/* Create an empty blob with count 0. After a reshape without axes the count is 1, as in
 * Caffe. The caller frees it with fire_blob_destroy(). */
FIRE_CALL     fire_blob_create(fire_blob_t **blob_p);
FIRE_API void fire_blob_destroy(fire_blob_t *blob); /* NULL is allowed */

/* Set the shape. Values are kept if the memory is large enough, else they are
 * undefined. */
FIRE_CALL fire_blob_reshape(fire_blob_t *blob, int ndim, const int64_t *dim);
FIRE_CALL fire_blob_reshape_like(fire_blob_t *blob, const fire_blob_t *other);

FIRE_API int            fire_blob_ndim(const fire_blob_t *blob);
FIRE_API const int64_t *fire_blob_dims(const fire_blob_t *blob);
FIRE_API int64_t        fire_blob_count(const fire_blob_t *blob);

/* Get a pointer to the elements, float32 in NCHW order, on the CPU or a GPU. It is
 * valid until the blob is reshaped, destroyed or accessed in the other place. New
 * memory is zero.
 *   read     to read them
 *   write    to overwrite all of them; old values are lost
 *   update   to read and change them */
FIRE_CALL fire_blob_read(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                         const float **ptr_p);
FIRE_CALL fire_blob_write(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                          float **ptr_p);
FIRE_CALL fire_blob_update(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                           float **ptr_p);
FIRE_END_C
#endif
