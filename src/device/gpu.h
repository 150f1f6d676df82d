/* gpu.h - GPUs as the program sees them, whether or not this build or machine has any.
 * A worker uses one GPU, from one thread. */
#ifndef FIRE_DEVICE_GPU_H
#define FIRE_DEVICE_GPU_H
#include "device/device.h"

FIRE_BEGIN_C
/* How many there are; 0 without a driver or without the back end, with the reason in
 * *why_p (static text). */
int fire_gpu_count(const char **why_p);
/* "NVIDIA H200, 139.8 GiB, compute capability 9.0" */
fire_status_t fire_gpu_describe(int index, char *text, size_t size);

/* Open a queue of work on GPU `index` and make it this thread's. */
fire_status_t fire_gpu_open(int index, fire_stream_t **stream_p);
void          fire_gpu_close(fire_stream_t *stream); /* NULL is allowed */
/* Another thread of the worker (one that exchanges gradients) works on its queue. */
void fire_gpu_use(fire_stream_t *stream);
/* To be said before one does: from then on nothing runs beside the queue. */
void fire_gpu_set_shared(fire_stream_t *stream);
/* Wait for all work of the queue; errors of kernels come out here. */
fire_status_t fire_gpu_sync(fire_stream_t *stream);

/* Bytes of the stream's GPU that this process holds for data, now and at most so far; and
 * that it has in all. */
typedef struct fire_gpu_usage {
    size_t now, peak, all;
    size_t
        workspace; /* of `now`: scratch memory of the queue's kernels and libraries */
} fire_gpu_usage_t;

fire_gpu_usage_t fire_gpu_usage(const fire_stream_t *stream);

/* Kernels asked for from now on work for this layer; NULL: for none. */
void fire_gpu_set_current_layer(fire_stream_t *stream, const char *layer);

/* fp16: gradients are multiplied with a scale that lives on the GPU, so that small ones
 * are not lost. judge() looks at a step's gradients, divided by it again: where one is
 * not finite, updates up to the next judge() do nothing and the scale is halved; after
 * many good steps it is doubled. */
#define FIRE_GPU_FIRST_SCALE 65536.0f
fire_status_t fire_gpu_set_scale(fire_stream_t *stream, float scale, int good);
fire_status_t fire_gpu_get_scale(fire_stream_t *stream, float *scale_p, int *good_p);
fire_status_t fire_gpu_scale(fire_stream_t *stream, float *x, int64_t n);
fire_status_t fire_gpu_unscale(fire_stream_t *stream, float *x, int64_t n);
fire_status_t fire_gpu_update_scale(fire_stream_t *stream, const float *x, int64_t n);

/* Values that kernels look up when they run: which step it is, the solver's rate and
 * Adam's correction. */
fire_status_t fire_gpu_set_step(fire_stream_t *stream, int64_t step);
fire_status_t fire_gpu_set_rate(fire_stream_t *stream, float rate, float correction);

/* dst[at ...] += a * src[...]; sum: dst[at] += a times its sum. All terms in one launch,
 * or a few; the first `clear` of dst start from zero. */
typedef struct fire_gpu_term {
    const float *src;
    float        a;
    int64_t      at, n;
    bool         sum;
} fire_gpu_term_t;

enum { FIRE_GPU_TERMS = 32 };

fire_status_t fire_gpu_add_terms(fire_stream_t *stream, float *dst, int64_t clear,
                                 const fire_gpu_term_t *term, int n);

/* What a queue is asked for between begin and end is not done but recorded, to be done as
 * often as wanted. Memory must stay where it is; the queue's own scratch memory has, as
 * long as the generation is the same. */
typedef struct fire_gpu_graph fire_gpu_graph_t;

fire_status_t fire_gpu_record_begin(fire_stream_t *stream);
fire_status_t fire_gpu_record_end(fire_stream_t *stream, fire_gpu_graph_t **graph_p);
fire_status_t fire_gpu_replay(fire_stream_t *stream, fire_gpu_graph_t *graph);
void          fire_gpu_graph_free(fire_gpu_graph_t *graph); /* NULL is allowed */
int64_t       fire_gpu_generation(const fire_stream_t *stream);

/* A parcel for the GPU: pinned memory of the host that any thread may fill, and its copy
 * over there, sent on a queue of its own beside the work of `stream`. Sent, opened,
 * closed, and filled again; each waits for the one before it, and not longer. */
typedef struct fire_gpu_upload fire_gpu_upload_t;

fire_status_t fire_gpu_upload_create(fire_stream_t      *stream,
                                     fire_gpu_upload_t **upload_p);
void          fire_gpu_upload_destroy(fire_gpu_upload_t *p); /* NULL is allowed */
/* Memory to fill with so many bytes; what was sent from it has left. */
fire_status_t fire_gpu_upload_fit(fire_gpu_upload_t *p, size_t bytes, void **host_p);
fire_status_t fire_gpu_upload_send(fire_gpu_upload_t *p, size_t bytes);
/* Where it lies on the GPU, for work that the queue is asked for up to close(). */
fire_status_t fire_gpu_upload_open(fire_gpu_upload_t *p, const void **memory_p);
fire_status_t fire_gpu_upload_close(fire_gpu_upload_t *p);
/* Seconds that the queue stood still when the parcel was last opened; 0 if that has not
 * been yet. */
double fire_gpu_upload_stall(const fire_gpu_upload_t *p);

/* Letters of n floats from the GPU, which works on while they travel; up to so many are
 * under way. */
enum { FIRE_GPU_READBACKS = 4 };

typedef struct fire_gpu_readback fire_gpu_readback_t;

fire_status_t fire_gpu_readback_create(fire_stream_t *stream, int64_t n,
                                       fire_gpu_readback_t **readback_p);
void          fire_gpu_readback_destroy(fire_gpu_readback_t *p); /* NULL is allowed */
/* What lies at src when the queue comes to it. */
fire_status_t fire_gpu_readback_send(fire_gpu_readback_t *p, const float *src);
/* Wait for the oldest letter; errors of kernels before it come out here. */
fire_status_t fire_gpu_readback_take(fire_gpu_readback_t *p, float *dst);
/* Is the GPU still busy with what led to the newest letter? */
bool fire_gpu_readback_is_pending(const fire_gpu_readback_t *p);
FIRE_END_C
#endif
