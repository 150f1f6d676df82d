/* layer.h - what a layer is.
 *
 * A layer file defines one fire_layer_ops_t (Caffe's Layer class: shapes and parameters)
 * and, for each place or method it can run by, one fire_kernel_t (Caffe's Forward_cpu,
 * Forward_gpu, ...). One line in layers.def registers it; no other file knows its name.
 *
 * The net calls, for every layer, in this order:
 *
 *     setup      once                  read the settings, add parameters
 *     reshape    after setup, and whenever a bottom has changed its shape: shape the tops
 *     declines   after each reshape    for every kernel of the list until one accepts
 *     prepare    of the kernel chosen
 *     forward    every pass            read the bottoms, overwrite the tops
 *     backward   passes with gradient  in the opposite order of layers
 *     release    when another kernel is chosen, or at the end
 *     teardown   once, at the end
 *
 * Backward overwrites the diff of each bottom with propagate_down and ADDS to the diff of
 * each parameter with param_gradient; the solver clears the latter.
 *
 * Everything that returns a fire_status_t may fail; the net then stops the pass, and puts
 * `layer "conv1" (Convolution): ` before the message, so a message need not name the
 * layer. All calls for one net come from one thread at a time. Other nets run in other
 * threads, so no layer keeps state outside of l->state, l->kernel_state and its blobs;
 * kernels on the CPU may share their work between threads (device/cpu/parallel.h). */
#ifndef FIRE_LAYERS_LAYER_H
#define FIRE_LAYERS_LAYER_H
#include <fire/layer.h>
#include "base/alloc.h"
#include "base/log.h"
#include "base/random/moment.h"
#include "base/random/rng.h"
#include "blob/blob.h"
#include "blob/filler.h"
#include "caffe.pb-c.h"
#include "layers/fusion.h"

FIRE_BEGIN_C
/* ---- a kernel: one implementation of forward and backward ---- */

/* Defined as fire_<layer>_<name>, e.g. fire_relu_cuda, in the file with its functions.
 * C++ files give the members in order and leave out trailing ones. */
typedef struct fire_kernel {
    const char *name; /* as in --kernel: "ref", "simd", "onednn", "cuda", "cudnn" ... */
    fire_place_t where;
    fire_status_t (*forward)(fire_layer_t *l);
    fire_status_t (*backward)(fire_layer_t *l); /* NULL: the layer has no gradient */
    /* (optional) NULL if it can run the layer with these shapes and settings, or the
     * reason why not, for `firecaffe net --explain`. Must not change the layer. */
    const char *(*declines)(const fire_layer_t *l);
    /* (optional) Allocate, or choose an algorithm, for the shapes of now; memory of the
     * kernel hangs from l->kernel_state and is kept from one prepare to the next. */
    fire_status_t (*prepare)(fire_layer_t *l);
    void (*release)(fire_layer_t *l); /* (optional) frees l->kernel_state */
    const fire_fusion_ops_t *fusion;  /* (optional) see fusion.h */
} fire_kernel_t;

/* A layer's list: {FIRE_IF_CUDA(fire_relu_cuda) &fire_relu_simd, &fire_relu_ref, NULL}.
 * Kernels that are not part of this build are left out of it, with their comma. */
#ifdef FIRE_HAVE_CUDA
#    define FIRE_IF_CUDA(kernel) &kernel,
#else
#    define FIRE_IF_CUDA(kernel)
#endif
#ifdef FIRE_HAVE_CUDNN
#    define FIRE_IF_CUDNN(kernel) &kernel,
#else
#    define FIRE_IF_CUDNN(kernel)
#endif
#ifdef FIRE_HAVE_ONEDNN
#    define FIRE_IF_ONEDNN(kernel) &kernel,
#else
#    define FIRE_IF_ONEDNN(kernel)
#endif

/* ---- a layer type ---- */

typedef struct fire_arity {
    int min, max; /* max -1: any number */
} fire_arity_t;

/* Further flags are in <fire/layer.h>. */
enum { FIRE_LAYER_PLUGIN = 1 << 16 /* from a plug-in: a fire_plugged_type_t */ };

/* Defined as fire_layer_<file>, e.g. fire_layer_relu. */
typedef struct fire_layer_ops {
    const char  *type; /* as prototxts spell it */
    fire_arity_t bottoms, tops;
    unsigned     flags;       /* FIRE_LAYER_* */
    unsigned     no_gradient; /* bit i: bottom i (e.g. labels) never takes a gradient */
    size_t       state_size;  /* bytes of l->state, zeroed before setup */
    fire_status_t (*setup)(fire_layer_t *l); /* (optional) */
    fire_status_t (*reshape)(fire_layer_t *l);
    void (*teardown)(fire_layer_t *l); /* (optional) frees what l->state holds */
    /* (optional) multiply-adds of one forward pass, for tables and plans. */
    double (*macs)(const fire_layer_t *l);
    const fire_kernel_t *const *kernels; /* best first, "ref" last, then NULL */
} fire_layer_ops_t;

/* ---- a layer of a net ---- */

typedef enum fire_param_kind {
    FIRE_PARAM_WEIGHT,    /* the solver updates it from its gradient */
    FIRE_PARAM_STATISTIC, /* running statistic (BatchNorm); see moment.defer_stats */
} fire_param_kind_t;

struct fire_layer {
    const fire_layer_ops_t      *ops;
    const Caffe__LayerParameter *param;  /* owned by the net, as are ctx and moment */
    const fire_ctx_t            *ctx;    /* where and how to run; constant */
    const fire_moment_t         *moment; /* step, lane, seed; changes between passes */
    Caffe__Phase                 phase;

    int           nbottom, ntop, nblob;
    fire_blob_t **bottom, **top;  /* owned by the net */
    fire_blob_t **blob;           /* [nblob] parameters, from fire_layer_add_blob() */
    bool         *propagate_down; /* [nbottom] is the diff of this bottom wanted? */
    bool         *param_gradient; /* [nblob] is the diff of this parameter wanted? */
    float        *loss_weight;    /* [ntop] */

    int     first_statistic, nstatistic; /* so many blobs from there are statistics */
    bool    frozen;     /* no parameter learns, whatever lr_mult says */
    float   stat_decay; /* weight of the past in a statistic */
    double  waited;     /* seconds that forward has waited for data so far */
    double  stalled;    /* seconds that a GPU has waited for data so far */
    int64_t records;    /* in the data set that a source reads; 0: unknown */

    const fire_kernel_t *kernel; /* the one chosen */
    void                *kernel_state;
    void                *state;

    fire_fusion_t fusion; /* what it does together with other layers */
};

static inline fire_param_kind_t fire_layer_param_kind(const fire_layer_t *l, int i)
{
    return i >= l->first_statistic && i < l->first_statistic + l->nstatistic
               ? FIRE_PARAM_STATISTIC
               : FIRE_PARAM_WEIGHT;
}

/* ---- for layer files ---- */

#define FIRE_STATE(l, type) ((type *)(l)->state)

/* The layer's own settings, or their defaults where the prototxt has none:
 * FIRE_PARAM(l, softmax_param, CAFFE__SOFTMAX_PARAMETER__INIT). */
#define FIRE_PARAM(l, field, init)                 \
    ((l)->param->field != NULL ? (l)->param->field \
                               : &(__typeof__(*(l)->param->field))init)

/* In setup: append a parameter of this shape, filled (filler NULL: zeros). */
fire_status_t fire_layer_add_blob(fire_layer_t *l, int ndim, const int64_t *dim,
                                  const Caffe__FillerParameter *filler);

/* Key of this layer's random numbers at this step. */
static inline fire_rng_key_t fire_layer_rng(const fire_layer_t *l, fire_rng_use_t use)
{
    return fire_rng_key(l->moment->seed, use, fire_rng_name(l->param->name),
                        (uint64_t)l->moment->step);
}

/* Pointers to a blob's elements (part: FIRE_DATA or FIRE_DIFF) as dense float32 where the
 * kernel runs; valid until the blob is accessed again: to read, to overwrite, to change.
 * They return from the calling function on failure. In place, read first: FIRE_OUT of the
 * same blob then gives the same memory with its values. */
#define FIRE_IN(l, blob_, part, ptr) \
    FIRE_TRY(fire_blob_read((blob_), (part), (l)->kernel->where, (ptr)))
#define FIRE_OUT(l, blob_, part, ptr) \
    FIRE_TRY(fire_blob_write((blob_), (part), (l)->kernel->where, (ptr)))
#define FIRE_INOUT(l, blob_, part, ptr) \
    FIRE_TRY(fire_blob_update((blob_), (part), (l)->kernel->where, (ptr)))

/* The same for kernels that choose a format (number type, layout) themselves. */
#define FIRE_IN_AS(blob_, part, format, ptr) \
    FIRE_TRY(fire_blob_access((blob_), (part), FIRE_READ, (format), (void **)(ptr)))
#define FIRE_OUT_AS(blob_, part, format, ptr) \
    FIRE_TRY(fire_blob_access((blob_), (part), FIRE_WRITE, (format), (void **)(ptr)))
#define FIRE_INOUT_AS(blob_, part, format, ptr) \
    FIRE_TRY(fire_blob_access((blob_), (part), FIRE_UPDATE, (format), (void **)(ptr)))

/* For a function that serves the CPU and the GPU: it fetches its pointers, then on a GPU
 * returns the result of `call`, which launches the arithmetic; what follows is the CPU's.
 * Without CUDA the compiler checks the call and drops it. */
#ifdef FIRE_HAVE_CUDA
#    define FIRE_ON_GPU(l) ((l)->kernel->where == FIRE_GPU)
#else
#    define FIRE_ON_GPU(l) false
#endif
#define FIRE_IF_GPU(l, call)             \
    do {                                 \
        if (FIRE_ON_GPU(l)) return call; \
    } while (0)

/* ---- for the net ---- */

/* The type of this name; fails, with the nearest name, if there is none. */
fire_status_t fire_layer_find(const char *type, const fire_layer_ops_t **ops_p);
/* The i-th known type, NULL after the last. */
const fire_layer_ops_t *fire_layer_at(int i);

/* Does the user's request, "Convolution=ref,ReLU=onednn" or "all=ref", allow this kernel
 * for this type? Yes for types that it does not name. */
bool fire_kernel_allowed(const fire_ctx_t *ctx, const char *type, const char *kernel);

/* Choose the kernel for the layer as it is shaped now and prepare it. `report` (optional)
 * is called for every kernel looked at, with the reason against it, or NULL for the one
 * chosen. */
/* The reason against a kernel for GPUs where the net computes on the CPU. */
#define FIRE_KERNEL_NEEDS_GPU "needs a GPU"
typedef void (*fire_kernel_report_t)(void *arg, const fire_layer_t *l,
                                     const fire_kernel_t *k, const char *reason);
fire_status_t fire_kernel_select(fire_layer_t *l, fire_kernel_report_t report,
                                 void *arg);

/* Put the layer's name and type before the message of a failure; pass success on. */
fire_status_t fire_layer_blame(fire_status_t st, const fire_layer_t *l);

void fire_layer_fini(fire_layer_t *l); /* frees what setup and kernels allocated */
FIRE_END_C
#endif
