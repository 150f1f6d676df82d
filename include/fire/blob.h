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

/* Keep a blob, also one that belongs to a net, until fire_blob_destroy() has been called
 * once more. It keeps its shape and values when its net ends. Returns the blob; never
 * fails; any thread may call it. */
FIRE_API fire_blob_t *fire_blob_retain(fire_blob_t *blob);

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

/* ---- views ----
 *
 * A view is a pointer that stays valid until fire_view_destroy(), whatever becomes of the
 * blob and its net: an array of Python, for example. While the blob keeps its memory the
 * view is live:
 * - Each function that runs a net (forward, backward, a trainer's step, ...) takes over
 *   the values written through views when it begins, and when it returns the views have
 *   the values of then.
 * - Between such calls, fire_blob_read() and the like give what is in the view, in its
 *   own place. Where a blob is viewed on the CPU and on a GPU, write to one of them only.
 * A blob that is reshaped to more elements, or shares the memory of another blob from now
 * on, leaves its old views behind: they keep their values. So does a lean net where it
 * gives memory back. Parameters of a trainer with several workers are an exception: their
 * memory belongs to the communicator, so destroy their views, and blobs retained, before
 * the trainer. A view costs a conversion after each pass if the net computes in
 * another format, so destroy it when it is not needed. */
typedef struct fire_view fire_view_t;

/* Get a view of all elements, float32 in NCHW order. Fails as fire_blob_update() does.
 * Afterwards any thread may look at the view and destroy it. */
FIRE_CALL     fire_blob_view(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                             fire_view_t **view_p);
FIRE_API void fire_view_destroy(fire_view_t *view); /* NULL is allowed */

/* Its elements; its shape, which is the blob's when the view was made; its place. */
FIRE_API float         *fire_view_values(const fire_view_t *view);
FIRE_API int            fire_view_ndim(const fire_view_t *view);
FIRE_API const int64_t *fire_view_dims(const fire_view_t *view);
FIRE_API fire_place_t   fire_view_place(const fire_view_t *view);
FIRE_END_C
#endif
