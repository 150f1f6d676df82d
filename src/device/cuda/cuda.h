/* cuda.h - what the CUDA back end shares: errors as statuses, a worker's queue with its
 * scratch memory, the values that change from step to step, launch sizes.
 *
 * A worker has one fire_stream_t, whose work runs in order on `main`. One thread at a
 * time uses it (fire_gpu_use()). */
#ifndef FIRE_DEVICE_CUDA_CUDA_H
#define FIRE_DEVICE_CUDA_CUDA_H
#include <cuda_runtime_api.h>

#include "device/gpu.h"

FIRE_BEGIN_C
/* A CUDA call as a status, with the call's text and place in the message. */
#define FIRE_CUDA(call) fire_cuda_status((call), #call, __FILE__, __LINE__)
fire_status_t fire_cuda_status(cudaError_t rc, const char *what, const char *file,
                               int line);

/* Values that change from step to step. Kernels read them from GPU memory, so that a
 * recorded CUDA graph can run again with other values. All point into one
 * allocation. */
typedef struct fire_cuda_step_state {
    uint64_t *step;       /* the iteration's number: keys random numbers */
    float    *rate;       /* learning rate of the solver */
    float    *correction; /* Adam's bias correction */
    float    *scale;      /* of the loss, for fp16: a power of two */
    int      *good;       /* steps with finite gradients since the scale changed */
    int      *skip;       /* 1: the step's gradients are not finite, update nothing */
} fire_cuda_step_state_t;

/* A bad input that a kernel found, in pinned host memory that the GPU writes. Of
 * several faults only the one written last is kept. */
typedef struct fire_cuda_fault {
    int   layer;   /* number of the layer's name in stream->name, from 1; 0: no fault */
    int   classes; /* values 0 ... classes - 1 are valid */
    float label;   /* the value found */
    bool  is_index; /* it is an index of rows rather than a label */
} fire_cuda_fault_t;

/* What a kernel gets as an argument to report faults with. */
typedef struct fire_cuda_reporter {
    volatile fire_cuda_fault_t *fault;
    int                         layer; /* 0: faults are not reported */
} fire_cuda_reporter_t;

/* GPU memory for temporary use; grows and is never shrunk. */
typedef struct fire_cuda_scratch {
    void  *memory;
    size_t bytes;
} fire_cuda_scratch_t;

/* A CUDA stream, and memory that only one kernel of it may use at a time. */
typedef struct fire_cuda_work_queue {
    cudaStream_t        stream;
    void               *cublas; /* cublasHandle_t; NULL before its first use */
    fire_cuda_scratch_t cublas_scratch;
    fire_cuda_scratch_t workspace; /* for one library call, or one pair of launches */
    fire_cuda_scratch_t scratch;   /* the same, but libraries do not overwrite it */
} fire_cuda_work_queue_t;

struct fire_stream {
    int                    device; /* CUDA's index of the GPU */
    int                    multiprocessors;
    int                    capability;     /* compute capability: 75 for 7.5 */
    fire_cuda_work_queue_t main;           /* all work goes here */
    fire_cuda_work_queue_t side;           /* swapped with main by side_queue.c */
    cudaEvent_t            forked, joined; /* main -> side, side -> main */
    bool                   shared;  /* by two threads: the side queue is not used */
    fire_cuda_scratch_t    squares; /* a solver's sums of squares, from any thread */
    cudaStream_t           upload_queue; /* runs concurrently to main: upload.c */
    void                  *cudnn;        /* cudnnHandle_t; NULL before its first use */
    struct fire_cudnn_op  *cudnn_ops;    /* list of operations made so far, owned */
    struct fire_tune      *tune;         /* measured plans; NULL: not opened yet */
    int64_t                generation;   /* counts reallocations of scratch memory */
    fire_cuda_step_state_t step_state;

    volatile fire_cuda_fault_t *fault; /* pinned, owned */
    const char *current_layer;         /* the layer now queueing work, or NULL */
    char      **name;                  /* of layers that may report faults, owned */
    int64_t     nname, name_cap;
};

/* The CUDA stream of this thread's worker; 0, the legacy stream, for a thread that has
 * no worker. That one synchronises with all other streams. */
cudaStream_t fire_cuda_queue(void);

/* Device memory, counted for fire_gpu_usage(). */
fire_status_t fire_cuda_alloc(size_t bytes, void **ptr_p);
void          fire_cuda_free(void *ptr); /* NULL is allowed */
/* Count memory that was allocated (or, negative, freed) in another way. */
void fire_cuda_count_bytes(int64_t bytes);

/* A reporter for kernels of the current layer; without a current layer, faults are
 * lost. check_fault() fails if one was reported; called wherever the host waits for the
 * GPU. */
fire_cuda_reporter_t fire_cuda_make_reporter(fire_stream_t *s);
fire_status_t        fire_cuda_check_fault(fire_stream_t *s);

/* Scratch memory of at least `bytes`, valid until the next call of the same function.
 * Libraries get the workspace; scratch and squares are left alone by them. Growing
 * waits for the queue and starts a new generation. */
fire_status_t fire_cuda_workspace(fire_stream_t *s, size_t bytes, void **memory_p);
fire_status_t fire_cuda_scratch(fire_stream_t *s, size_t bytes, void **memory_p);
fire_status_t fire_cuda_squares(fire_stream_t *s, size_t bytes, void **memory_p);

/* The side queue, for kernels too small to fill the GPU: what is queued between begin
 * and end runs concurrently with what is queued after end, up to join, which makes main
 * wait for it. Blobs must be asked for their memory before begin: conversions belong to
 * main. so_far: the status of what was queued. On a shared stream all runs in order on
 * main. */
fire_status_t fire_cuda_side_queue_begin(fire_stream_t *s);
fire_status_t fire_cuda_side_queue_end(fire_stream_t *s, fire_status_t so_far);
fire_status_t fire_cuda_side_queue_join(fire_stream_t *s);
void          fire_cuda_side_queue_close(fire_stream_t *s);
void          fire_cuda_work_queue_close(fire_cuda_work_queue_t *queue);

static inline const fire_cuda_step_state_t *fire_cuda_step_state(const fire_stream_t *s)
{
    return &s->step_state;
}

/* Calls of the device's table (device.h): convert.cu, memory.cu. */
fire_status_t fire_cuda_convert(const fire_format_t *from, const void *src,
                                const fire_format_t *to, void *dst, int ndim,
                                const int64_t *dim);
fire_status_t fire_cuda_fill(float *dst, float value, int64_t n);
fire_status_t fire_cuda_add_left(float *dst, const float *left, int64_t n);
fire_status_t fire_cuda_add_scaled(float *dst, float a, const float *src, int64_t n);

/* And those for pools: virtual_memory.c. */
fire_status_t fire_cuda_reserve(void **ptr_p, size_t *bytes_p);
fire_status_t fire_cuda_commit(void *ptr, size_t bytes, size_t *committed_p);
void          fire_cuda_release(void *ptr, size_t bytes, size_t committed);

enum { FIRE_CUDA_BLOCK = 256 }; /* threads of a block, unless a kernel says otherwise */

/* Blocks for n elements, one to a thread, but at most 16 for each multiprocessor: that
 * many fill the GPU, and kernels loop over the rest (FIRE_GRID_STRIDE). */
static inline unsigned fire_cuda_grid(const fire_stream_t *s, int64_t n)
{
    int64_t blocks = (n + FIRE_CUDA_BLOCK - 1) / FIRE_CUDA_BLOCK;
    int64_t most   = (int64_t)(s != NULL ? s->multiprocessors : 128) * 16;

    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}
FIRE_END_C
#endif
