/* blob_proto.c - shapes and values of BlobProto, old and new. */
#include "model/blob_proto.h"

#include <string.h>
#include "base/alloc.h"
#include "model/message.h"

/* Does it have the old num, channels, height, width? */
static bool is_legacy(const Caffe__BlobProto *proto)
{
    return proto->has_num || proto->has_channels || proto->has_height ||
           proto->has_width;
}

/* Product of the dimensions, which must not overflow. */
static fire_status_t count_elements(const char *what, int ndim, const int64_t *dim,
                                    int64_t *count_p)
{
    int64_t count = 1;

    for (int i = 0; i < ndim; i++)
        if (dim[i] < 0 || __builtin_mul_overflow(count, dim[i], &count))
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "%s: dimension %d is %lld, no length of an array; is the "
                             "file damaged?",
                             what, i, (long long)dim[i]);
    *count_p = count;
    return FIRE_OK;
}

/* A message without any shape has 0 axes, and therefore a count of 1. */
fire_status_t fire_blob_proto_shape(const Caffe__BlobProto *proto, const char *what,
                                    int *ndim_p, int64_t dim[FIRE_MAX_DIMS],
                                    int64_t *count_p)
{
    const int64_t legacy[] = {proto->num, proto->channels, proto->height, proto->width};
    const int64_t *from    = legacy;
    size_t         n       = 4;

    if (!is_legacy(proto)) {
        n    = proto->shape != NULL ? proto->shape->n_dim : 0;
        from = proto->shape != NULL ? proto->shape->dim : NULL;
    }
    if (n > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: %zu dimensions, more than the %d allowed",
                         what, n, FIRE_MAX_DIMS);
    FIRE_TRY(count_elements(what, (int)n, from, count_p));
    if (n > 0) memcpy(dim, from, n * sizeof(*dim));
    *ndim_p = (int)n;
    return FIRE_OK;
}

/* `extra` counts the ones in front of an old shape. */
bool fire_blob_proto_fits(const Caffe__BlobProto *proto, int ndim, const int64_t *dim)
{
    int64_t own[FIRE_MAX_DIMS], count;
    int     n, extra;

    if (fire_blob_proto_shape(proto, "blob", &n, own, &count) < 0) return false;
    extra = n - ndim;
    if (extra < 0 || (extra > 0 && !is_legacy(proto))) return false;
    for (int i = 0; i < n; i++)
        if (own[i] != (i < extra ? 1 : dim[i - extra])) return false;
    return true;
}

/* Also false for an old shape without values: num, channels, ... are set. */
bool fire_blob_proto_is_empty(const Caffe__BlobProto *proto)
{
    return !is_legacy(proto) && proto->shape == NULL && proto->n_data == 0 &&
           proto->n_double_data == 0;
}

bool fire_blob_proto_has(const Caffe__BlobProto *proto, fire_part_t part)
{
    if (part == FIRE_DIFF) return proto->n_diff > 0 || proto->n_double_diff > 0;
    return proto->n_data > 0 || proto->n_double_data > 0;
}

/* Doubles win if a message has both. */
fire_status_t fire_blob_proto_read(const Caffe__BlobProto *proto, fire_part_t part,
                                   const char *what, int64_t count, float *values)
{
    bool          diff    = part == FIRE_DIFF;
    size_t        n       = diff ? proto->n_diff : proto->n_data;
    size_t        n_wide  = diff ? proto->n_double_diff : proto->n_double_data;
    const float  *narrow  = diff ? proto->diff : proto->data;
    const double *doubles = diff ? proto->double_diff : proto->double_data;

    if ((n_wide > 0 ? n_wide : n) != (size_t)count)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s: %zu values, but its shape has %lld", what,
                         n_wide > 0 ? n_wide : n, (long long)count);
    for (size_t i = 0; i < n_wide; i++)
        values[i] = (float)doubles[i];
    if (n_wide == 0 && n > 0) memcpy(values, narrow, n * sizeof(*values));
    return FIRE_OK;
}

/* The old fields would win over `shape` when the message is read again. */
fire_status_t fire_blob_proto_set_shape(Caffe__BlobProto *proto, int ndim,
                                        const int64_t *dim)
{
    static const char *const old[] = {"shape", "num", "channels", "height", "width"};
    Caffe__BlobShape        *shape;
    int64_t                 *copy;

    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        fire_message_clear_field(proto, old[i]);
    FIRE_TRY(fire_message_add_message(proto, "shape", &shape));
    FIRE_TRY(FIRE_NEW(&copy, ndim));
    if (ndim > 0) memcpy(copy, dim, (size_t)ndim * sizeof(*copy));
    shape->dim   = copy;
    shape->n_dim = (size_t)ndim;
    return FIRE_OK;
}

/* The values are copied; the message owns the copy. */
fire_status_t fire_blob_proto_write(Caffe__BlobProto *proto, fire_part_t part,
                                    int64_t count, const float *values)
{
    bool   diff = part == FIRE_DIFF;
    float *copy;

    FIRE_TRY(fire_alloc_raw((size_t)count * sizeof(*copy), "values", (void **)&copy));
    if (count > 0) memcpy(copy, values, (size_t)count * sizeof(*copy));
    fire_message_clear_field(proto, diff ? "diff" : "data");
    fire_message_clear_field(proto, diff ? "double_diff" : "double_data");
    *(diff ? &proto->diff : &proto->data)     = copy;
    *(diff ? &proto->n_diff : &proto->n_data) = (size_t)count;
    return FIRE_OK;
}
