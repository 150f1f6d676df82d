/* gpu.c - gpu.h in builds without CUDA: there are 0 GPUs, and all else fails. */
#include "device/gpu.h"

#ifndef FIRE_HAVE_CUDA
/* What every call that needs a GPU answers. */
static fire_status_t missing(void)
{
    return FIRE_FAIL(FIRE_ERR_DEVICE,
                     "this program was built without CUDA: leave --gpu "
                     "out, or build it where nvcc is installed");
}

int fire_gpu_count(const char **why_p)
{
    *why_p = "built without CUDA";
    return 0;
}

fire_status_t fire_gpu_describe(int index, char *text, size_t size)
{
    (void)index, (void)text, (void)size;
    return missing();
}

fire_status_t fire_gpu_capability(int index, int *capability_p)
{
    (void)index, (void)capability_p;
    return missing();
}

const char *fire_gpu_archs(void)
{
    return "";
}

fire_status_t fire_gpu_check_precision(const fire_stream_t *stream,
                                       fire_dtype_t precision, bool tf32)
{
    (void)stream, (void)precision, (void)tf32;
    return missing();
}

fire_status_t fire_gpu_open(int index, fire_stream_t **stream_p)
{
    (void)index, (void)stream_p;
    return missing();
}

void fire_gpu_close(fire_stream_t *stream)
{
    (void)stream;
}

void fire_gpu_use(fire_stream_t *stream)
{
    (void)stream;
}

void fire_gpu_set_shared(fire_stream_t *stream)
{
    (void)stream;
}

fire_status_t fire_gpu_sync(fire_stream_t *stream)
{
    (void)stream;
    return missing();
}

fire_gpu_usage_t fire_gpu_usage(const fire_stream_t *stream)
{
    (void)stream;
    return (fire_gpu_usage_t){0};
}

void fire_gpu_set_current_layer(fire_stream_t *stream, const char *layer)
{
    (void)stream, (void)layer;
}

fire_status_t fire_gpu_set_scale(fire_stream_t *stream, float scale, int good)
{
    (void)stream, (void)scale, (void)good;
    return missing();
}

fire_status_t fire_gpu_get_scale(fire_stream_t *stream, float *scale_p, int *good_p)
{
    (void)stream, (void)scale_p, (void)good_p;
    return missing();
}

fire_status_t fire_gpu_scale(fire_stream_t *stream, float *x, int64_t n)
{
    (void)stream, (void)x, (void)n;
    return missing();
}

fire_status_t fire_gpu_unscale(fire_stream_t *stream, float *x, int64_t n)
{
    (void)stream, (void)x, (void)n;
    return missing();
}

fire_status_t fire_gpu_update_scale(fire_stream_t *stream, const float *x, int64_t n)
{
    (void)stream, (void)x, (void)n;
    return missing();
}

fire_status_t fire_gpu_set_step(fire_stream_t *stream, int64_t step)
{
    (void)stream, (void)step;
    return missing();
}

fire_status_t fire_gpu_set_rate(fire_stream_t *stream, float rate, float correction)
{
    (void)stream, (void)rate, (void)correction;
    return missing();
}

fire_status_t fire_gpu_add_terms(fire_stream_t *stream, float *dst, int64_t clear,
                                 const fire_gpu_term_t *term, int n)
{
    (void)stream, (void)dst, (void)clear, (void)term, (void)n;
    return missing();
}

fire_status_t fire_gpu_record_begin(fire_stream_t *stream)
{
    (void)stream;
    return missing();
}

fire_status_t fire_gpu_record_end(fire_stream_t *stream, fire_gpu_graph_t **graph_p)
{
    (void)stream, (void)graph_p;
    return missing();
}

fire_status_t fire_gpu_replay(fire_stream_t *stream, fire_gpu_graph_t *graph)
{
    (void)stream, (void)graph;
    return missing();
}

void fire_gpu_graph_free(fire_gpu_graph_t *graph)
{
    (void)graph;
}

int64_t fire_gpu_generation(const fire_stream_t *stream)
{
    (void)stream;
    return 0;
}

fire_status_t fire_gpu_upload_create(fire_stream_t      *stream,
                                     fire_gpu_upload_t **upload_p)
{
    (void)stream, (void)upload_p;
    return missing();
}

void fire_gpu_upload_destroy(fire_gpu_upload_t *p)
{
    (void)p;
}

fire_status_t fire_gpu_upload_fit(fire_gpu_upload_t *p, size_t bytes, void **host_p)
{
    (void)p, (void)bytes, (void)host_p;
    return missing();
}

fire_status_t fire_gpu_upload_send(fire_gpu_upload_t *p, size_t bytes)
{
    (void)p, (void)bytes;
    return missing();
}

fire_status_t fire_gpu_upload_open(fire_gpu_upload_t *p, const void **memory_p)
{
    (void)p, (void)memory_p;
    return missing();
}

fire_status_t fire_gpu_upload_close(fire_gpu_upload_t *p)
{
    (void)p;
    return missing();
}

double fire_gpu_upload_stall(const fire_gpu_upload_t *p)
{
    (void)p;
    return 0;
}

fire_status_t fire_gpu_readback_create(fire_stream_t *stream, int64_t n,
                                       fire_gpu_readback_t **readback_p)
{
    (void)stream, (void)n, (void)readback_p;
    return missing();
}

void fire_gpu_readback_destroy(fire_gpu_readback_t *p)
{
    (void)p;
}

fire_status_t fire_gpu_readback_send(fire_gpu_readback_t *p, const float *src)
{
    (void)p, (void)src;
    return missing();
}

fire_status_t fire_gpu_readback_take(fire_gpu_readback_t *p, float *dst)
{
    (void)p, (void)dst;
    return missing();
}

bool fire_gpu_readback_is_pending(const fire_gpu_readback_t *p)
{
    (void)p;
    return false;
}
#endif
