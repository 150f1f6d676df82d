/* convert.c - see convert.h; simple loops, as conversions are rare on the CPU. */
#include "device/cpu/convert.h"

#include <string.h>

#include "base/alloc.h"

static float load(const void *src, fire_dtype_t t, int64_t i)
{
    switch (t) {
    case FIRE_BF16:
        return fire_from_bf16(((const uint16_t *)src)[i]);
    case FIRE_F16:
        return fire_from_fp16(((const uint16_t *)src)[i]);
    default:
        return ((const float *)src)[i];
    }
}

static void store(void *dst, fire_dtype_t t, int64_t i, float x)
{
    switch (t) {
    case FIRE_BF16:
        ((uint16_t *)dst)[i] = fire_to_bf16(x);
        break;
    case FIRE_F16:
        ((uint16_t *)dst)[i] = fire_to_fp16(x);
        break;
    default:
        ((float *)dst)[i] = x;
    }
}

static int64_t count_of(int ndim, const int64_t *dim)
{
    int64_t n = 1;

    for (int i = 0; i < ndim; i++)
        n *= dim[i];
    return n;
}

/* Between number formats of the same layout. */
static void convert_dtype(const fire_format_t *from, const void *src,
                          const fire_format_t *to, void *dst, int64_t n)
{
    if (from->dtype == to->dtype) {
        memcpy(dst, src, (size_t)n * fire_dtype_size(to->dtype));
        return;
    }
    for (int64_t i = 0; i < n; i++)
        store(dst, to->dtype, i, load(src, from->dtype, i));
}

/* NCHW <-> NHWC, and between number formats on the way. */
static void transpose(const fire_format_t *from, const void *src,
                      const fire_format_t *to, void *dst, const int64_t *dim)
{
    int64_t N = dim[0], C = dim[1], HW = dim[2] * dim[3];
    bool    to_plain = to->layout == FIRE_PLAIN;

    for (int64_t n = 0; n < N; n++)
        for (int64_t c = 0; c < C; c++)
            for (int64_t p = 0; p < HW; p++) {
                int64_t nchw = (n * C + c) * HW + p, nhwc = (n * HW + p) * C + c;

                store(dst, to->dtype, to_plain ? nchw : nhwc,
                      load(src, from->dtype, to_plain ? nhwc : nchw));
            }
}

/* Anything unusual goes through plain float32. */
static fire_status_t convert_twice(const fire_format_t *from, const void *src,
                                   const fire_format_t *to, void *dst, int ndim,
                                   const int64_t *dim)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    fire_status_t st;
    float        *tmp;

    FIRE_TRY(FIRE_NEW(&tmp, count_of(ndim, dim)));
    st = fire_cpu_convert(from, src, &plain, tmp, ndim, dim);
    if (st == FIRE_OK) st = fire_cpu_convert(&plain, tmp, to, dst, ndim, dim);
    fire_free(tmp);
    return st;
}

fire_status_t fire_cpu_convert(const fire_format_t *from, const void *src,
                               const fire_format_t *to, void *dst, int ndim,
                               const int64_t *dim)
{
    if (from->layout == FIRE_OPAQUE && to->layout == FIRE_OPAQUE &&
        to->opaque->from_other != NULL)
        return to->opaque->from_other(to->opaque, from->opaque, src, dst);
    if (from->layout == FIRE_OPAQUE && fire_format_is_plain(to))
        return from->opaque->to_plain(from->opaque, src, dst);
    if (to->layout == FIRE_OPAQUE && fire_format_is_plain(from))
        return to->opaque->from_plain(to->opaque, src, dst);
    if (from->layout == FIRE_OPAQUE || to->layout == FIRE_OPAQUE)
        return convert_twice(from, src, to, dst, ndim, dim);
    if (from->layout == to->layout)
        convert_dtype(from, src, to, dst, count_of(ndim, dim));
    else if (ndim == 4)
        transpose(from, src, to, dst, dim);
    else
        return FIRE_FAIL(FIRE_ERR_INVALID, "channels-last needs 4 axes, not %d", ndim);
    return FIRE_OK;
}
