/* memory_cuda.c - GPU memory that a kernel owns. */
#include "layers/memory_cuda.h"

fire_status_t fire_gpu_memory_fit(fire_gpu_memory_t *m, size_t bytes)
{
    if (bytes <= m->bytes) return FIRE_OK;
    fire_gpu_memory_free(m);
    FIRE_TRY(fire_device_find(FIRE_GPU)->alloc(bytes, &m->ptr));
    m->bytes = bytes;
    return FIRE_OK;
}

void fire_gpu_memory_free(fire_gpu_memory_t *m)
{
    if (m->ptr != NULL) fire_device_find(FIRE_GPU)->free(m->ptr);
    *m = (fire_gpu_memory_t){0};
}

fire_status_t fire_gpu_keep(fire_layer_t *l, size_t bytes)
{
    fire_gpu_memory_t *m = l->kernel_state;

    if (m == NULL) FIRE_TRY(FIRE_NEW(&m, 1));
    l->kernel_state = m;
    return fire_gpu_memory_fit(m, bytes);
}

fire_status_t fire_gpu_keep_copy(fire_layer_t *l, const void *from, size_t bytes)
{
    FIRE_TRY(fire_gpu_keep(l, bytes));
    return bytes > 0
               ? fire_device_find(FIRE_GPU)->from_host(fire_gpu_kept(l), from, bytes)
               : FIRE_OK;
}

fire_status_t fire_gpu_keep_float(fire_layer_t *l)
{
    return fire_gpu_keep(l, sizeof(float));
}

void *fire_gpu_kept(const fire_layer_t *l)
{
    return ((const fire_gpu_memory_t *)l->kernel_state)->ptr;
}

void fire_gpu_release(fire_layer_t *l)
{
    if (l->kernel_state != NULL) fire_gpu_memory_free(l->kernel_state);
    fire_free(l->kernel_state);
    l->kernel_state = NULL;
}
