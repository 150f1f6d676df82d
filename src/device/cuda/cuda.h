/* cuda.h - what GPU kernels share: errors as statuses, the worker's queue, launches. */
#ifndef FIRE_DEVICE_CUDA_CUDA_H
#define FIRE_DEVICE_CUDA_CUDA_H
#include <cuda_runtime_api.h>

#include "device/gpu.h"

FIRE_BEGIN_C
#define FIRE_CUDA(call) fire_cuda_status((call), #call, __FILE__, __LINE__)
fire_status_t fire_cuda_status(cudaError_t rc, const char *what, const char *file,
                               int line);

/* What changes from step to step and kernels find in GPU memory, so that a recorded step
 * can run again with other values. */
typedef struct fire_cuda_step_state {
    uint64_t *step;       /* of the moment */
    float    *rate;       /* of the solver */
    float    *correction; /* Adam's */
    float    *scale;      /* of the loss, where fp16 is in use */
    int      *good;       /* steps since it changed */
    int      *skip;       /* the step's gradients are not finite: update nothing */
} fire_cuda_step_state_t;

/* What a kernel has to complain about, in memory that the host can read; layer: 0, none,
 * or the number of a name. */
typedef struct fire_cuda_fault {
    int   layer, classes;
    float label;
    bool  is_index; /* of rows, not a label */
} fire_cuda_fault_t;

typedef struct fire_cuda_reporter {
    volatile fire_cuda_fault_t *fault;
    int                         layer;
} fire_cuda_reporter_t;

/* Memory for passing use, that grows. */
typedef struct fire_cuda_scratch {
    void  *memory;
    size_t bytes;
} fire_cuda_scratch_t;

/* A queue, and what only one kernel may use at a time. */
typedef struct fire_cuda_work_queue {
    cudaStream_t        stream;
    void               *cublas; /* handle, made when first asked for */
    fire_cuda_scratch_t cublas_scratch;
    fire_cuda_scratch_t workspace, scratch; /* inside of a kernel, between two */
} fire_cuda_work_queue_t;

struct fire_stream {
    int                    device;
    int                    multiprocessors;
    fire_cuda_work_queue_t main; /* all work goes here */
    fire_cuda_work_queue_t side; /* swapped with main by side_queue.c */
    cudaEvent_t            forked, joined;
    bool                   shared;  /* by threads: none of them may exchange lanes */
    fire_cuda_scratch_t    squares; /* of updates, which another thread may ask for */
    cudaStream_t           upload_queue; /* what goes to the GPU ahead of time */
    void                  *cudnn;        /* handle, made when first asked for */
    struct fire_cudnn_op  *cudnn_ops;    /* operations made so far */
    struct fire_tune      *tune; /* plans that were measured; NULL: not asked yet */
    int64_t                generation; /* of scratch memory */
    fire_cuda_step_state_t step_state;

    volatile fire_cuda_fault_t *fault;
    const char                 *current_layer; /* the layer that runs, or NULL */
    char                      **name;          /* of those who may complain, from 1 */
    int64_t                     nname, name_cap;
};

/* The queue that this thread's work goes to; 0, the legacy one, for a thread that has
 * none. That waits for all other queues, and they for it. */
cudaStream_t fire_cuda_queue(void);

/* Device memory, counted (gpu.h). */
fire_status_t fire_cuda_alloc(size_t bytes, void **ptr_p);
void          fire_cuda_free(void *ptr); /* NULL is allowed */
/* Memory from elsewhere: so many bytes more, or less. */
void fire_cuda_count_bytes(int64_t bytes);

/* For a kernel of the layer that runs, to complain with; nobody hears it if it has no
 * name. The complaint is an error where the host next waits for the GPU. */
fire_cuda_reporter_t fire_cuda_make_reporter(fire_stream_t *s);
fire_status_t        fire_cuda_check_fault(fire_stream_t *s);

/* Memory of at least `bytes`, valid until the next call; what libraries are given is
 * workspace, scratch is not touched by them. */
fire_status_t fire_cuda_workspace(fire_stream_t *s, size_t bytes, void **memory_p);
fire_status_t fire_cuda_scratch(fire_stream_t *s, size_t bytes, void **memory_p);
fire_status_t fire_cuda_squares(fire_stream_t *s, size_t bytes, void **memory_p);

/* Kernels too small to fill the GPU: what is asked for between begin and end runs beside
 * what comes after end, up to meet. Blobs are to be looked at before. On a queue that
 * threads share it runs in its turn. */
fire_status_t fire_cuda_side_queue_begin(fire_stream_t *s);
fire_status_t fire_cuda_side_queue_end(fire_stream_t *s, fire_status_t so_far);
fire_status_t fire_cuda_side_queue_join(fire_stream_t *s);
void          fire_cuda_side_queue_close(fire_stream_t *s);
void          fire_cuda_work_queue_close(fire_cuda_work_queue_t *queue);

static inline const fire_cuda_step_state_t *fire_cuda_step_state(const fire_stream_t *s)
{
    return &s->step_state;
}

/* Arithmetic of the device's table (device.h). */
fire_status_t fire_cuda_convert(const fire_format_t *from, const void *src,
                                const fire_format_t *to, void *dst, int ndim,
                                const int64_t *dim);
fire_status_t fire_cuda_fill(float *dst, float value, int64_t n);
fire_status_t fire_cuda_add_left(float *dst, const float *left, int64_t n);
fire_status_t fire_cuda_add_scaled(float *dst, float a, const float *src, int64_t n);

/* range.c: the table's calls for pools. */
fire_status_t fire_cuda_reserve(void **ptr_p, size_t *bytes_p);
fire_status_t fire_cuda_commit(void *ptr, size_t bytes, size_t *committed_p);
void          fire_cuda_release(void *ptr, size_t bytes, size_t committed);

enum { FIRE_CUDA_BLOCK = 256 };

/* Blocks for n elements, enough to fill the GPU and no more: kernels loop. */
static inline unsigned fire_cuda_grid(const fire_stream_t *s, int64_t n)
{
    int64_t blocks = (n + FIRE_CUDA_BLOCK - 1) / FIRE_CUDA_BLOCK;
    int64_t most   = (int64_t)(s != NULL ? s->multiprocessors : 128) * 16;

    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}
FIRE_END_C
#endif
