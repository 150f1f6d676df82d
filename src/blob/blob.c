/* blob.c - shapes of blobs, and access to their storage. */
#include "blob/blob.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/blocked.h"

fire_status_t fire_blob_create(fire_blob_t **blob_p)
{
    fire_blob_t  *b;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&b, 1));
    b->refs = 1;
    FIRE_TRY_GOTO(st, fire_storage_create(&b->part[FIRE_DATA]), err_blob);
    FIRE_TRY_GOTO(st, fire_storage_create(&b->part[FIRE_DIFF]), err_blob);
    *blob_p = b;
    return FIRE_OK;

err_blob:
    fire_blob_destroy(b);
    return st;
}

fire_blob_t *fire_blob_retain(fire_blob_t *b)
{
    __atomic_fetch_add(&b->refs, 1, __ATOMIC_RELAXED);
    return b;
}

void fire_blob_destroy(fire_blob_t *b)
{
    if (b == NULL || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) > 0) return;
    fire_storage_release(b->part[FIRE_DATA]);
    fire_storage_release(b->part[FIRE_DIFF]);
    fire_free(b);
}

/* Before the blob grows: if its memory is shared with other blobs, take new memory,
 * because theirs must not change. */
static fire_status_t outgrow(fire_blob_t *b, fire_part_t part)
{
    fire_storage_t *fresh;

    if (!fire_storage_is_shared(b->part[part])) return FIRE_OK;
    FIRE_TRY(fire_storage_create(&fresh));
    fire_storage_release(b->part[part]);
    b->part[part] = fresh;
    return FIRE_OK;
}

fire_status_t fire_blob_reshape(fire_blob_t *b, int ndim, const int64_t *dim)
{
    int64_t count = 1,
            most  = 1; /* most: the product without zeros, to bound the size */

    if (ndim < 0 || ndim > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "a blob has 0 to %d axes, not %d",
                         FIRE_MAX_DIMS, ndim);
    for (int i = 0; i < ndim; i++) {
        if (dim[i] < 0)
            return FIRE_FAIL(FIRE_ERR_INVALID, "dimension %lld on axis %d is negative",
                             (long long)dim[i], i);
        if (__builtin_mul_overflow(most, dim[i] > 0 ? dim[i] : 1, &most) ||
            most > INT64_MAX / 16)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "dimension %lld on axis %d makes the blob too large",
                             (long long)dim[i], i);
        count *= dim[i];
    }
    if (count > b->count) {
        FIRE_TRY(outgrow(b, FIRE_DATA));
        FIRE_TRY(outgrow(b, FIRE_DIFF));
    }
    b->ndim  = ndim;
    b->count = count;
    if (dim != b->dim && ndim > 0) memcpy(b->dim, dim, (size_t)ndim * sizeof(*dim));
    return FIRE_OK;
}

fire_status_t fire_blob_reshape_like(fire_blob_t *b, const fire_blob_t *other)
{
    return b == other ? FIRE_OK : fire_blob_reshape(b, other->ndim, other->dim);
}

int fire_blob_ndim(const fire_blob_t *b)
{
    return b->ndim;
}

const int64_t *fire_blob_dims(const fire_blob_t *b)
{
    return b->dim;
}

int64_t fire_blob_count(const fire_blob_t *b)
{
    return b->count;
}

fire_status_t fire_blob_access(fire_blob_t *b, fire_part_t part, fire_access_t access,
                               const fire_format_t *format, void **ptr_p)
{
    return fire_storage_access(b->part[part], access, format, b->ndim, b->dim, ptr_p);
}

fire_status_t fire_blob_read(fire_blob_t *b, fire_part_t part, fire_place_t where,
                             const float **ptr_p)
{
    void *ptr;

    FIRE_TRY(fire_blob_access(b, part, FIRE_READ, &FIRE_FORMAT_PLAIN(where), &ptr));
    *ptr_p = ptr;
    return FIRE_OK;
}

fire_status_t fire_blob_write(fire_blob_t *b, fire_part_t part, fire_place_t where,
                              float **ptr_p)
{
    return fire_blob_access(b, part, FIRE_WRITE, &FIRE_FORMAT_PLAIN(where),
                            (void **)ptr_p);
}

fire_status_t fire_blob_update(fire_blob_t *b, fire_part_t part, fire_place_t where,
                               float **ptr_p)
{
    return fire_blob_access(b, part, FIRE_UPDATE, &FIRE_FORMAT_PLAIN(where),
                            (void **)ptr_p);
}

fire_status_t fire_blob_axis(const fire_blob_t *b, int axis, const char *who,
                             int *axis_p)
{
    char shape[FIRE_SHAPE_TEXT];

    if (axis < -b->ndim || axis >= b->ndim)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%s: axis %d is out of range for shape %s",
                         who, axis, fire_blob_shape_string(b, shape, sizeof(shape)));
    *axis_p = axis < 0 ? axis + b->ndim : axis;
    return FIRE_OK;
}

int64_t fire_blob_count_range(const fire_blob_t *b, int first, int end)
{
    int64_t n = 1;

    for (int i = first; i < end; i++)
        n *= b->dim[i];
    return n;
}

int64_t fire_blob_dim_or_1(const fire_blob_t *b, int i)
{
    return i < b->ndim ? b->dim[i] : 1;
}

bool fire_blob_same_shape(const fire_blob_t *a, const fire_blob_t *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->dim, b->dim, (size_t)a->ndim * sizeof(*a->dim)) == 0;
}

const char *fire_blob_shape_string(const fire_blob_t *b, char *buf, size_t size)
{
    size_t at = 0;

    for (int i = 0; i < b->ndim && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%lld ", (long long)b->dim[i]);
    if (at < size) snprintf(buf + at, size - at, "(%lld)", (long long)b->count);
    return buf;
}

void fire_blob_use_pool(fire_blob_t *b, fire_pool_t *pool, bool lasting)
{
    fire_storage_use_pool(b->part[FIRE_DATA], pool, lasting);
    fire_storage_use_pool(b->part[FIRE_DIFF], pool, lasting);
}

void fire_blob_share(fire_blob_t *dst, const fire_blob_t *src, fire_part_t part)
{
    fire_storage_t *old = dst->part[part];

    dst->part[part] = fire_storage_retain(src->part[part]);
    fire_storage_release(old);
}

fire_format_t fire_blob_format_at(const fire_blob_t *b, fire_part_t part,
                                  fire_place_t place)
{
    return fire_storage_format_at(b->part[part], place, b->ndim, b->dim);
}

/* Is the blocked format of this blob's shape? Another blob that shares the memory may
 * have another one, and so may this blob before a reshape. */
static bool fits(const fire_blocked_t *b, const fire_blob_t *blob)
{
    return b != NULL && blob->ndim >= 2 && b->num == blob->dim[0] &&
           b->channels == blob->dim[1] &&
           b->plane == fire_blob_count_range(blob, 2, blob->ndim);
}

fire_format_t fire_blob_format(const fire_blob_t *b, fire_part_t part)
{
    fire_format_t f = fire_blob_format_at(b, part, FIRE_CPU);

    if (f.layout == FIRE_OPAQUE && !fits(fire_blocked_of(&f), b))
        return FIRE_FORMAT_PLAIN(FIRE_CPU);
    return f;
}

fire_status_t fire_blob_format_like(const fire_blob_t *b, const fire_format_t *like,
                                    fire_format_t *format_p)
{
    const fire_blocked_t *blocked = fire_blocked_of(like);

    if (blocked != NULL)
        return fire_blocked_format(like->dtype, blocked->block, b->ndim, b->dim,
                                   format_p);
    *format_p = *like;
    return FIRE_OK;
}

fire_status_t fire_blob_blocked(const fire_blob_t *b, fire_part_t part,
                                fire_format_t *format_p)
{
    fire_format_t f = fire_blob_format(b, part);

    if (fire_blocked_of(&f) == NULL)
        return fire_blocked_format(FIRE_F32, fire_blocked_preferred(), b->ndim, b->dim,
                                   format_p);
    *format_p = f;
    return FIRE_OK;
}

int64_t fire_blob_raw_count(const fire_blob_t *b, const fire_format_t *format)
{
    return format->layout == FIRE_OPAQUE
               ? (int64_t)(format->opaque->bytes / fire_dtype_size(format->dtype))
               : b->count;
}

fire_status_t fire_blob_fill(fire_blob_t *b, fire_part_t part, fire_place_t where,
                             float value)
{
    float *p;

    FIRE_TRY(fire_blob_write(b, part, where, &p));
    return fire_device_find(where)->fill(p, value, b->count);
}

fire_status_t fire_blob_set(fire_blob_t *b, fire_part_t part, float value)
{
    return fire_blob_fill(b, part, FIRE_CPU, value);
}

fire_status_t fire_blob_copy(fire_blob_t *dst, fire_blob_t *src, fire_part_t part)
{
    bool          gpu = fire_storage_is_on(src->part[part], FIRE_GPU);
    fire_format_t f =
        gpu ? fire_blob_format_at(src, part, FIRE_GPU) : fire_blob_format(src, part);
    void *from, *to;

    if (dst->part[part] == src->part[part]) return FIRE_OK;
    FIRE_TRY(fire_blob_access(src, part, FIRE_READ, &f, &from));
    FIRE_TRY(fire_blob_access(dst, part, FIRE_WRITE, &f, &to));
    return fire_device_find(f.place)->copy(
        to, from, (size_t)fire_blob_raw_count(src, &f) * fire_dtype_size(f.dtype));
}
