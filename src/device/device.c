/* device.c - the CPU as a place for memory, and the table of places. */
#include "device/device.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/convert.h"

static fire_status_t cpu_alloc(size_t bytes, void **ptr_p)
{
    return fire_alloc(bytes, 1, "blob", ptr_p);
}

static fire_status_t cpu_copy(void *dst, const void *src, size_t bytes)
{
    memcpy(dst, src, bytes);
    return FIRE_OK;
}

static fire_status_t cpu_clear(void *dst, size_t bytes)
{
    memset(dst, 0, bytes);
    return FIRE_OK;
}

static fire_status_t cpu_fill(float *dst, float value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dst[i] = value;
    return FIRE_OK;
}

/* restrict: dst and left do not overlap, so that the loop is vectorised. */
static fire_status_t cpu_add_left(float *restrict dst, const float *restrict left,
                                  int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dst[i] = left[i] + dst[i];
    return FIRE_OK;
}

static fire_status_t cpu_add_scaled(float *dst, float a, const float *src, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        dst[i] += a * src[i];
    return FIRE_OK;
}

static const fire_device_t cpu = {
    .name       = "cpu",
    .place      = FIRE_CPU,
    .alloc      = cpu_alloc,
    .free       = fire_free,
    .from_host  = cpu_copy,
    .to_host    = cpu_copy,
    .convert    = fire_cpu_convert,
    .copy       = cpu_copy,
    .clear      = cpu_clear,
    .fill       = cpu_fill,
    .add_left   = cpu_add_left,
    .add_scaled = cpu_add_scaled,
};

/* Set when the first GPU is opened, always to the same table. */
static const fire_device_t *_Atomic gpu;

void fire_device_add(const fire_device_t *device)
{
    atomic_store(&gpu, device);
}

const fire_device_t *fire_device_find(fire_place_t place)
{
    return place == FIRE_CPU ? &cpu : atomic_load(&gpu);
}

fire_status_t fire_ctx_set_precision(fire_ctx_t *ctx, const char *name)
{
    ctx->tf32 = strcmp(name, "tf32") == 0;
    if (strcmp(name, "bf16") == 0)
        ctx->precision = FIRE_BF16;
    else if (strcmp(name, "fp16") == 0)
        ctx->precision = FIRE_F16;
    else if (ctx->tf32 || strcmp(name, "fp32") == 0 || name[0] == '\0')
        ctx->precision = FIRE_F32;
    else
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "unknown precision \"%s\"; known are fp32, tf32, bf16, fp16",
                         name);
    return FIRE_OK;
}
