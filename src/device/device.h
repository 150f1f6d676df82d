/* device.h - where memory lies and kernels run. The CPU is always there; a GPU
 * back end adds itself when it is loaded. */
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
    FIRE_EVEN,   /* the same, of even rows and columns alone: 0 elsewhere */
    FIRE_OPAQUE, /* a library's own: `opaque` tells how to convert */
} fire_layout_t;

/* A layout only one library understands (oneDNN's blocked formats). The library's
 * glue embeds this at the head of its own descriptor and keeps one instance per
 * distinct format, so that equal formats are equal pointers. */
typedef struct fire_opaque {
    size_t bytes; /* memory for the whole array, padding included */
    fire_status_t (*to_plain)(const struct fire_opaque *self, const void *src,
                              float *dst);
    fire_status_t (*from_plain)(const struct fire_opaque *self, const float *src,
                                void *dst);
    /* (optional) straight from another format of the same library. */
    fire_status_t (*from_other)(const struct fire_opaque *self,
                                const struct fire_opaque *other, const void *src,
                                void *dst);
} fire_opaque_t;

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

/* What a place can do with memory, in order with the work of this thread's queue. What
 * comes to the host is there when to_host() returns; what goes from it may be reused. */
typedef struct fire_device {
    const char  *name;
    fire_place_t place;
    fire_status_t (*alloc)(size_t bytes, void **ptr_p); /* zeroed */
    void (*free)(void *ptr);
    fire_status_t (*from_host)(void *dst, const void *src, size_t bytes);
    fire_status_t (*to_host)(void *dst, const void *src, size_t bytes);
    /* Between two formats of this place, same shape. */
    fire_status_t (*convert)(const fire_format_t *from, const void *src,
                             const fire_format_t *to, void *dst, int ndim,
                             const int64_t *dim);
    /* Within this place; numbers are float32. */
    fire_status_t (*copy)(void *dst, const void *src, size_t bytes);
    fire_status_t (*clear)(void *dst, size_t bytes);
    fire_status_t (*fill)(float *dst, float value, int64_t n);
    fire_status_t (*add_left)(float *dst, const float *left,
                              int64_t n); /* left + dst */
    /* dst[i] += a * src[i] */
    fire_status_t (*add_scaled)(float *dst, float a, const float *src, int64_t n);
    /* (a GPU) Addresses for a pool. Memory behind the first `bytes` of them, where the
     * first *have_p already have some; it may be a little more. Both away. */
    fire_status_t (*reserve)(void **ptr_p, size_t *bytes_p);
    fire_status_t (*commit)(void *ptr, size_t bytes, size_t *committed_p);
    void (*release)(void *ptr, size_t bytes, size_t committed);
} fire_device_t;

/* NULL where the place does not exist in this process. */
const fire_device_t *fire_device_find(fire_place_t place);
/* A back end announces itself, once, before any worker starts. */
void fire_device_add(const fire_device_t *device);

/* Settings of one worker that layers need; owned by who creates the net, constant
 * while it lives. */
typedef struct fire_ctx {
    fire_place_t   place;         /* kernels run here where they can */
    fire_dtype_t   precision;     /* of activations; weights stay float32 */
    bool           deterministic; /* only run-to-run reproducible kernels */
    bool           exact;         /* no algorithm that trades accuracy (Winograd) */
    bool           lean;          /* blobs inside a net may lose their values as soon as
                                   * no layer needs them: nobody else looks */
    bool           inference;     /* lean, and nobody will run it backward */
    bool           recompute;     /* lean, and training makes again what is cheap */
    bool           tf32;          /* GPU products may round float32 factors to tf32 */
    bool           scaled;        /* gradients on a GPU come scaled: gpu.h, fp16 */
    bool           tune;          /* measure a library's algorithms, take the fastest */
    int            threads;       /* 0: all that this worker may use */
    const char    *kernels;       /* wishes, "Convolution=ref,ReLU=onednn" or NULL */
    fire_stream_t *stream;        /* this worker's queue */
    fire_pool_t   *pool;          /* the net's own, for memory of blobs and kernels */
    fire_mt_t     *mt;            /* Caffe's random numbers; NULL: those of rng.h */
} fire_ctx_t;

#define FIRE_CTX_INIT ((fire_ctx_t){.deterministic = true})
FIRE_END_C
#endif
