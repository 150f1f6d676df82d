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

/* Set *axis_p to an axis as users write it: negative ones count from the end. Fails
 * with FIRE_ERR_INVALID if there is none; `who` begins the message. */
FIRE_CALL fire_blob_axis(const fire_blob_t *blob, int axis, const char *who,
                         int *axis_p);
/* Product of the dimensions from axis `first` up to, but not including, `end`; 1 for
 * none. 0 <= first <= end <= ndim is not checked. */
FIRE_API int64_t fire_blob_count_range(const fire_blob_t *blob, int first, int end);
FIRE_API bool    fire_blob_same_shape(const fire_blob_t *a, const fire_blob_t *b);

/* Print the shape into buf as Caffe does, "64 3 28 28 (150528)"; returns buf. A text
 * that does not fit is cut; FIRE_SHAPE_TEXT bytes suffice for usual shapes. */
enum { FIRE_SHAPE_TEXT = 128 };
FIRE_API const char *fire_blob_shape_string(const fire_blob_t *blob, char *buf,
                                            size_t size);

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
