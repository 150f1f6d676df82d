/* pooling_read.c - windows of Pooling from the prototxt. */
#include "layers/pooling/pooling.h"

/* The fields of one setting: one value, or one for each axis (the further ones in
 * `more`), name_h and name_w, or a shape. otherwise: where none is given */
typedef struct setting {
    const char             *name, *stem;
    bool                    has, has_h, has_w;
    uint32_t                value, h, w;
    size_t                  nmore;
    const uint32_t         *more;
    const Caffe__BlobShape *shape;
    int64_t                 otherwise;
    const uint32_t         *depth; /* of the first of three axes; NULL: as the others */
} setting_t;

static fire_status_t check(const setting_t *s, int axes)
{
    size_t n    = s->shape != NULL ? s->shape->n_dim : s->has ? 1 + s->nmore : 0;
    int    ways = (s->has ? 1 : 0) + (s->has_h || s->has_w) + (s->shape != NULL);

    if (ways > 1 || s->has_h != s->has_w)
        return FIRE_FAIL(FIRE_ERR_INVALID, "give either %s or both %s_h and %s_w",
                         s->name, s->stem, s->stem);
    if (s->has_h && axes != 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s_h and %s_w are for 2 spatial axes, here are %d", s->stem,
                         s->stem, axes);
    if ((n > 1 || s->shape != NULL) && n != 1 && n != (size_t)axes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%zu values of %s for %d spatial axes; give one, or one for "
                         "each",
                         n, s->name, axes);
    return FIRE_OK;
}

static fire_status_t read_setting(const setting_t *s, int axes, int64_t least,
                                  int64_t *value)
{
    FIRE_TRY(check(s, axes));
    for (int i = 0; i < axes; i++) {
        value[i] = s->otherwise;
        if (s->has) value[i] = i == 0 || s->nmore == 0 ? s->value : s->more[i - 1];
        if (s->has_h) value[i] = i == 0 ? s->h : s->w;
        if (s->shape != NULL) value[i] = s->shape->dim[s->shape->n_dim == 1 ? 0 : i];
        if (s->depth != NULL && i == 0) value[i] = *s->depth;
        if (value[i] < least || value[i] > INT32_MAX)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "%s must be %s, from %lld to %d, not %lld", s->name,
                             least > 0 ? "at least one element" : "0 or positive",
                             (long long)least, INT32_MAX, (long long)value[i]);
    }
    return FIRE_OK;
}

/* kernel_size, kernel_h and kernel_w, or kernel_shape; global_pooling has none. */
static fire_status_t read_kernel(const Caffe__PoolingParameter *p, fire_pool_nd_t *w)
{
    const setting_t s = {.name  = "kernel_size",
                         .stem  = "kernel",
                         .has   = p->has_kernel_size,
                         .value = p->kernel_size,
                         .nmore = p->n_kernel_sizes,
                         .more  = p->kernel_sizes,
                         .has_h = p->has_kernel_h,
                         .h     = p->kernel_h,
                         .has_w = p->has_kernel_w,
                         .w     = p->kernel_w,
                         .shape = p->kernel_shape,
                         .depth = p->has_kernel_depth ? &p->kernel_depth : NULL};
    bool given = s.has || s.has_h || s.has_w || s.shape != NULL || s.depth != NULL;

    if (p->global_pooling && given)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "global_pooling takes its kernel from the input: remove "
                         "kernel_size, kernel_h and kernel_w");
    if (p->global_pooling) return FIRE_OK;
    if (!given || (s.depth != NULL && !s.has))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give either kernel_size or both kernel_h and kernel_w");
    return read_setting(&s, w->axes, 1, w->kernel);
}

static fire_status_t read_stride(const Caffe__PoolingParameter *p, fire_pool_nd_t *w)
{
    const setting_t s = {.name      = "stride",
                         .stem      = "stride",
                         .has       = p->has_stride,
                         .value     = p->stride,
                         .nmore     = p->n_strides,
                         .more      = p->strides,
                         .has_h     = p->has_stride_h,
                         .h         = p->stride_h,
                         .has_w     = p->has_stride_w,
                         .w         = p->stride_w,
                         .shape     = p->stride_shape,
                         .otherwise = 1,
                         .depth     = p->has_kernel_depth ? &p->temporal_stride : NULL};

    return read_setting(&s, w->axes, 1, w->stride);
}

static fire_status_t read_pad(const Caffe__PoolingParameter *p, fire_pool_nd_t *w)
{
    const setting_t s = {.name  = "pad",
                         .stem  = "pad",
                         .has   = p->has_pad,
                         .value = p->pad,
                         .nmore = p->n_pads,
                         .more  = p->pads,
                         .has_h = p->has_pad_h,
                         .h     = p->pad_h,
                         .has_w = p->has_pad_w,
                         .w     = p->pad_w,
                         .shape = p->pad_shape,
                         .depth = p->has_kernel_depth ? &p->temporal_pad : NULL};

    return read_setting(&s, w->axes, 0, w->pad);
}

fire_status_t fire_pooling_read(const Caffe__PoolingParameter *p, fire_pool_nd_t *w)
{
    if (p->has_kernel_depth && w->axes != 3)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "kernel_depth is for 3 spatial axes (length, height, width), "
                         "here are %d",
                         w->axes);
    FIRE_TRY(read_kernel(p, w));
    FIRE_TRY(read_stride(p, w));
    return read_pad(p, w);
}
