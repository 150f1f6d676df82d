/* gpu.h - GPUs as the rest of the program sees them, whether or not this build or
 * machine has any; without CUDA, gpu.c reports 0 GPUs. A worker uses one GPU, through
 * one fire_stream_t. Work is queued: most calls return before the GPU has done it, and
 * errors of kernels are reported by the next call that waits. */
#ifndef FIRE_DEVICE_GPU_H
#define FIRE_DEVICE_GPU_H
#include "device/device.h"

FIRE_BEGIN_C
/* Number of GPUs; 0 without a driver or without the back end, with the reason in *why_p
 * (static text). */
int fire_gpu_count(const char **why_p);
/* "NVIDIA H200, 139.8 GiB, compute capability 9.0" */
fire_status_t fire_gpu_describe(int index, char *text, size_t size);

/* Its compute capability: 75 for 7.5. */
fire_status_t fire_gpu_capability(int index, int *capability_p);
/* The GPUs that this build has code for, as arch.h lists them; "" without CUDA. */
const char *fire_gpu_archs(void);

/* Fails, with what to use instead, if the stream's GPU lacks instructions for this
 * precision. */
fire_status_t fire_gpu_check_precision(const fire_stream_t *stream,
                                       fire_dtype_t precision, bool tf32);

/* Open a queue of work on GPU `index` and make it the calling thread's. */
fire_status_t fire_gpu_open(int index, fire_stream_t **stream_p);
void          fire_gpu_close(fire_stream_t *stream); /* NULL is allowed */
/* Make it this thread's: for a second thread of the worker (the one that exchanges
 * gradients) that uses the same queue. */
void fire_gpu_use(fire_stream_t *stream);
/* Call before a second thread uses the stream; disables the side queue for good. */
void fire_gpu_set_shared(fire_stream_t *stream);
/* Wait for all work of the queue; reports errors and faults of its kernels. */
fire_status_t fire_gpu_sync(fire_stream_t *stream);

/* GPU memory, in bytes. */
typedef struct fire_gpu_usage {
    size_t now, peak; /* held by this process, for all its streams: now and at most */
    size_t all;       /* what the GPU has */
    size_t workspace; /* of `now`: scratch memory of this stream */
} fire_gpu_usage_t;

fire_gpu_usage_t fire_gpu_usage(const fire_stream_t *stream);

/* The layer that the following kernels work for, named in their error messages; NULL:
 * none (their faults are not reported). */
void fire_gpu_set_current_layer(fire_stream_t *stream, const char *layer);

/* ---- loss scaling ---- */

/* In fp16 gradients are multiplied by a scale, so that small ones are not flushed to
 * zero. The scale is a power of two in GPU memory. */

#define FIRE_GPU_FIRST_SCALE 65536.0f
/* good: finite steps since the scale last changed, for a resumed training. */
fire_status_t fire_gpu_set_scale(fire_stream_t *stream, float scale, int good);
fire_status_t fire_gpu_get_scale(fire_stream_t *stream, float *scale_p, int *good_p);
/* x[i] *= scale. And x[i] /= scale. */
fire_status_t fire_gpu_scale(fire_stream_t *stream, float *x, int64_t n);
fire_status_t fire_gpu_unscale(fire_stream_t *stream, float *x, int64_t n);
/* Look at a step's unscaled gradients x. If one is not finite, halve the scale and let
 * updates do nothing up to the next call; after many finite steps, double it. */
fire_status_t fire_gpu_update_scale(fire_stream_t *stream, const float *x, int64_t n);

/* Values that kernels read from GPU memory when they run: the iteration's number, the
 * learning rate, and Adam's bias correction. */
fire_status_t fire_gpu_set_step(fire_stream_t *stream, int64_t step);
fire_status_t fire_gpu_set_rate(fire_stream_t *stream, float rate, float correction);

/* One term of fire_gpu_add_terms(): dst[at ... at + n - 1] += a * src[0 ... n - 1];
 * with `sum`, dst[at] += a * (src[0] + ... + src[n - 1]). All in float32 on the GPU. */
typedef struct fire_gpu_term {
    const float *src;
    float        a;
    int64_t      at, n;
    bool         sum;
} fire_gpu_term_t;

enum { FIRE_GPU_TERMS = 32 }; /* of one launch */

/* dst[0 ... clear - 1] = 0, then add n terms in order: losses of an iteration, gathered
 * by as few launches as possible. */
fire_status_t fire_gpu_add_terms(fire_stream_t *stream, float *dst, int64_t clear,
                                 const fire_gpu_term_t *term, int n);

/* ---- recorded work (CUDA graphs) ---- */

/* What is queued between begin and end is recorded instead of run; replay() runs it, as
 * often as wanted. All its memory must stay where it is. That holds for the queue's own
 * scratch memory as long as fire_gpu_generation() returns the same number. */
typedef struct fire_gpu_graph fire_gpu_graph_t;

fire_status_t fire_gpu_record_begin(fire_stream_t *stream);
fire_status_t fire_gpu_record_end(fire_stream_t *stream, fire_gpu_graph_t **graph_p);
fire_status_t fire_gpu_replay(fire_stream_t *stream, fire_gpu_graph_t *graph);
void          fire_gpu_graph_free(fire_gpu_graph_t *graph); /* NULL is allowed */
int64_t       fire_gpu_generation(const fire_stream_t *stream);

/* ---- uploads ---- */

/* Pinned host memory that any thread may fill, and a buffer of the same size on the
 * GPU. The copy between them runs on a queue of its own, while `stream` works on
 * something else. Used in a cycle; each call waits for what it needs of the cycle
 * before, and for nothing else:
 *
 *     fit()     host memory, when the last copy has left it
 *     send()    start the copy, when the last reader of the GPU buffer is done
 *     open()    the GPU buffer; work queued from here on waits for the copy
 *     close()   work queued from here on no longer reads the buffer */
typedef struct fire_gpu_upload fire_gpu_upload_t;

fire_status_t fire_gpu_upload_create(fire_stream_t      *stream,
                                     fire_gpu_upload_t **upload_p);
void          fire_gpu_upload_destroy(fire_gpu_upload_t *p); /* NULL is allowed */
/* Host memory of at least `bytes`, to be filled by the caller. */
fire_status_t fire_gpu_upload_fit(fire_gpu_upload_t *p, size_t bytes, void **host_p);
fire_status_t fire_gpu_upload_send(fire_gpu_upload_t *p, size_t bytes);
fire_status_t fire_gpu_upload_open(fire_gpu_upload_t *p, const void **memory_p);
fire_status_t fire_gpu_upload_close(fire_gpu_upload_t *p);
/* Seconds for which the last open() made the queue wait; 0 while that is not known. */
double fire_gpu_upload_stall(const fire_gpu_upload_t *p);

/* ---- readbacks ---- */

/* n floats copied from the GPU to the host without stopping the GPU: send() queues a
 * copy, take() waits for the oldest. Up to FIRE_GPU_READBACKS copies may be
 * outstanding. */
enum { FIRE_GPU_READBACKS = 4 };

typedef struct fire_gpu_readback fire_gpu_readback_t;

fire_status_t fire_gpu_readback_create(fire_stream_t *stream, int64_t n,
                                       fire_gpu_readback_t **readback_p);
void          fire_gpu_readback_destroy(fire_gpu_readback_t *p); /* NULL is allowed */
/* Copy src as it is when the queue gets there. */
fire_status_t fire_gpu_readback_send(fire_gpu_readback_t *p, const float *src);
/* Wait for the oldest copy; reports errors of kernels queued before it. */
fire_status_t fire_gpu_readback_take(fire_gpu_readback_t *p, float *dst);
/* Has the GPU not yet reached the newest copy? */
bool fire_gpu_readback_is_pending(const fire_gpu_readback_t *p);
FIRE_END_C
#endif
