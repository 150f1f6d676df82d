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

static const fire_device_t cpu = {
    .name      = "cpu",
    .place     = FIRE_CPU,
    .alloc     = cpu_alloc,
    .free      = fire_free,
    .from_host = cpu_copy,
    .to_host   = cpu_copy,
    .convert   = fire_cpu_convert,
};

/* Set once, when a back end is loaded; never changed while workers run. */
static const fire_device_t *_Atomic gpu;

void fire_device_add(const fire_device_t *device)
{
    atomic_store(&gpu, device);
}

const fire_device_t *fire_device_find(fire_place_t place)
{
    return place == FIRE_CPU ? &cpu : atomic_load(&gpu);
}
