/* device.h - the places where memory is allocated and kernels run, the number formats
 * and layouts of arrays there, and the settings of one worker. The CPU is always there;
 * the GPU back end registers itself when the first GPU is opened. */
#ifndef FIRE_DEVICE_DEVICE_H
#define FIRE_DEVICE_DEVICE_H
#include <fire/blob.h>
#include "base/error.h"
#include "base/random/mt.h"
#include "device/pool.h"

FIRE_BEGIN_C
typedef struct fire_stream fire_stream_t; /* queue of device work; NULL on the CPU */

typedef enum fire_dtype { FIRE_F32, FIRE_BF16, FIRE_F16 } fire_dtype_t;

typedef enum fire_layout {
    FIRE_PLAIN,  /* NCHW, any number of axes */
    FIRE_NHWC,   /* channels last; 4 axes */
    FIRE_EVEN,   /* NHWC with only the even rows and columns stored; the others are 0 */
    FIRE_OPAQUE, /* private to a library or to our SIMD kernels: see `opaque` */
} fire_layout_t;

/* A layout that only one module understands (oneDNN's formats, blocked.h). The module
 * embeds this struct as the first member of its own descriptor and keeps one instance
 * per distinct format for the life of the process: equal formats are equal pointers. */
typedef struct fire_opaque {
    size_t bytes; /* of the whole array, padding included */
    fire_status_t (*to_plain)(const struct fire_opaque *self, const void *src,
                              float *dst);
    fire_status_t (*from_plain)(const struct fire_opaque *self, const float *src,
                                void *dst);
    /* (optional) from another format of the same module, without a plain copy
     * between. */
    fire_status_t (*from_other)(const struct fire_opaque *self,
                                const struct fire_opaque *other, const void *src,
                                void *dst);
} fire_opaque_t;

/* How an array is stored. Its logical shape stays NCHW, whatever the layout. */
typedef struct fire_format {
    fire_place_t         place;
    fire_dtype_t         dtype;
    fire_layout_t        layout;
    const fire_opaque_t *opaque; /* for FIRE_OPAQUE */
} fire_format_t;

#define FIRE_FORMAT_PLAIN(place_) ((fire_format_t){.place = (place_)})

static inline bool fire_format_equal(const fire_format_t *a, const fire_format_t *b)
{
    return a->place == b->place && a->dtype == b->dtype && a->layout == b->layout &&
           a->opaque == b->opaque;
}

static inline bool fire_format_is_plain(const fire_format_t *f)
{
    return f->layout == FIRE_PLAIN && f->dtype == FIRE_F32;
}

static inline size_t fire_dtype_size(fire_dtype_t t)
{
    return t == FIRE_F32 ? 4 : 2;
}

/* Memory operations of a place. On a GPU they run in order with the other work of the
 * calling thread's queue, most of them after the call has returned; but to_host()
 * returns when dst holds the data, and from_host() when src may be overwritten. */
typedef struct fire_device {
    const char  *name; /* "cpu", "cuda": for messages */
    fire_place_t place;
    fire_status_t (*alloc)(size_t bytes, void **ptr_p); /* zeroed */
    void (*free)(void *ptr);
    fire_status_t (*from_host)(void *dst, const void *src, size_t bytes);
    fire_status_t (*to_host)(void *dst, const void *src, size_t bytes);
    /* Copy an array of shape dim[] between two formats of this place. */
    fire_status_t (*convert)(const fire_format_t *from, const void *src,
                             const fire_format_t *to, void *dst, int ndim,
                             const int64_t *dim);
    /* Within this place. Arrays of numbers are float32. */
    fire_status_t (*copy)(void *dst, const void *src, size_t bytes);
    fire_status_t (*clear)(void *dst, size_t bytes);
    fire_status_t (*fill)(float *dst, float value, int64_t n);
    /* dst[i] = left[i] + dst[i]: the operands' order that the canonical sum asks for */
    fire_status_t (*add_left)(float *dst, const float *left, int64_t n);
    /* dst[i] += a * src[i] */
    fire_status_t (*add_scaled)(float *dst, float a, const float *src, int64_t n);
    /* GPU only, virtual memory for a pool (pool.c). reserve: take a range of addresses
     * as large as the GPU's memory, without memory. commit: back the first `bytes` of
     * it with memory, of which *committed_p already have some; rounds up and updates
     * *committed_p. release: free the memory and the range. */
    fire_status_t (*reserve)(void **ptr_p, size_t *bytes_p);
    fire_status_t (*commit)(void *ptr, size_t bytes, size_t *committed_p);
    void (*release)(void *ptr, size_t bytes, size_t committed);
} fire_device_t;

/* NULL where the place does not exist in this process. */
const fire_device_t *fire_device_find(fire_place_t place);
/* Called by a back end to register itself, before any worker uses the place. */
void fire_device_add(const fire_device_t *device);

/* Settings of one worker that layers read. Filled in by the creator of the net,
 * constant as long as the net exists. */
typedef struct fire_ctx {
    fire_place_t place;     /* kernels run here; those of the CPU where it has none */
    fire_dtype_t precision; /* of activations; weights stay float32 */
    bool         deterministic; /* only kernels that give the same bits on every run */
    bool         exact;         /* no algorithm that is less accurate (Winograd) */
    bool         lean;          /* free a blob's values after the last layer that reads
                                   * them: nobody outside of the net will */
    bool         inference;     /* lean, and backward never runs */
    bool         recompute;     /* lean, and backward recomputes what is cheap to */
    bool         unfilled;      /* parameters get no values: only shapes are wanted */
    bool         tf32;          /* GPU products may round float32 factors to tf32 */
    bool         scaled;   /* fp16: gradients are multiplied by a loss scale, gpu.h */
    bool         tune;     /* measure a library's algorithms, use the fastest */
    int          threads;  /* of the CPU; 0: all that this worker may use */
    const char  *kernels;  /* requested: "Convolution=ref,ReLU=onednn", or NULL */
    fire_stream_t *stream; /* this worker's queue on its GPU; NULL on the CPU */
    fire_pool_t   *pool;   /* the net's own, for blobs and scratch memory */
    fire_mt_t     *mt;     /* Caffe's random numbers; NULL: those of rng.h */
    /* Who runs Python layers; NULL: an interpreter that the library opens. */
    const struct fire_python_host *python;
} fire_ctx_t;

#define FIRE_CTX_INIT ((fire_ctx_t){.deterministic = true})

/* Set precision and tf32 by name: fp32 (or ""), tf32, bf16, fp16. */
fire_status_t fire_ctx_set_precision(fire_ctx_t *ctx, const char *name);
FIRE_END_C
#endif
