/* layer.h - what a layer is. A layer file fills in one fire_layer_ops_t and has one
 * line in layers.def; nothing else knows its name.
 *
 * Caffe's contract: setup once, reshape whenever bottoms change shape, forward,
 * backward. Backward overwrites the diffs of bottoms with propagate_down and ADDS to
 * the diffs of parameters. Messages need not name the layer: the net puts
 * `layer "conv1" (Convolution): ` before them. */
#ifndef FIRE_LAYERS_LAYER_H
#define FIRE_LAYERS_LAYER_H
#include "base/alloc.h"
#include "base/log.h"
#include "base/random/moment.h"
#include "base/random/rng.h"
#include "blob/blob.h"
#include "blob/filler.h"
#include "caffe.pb-c.h"

FIRE_BEGIN_C
typedef struct fire_layer fire_layer_t;

/* One implementation of forward and backward. */
typedef struct fire_kernel {
    const char  *name; /* "ref", "onednn", "cuda", "cudnn" */
    fire_place_t where;
    /* (optional) NULL to accept the layer as it is shaped now, or the reason not to. */
    const char *(*declines)(const fire_layer_t *l);
    /* (optional) after each reshape, before forward; may use l->kernel_state. */
    fire_status_t (*prepare)(fire_layer_t *l);
    fire_status_t (*forward)(fire_layer_t *l);
    fire_status_t (*backward)(fire_layer_t *l); /* NULL: no gradient */
    void (*release)(fire_layer_t *l);           /* (optional) frees l->kernel_state */
    /* (optional) Can it do the work of `next` as well, which comes right behind? Only a
     * net for inference asks for one that does not work in place; see
     * fire_layer_result(). If so, l->follower has it from then on. */
    bool (*absorbs)(const fire_layer_t *l, const fire_layer_t *next);
    /* (optional) The same for a layer that is not in place but reads, among others, the
     * top of the last of the group, which nobody else will see. */
    bool (*continues)(const fire_layer_t *l, const fire_layer_t *next);
    /* (optional) Can it make itself what `from`, which runs before, would give it? If
     * so, from->borrower is l from then on, and l->lender from. */
    bool (*borrows)(const fire_layer_t *l, const fire_layer_t *from);
    /* (optional) Does it look at even rows and columns of its bottoms alone, and take
     * these as FIRE_EVEN? */
    bool (*skips)(const fire_layer_t *l);
    /* (optional) Can it leave out the others of what the group gives? Where all readers
     * skip them, l->thin is set from then on. */
    bool (*thins)(const fire_layer_t *l);
    /* (optional) What backward reads besides the gradients of tops, FIRE_NEEDS_*; all
     * if it does not say. */
    unsigned (*needs)(const fire_layer_t *l);
    /* (optional) Between forward and backward: make the top's data again, bit for bit, and
     * change nothing else. For kernels that do so quickly; most name forward, which will
     * do unless it works in place. */
    fire_status_t (*again)(fire_layer_t *l);
    /* (optional) Does forward write its top into the memory of l->spare, if there is? */
    bool reuses;
} fire_kernel_t;

/* Data of the bottoms, of the tops, or a copy of its own of the first bottom. */
enum { FIRE_NEEDS_BOTTOM = 1 << 0, FIRE_NEEDS_TOP = 1 << 1, FIRE_NEEDS_COPY = 1 << 2 };

unsigned fire_needs_nothing(const fire_layer_t *l);
unsigned fire_needs_bottom(const fire_layer_t *l);
unsigned fire_needs_top(const fire_layer_t *l);

typedef struct fire_arity {
    int min, max; /* max -1: any number */
} fire_arity_t;

enum {
    FIRE_LAYER_INPLACE  = 1 << 0, /* a bottom may also be the top */
    FIRE_LAYER_LOSS     = 1 << 1, /* loss_weight of the first top defaults to 1 */
    FIRE_LAYER_AUTO_TOP = 1 << 2, /* tops up to the minimum need not be named */
    FIRE_LAYER_PAIRED   = 1 << 3, /* as many tops as bottoms */
    FIRE_LAYER_SOURCE   = 1 << 4, /* makes data: no bottoms, follows the moment */
    FIRE_LAYER_DYNAMIC  = 1 << 5, /* top shapes depend on values: reshape each pass */
    FIRE_LAYER_HOST     = 1 << 6, /* work for a CPU, also where the net is on a GPU */
};

typedef struct fire_layer_ops {
    const char  *type; /* as prototxts spell it */
    fire_arity_t bottoms, tops;
    unsigned     flags;
    unsigned     no_gradient; /* bit i: bottom i (a label) never takes a gradient */
    size_t       state_size;  /* l->state, zeroed before setup */
    fire_status_t (*setup)(fire_layer_t *l); /* (optional) read param, add blobs */
    fire_status_t (*reshape)(fire_layer_t *l);
    void (*teardown)(fire_layer_t *l); /* (optional) */
    /* (optional) multiply-adds of one forward pass, for tables and plans. */
    double (*macs)(const fire_layer_t *l);
    const fire_kernel_t *kernels; /* best first, "ref" last, ends with {0} */
} fire_layer_ops_t;

typedef enum fire_param_kind {
    FIRE_PARAM_WEIGHT,    /* follows its gradient */
    FIRE_PARAM_STATISTIC, /* running statistic (BatchNorm); see moment.defer_stats */
} fire_param_kind_t;

enum { FIRE_MAX_FOLLOWERS = 4 };

struct fire_layer {
    const fire_layer_ops_t      *ops;
    const Caffe__LayerParameter *param; /* the net's */
    const fire_ctx_t            *ctx;
    const fire_moment_t         *moment; /* the net's; changes between passes */
    Caffe__Phase                 phase;

    int           nbottom, ntop, nblob;
    fire_blob_t **bottom, **top;  /* the net's */
    fire_blob_t **blob;           /* parameters; made by fire_layer_add_blob() */
    bool         *propagate_down; /* [nbottom] */
    bool         *param_gradient; /* [nblob] is a gradient wanted? */
    float        *loss_weight;    /* [ntop] */

    int     nstatistic; /* its first so many parameters are statistics */
    float   stat_decay; /* weight of the past in a statistic */
    double  waited;     /* seconds that forward has waited for data so far */
    double  stalled;    /* seconds that a GPU has waited for data to arrive so far */
    int64_t records;    /* of the data set behind a source; 0: unknown */

    const fire_kernel_t *kernel;
    void                *kernel_state;
    void                *state;

    int           nfollower; /* layers that the kernel does as well, in order */
    fire_layer_t *follower[FIRE_MAX_FOLLOWERS];
    bool          absorbed; /* is one of these: it does not run by itself */
    fire_layer_t *borrower; /* whose kernel makes this one's values, or NULL */
    fire_layer_t *lender;   /* whose values this one's kernel makes, or NULL */
    fire_blob_t  *spare;    /* a bottom that nobody needs behind forward, or NULL */
    bool          thin;     /* nobody reads odd rows and columns of what it gives */
};

static inline fire_param_kind_t fire_layer_param_kind(const fire_layer_t *l, int i)
{
    return i < l->nstatistic ? FIRE_PARAM_STATISTIC : FIRE_PARAM_WEIGHT;
}

/* ---- for layer files ---- */

#define FIRE_STATE(l, type) ((type *)(l)->state)

/* The layer's own settings, or their defaults where the prototxt says nothing:
 * FIRE_PARAM(l, softmax_param, CAFFE__SOFTMAX_PARAMETER__INIT). */
#define FIRE_PARAM(l, field, init)                 \
    ((l)->param->field != NULL ? (l)->param->field \
                               : &(__typeof__(*(l)->param->field))init)

/* Append a parameter of this shape, filled (filler NULL: zeros). */
fire_status_t fire_layer_add_blob(fire_layer_t *l, int ndim, const int64_t *dim,
                                  const Caffe__FillerParameter *filler);

/* Loss layers: the weight that backward multiplies with (top 0's diff). */
fire_status_t fire_layer_loss_weight(fire_layer_t *l, float *weight_p);

/* Sequence of random numbers for this layer at this step. */
static inline fire_rng_key_t fire_layer_rng(const fire_layer_t *l, fire_rng_use_t use)
{
    return fire_rng_key(l->moment->seed, use, fire_rng_name(l->param->name),
                        (uint64_t)l->moment->step);
}

/* Borrow elements at the head of a kernel, on the kernel's own place: read, overwrite,
 * change. In place, read first: overwriting then gives the same memory, values and
 * all. */
#define FIRE_IN(l, blob_, part, ptr) \
    FIRE_TRY(fire_blob_read((blob_), (part), (l)->kernel->where, (ptr)))
#define FIRE_OUT(l, blob_, part, ptr) \
    FIRE_TRY(fire_blob_write((blob_), (part), (l)->kernel->where, (ptr)))
#define FIRE_INOUT(l, blob_, part, ptr) \
    FIRE_TRY(fire_blob_update((blob_), (part), (l)->kernel->where, (ptr)))

/* The same for kernels that work in formats of their own choice. */
#define FIRE_IN_AS(blob_, part, format, ptr) \
    FIRE_TRY(fire_blob_access((blob_), (part), FIRE_READ, (format), (void **)(ptr)))
#define FIRE_OUT_AS(blob_, part, format, ptr) \
    FIRE_TRY(fire_blob_access((blob_), (part), FIRE_WRITE, (format), (void **)(ptr)))
#define FIRE_INOUT_AS(blob_, part, format, ptr) \
    FIRE_TRY(fire_blob_access((blob_), (part), FIRE_UPDATE, (format), (void **)(ptr)))

/* Kernels in files of their own, noun_onednn.c: FIRE_KERNEL_DECLARE(noun_onednn) in a
 * header, FIRE_ONEDNN_KERNEL(noun) in the layer's list, where it is nothing without the
 * library. All seven functions must be there. */
#define FIRE_KERNEL_DECLARE(stem)                                                    \
    const char   *fire_##stem##_declines(const fire_layer_t *);                      \
    fire_status_t fire_##stem##_prepare(fire_layer_t *);                             \
    fire_status_t fire_##stem##_forward(fire_layer_t *);                             \
    fire_status_t fire_##stem##_backward(fire_layer_t *);                            \
    void          fire_##stem##_release(fire_layer_t *);                             \
    bool          fire_##stem##_absorbs(const fire_layer_t *, const fire_layer_t *); \
    unsigned      fire_##stem##_needs(const fire_layer_t *)
#define FIRE_KERNEL(name_, stem)                                              \
    {                                                                         \
        .name = name_, .declines = fire_##stem##_declines,                    \
        .prepare = fire_##stem##_prepare, .forward = fire_##stem##_forward,   \
        .backward = fire_##stem##_backward, .release = fire_##stem##_release, \
        .absorbs = fire_##stem##_absorbs, .needs = fire_##stem##_needs        \
    }
#ifdef FIRE_HAVE_ONEDNN
#    define FIRE_ONEDNN_KERNEL(noun) FIRE_KERNEL("onednn", noun##_onednn),
#else
#    define FIRE_ONEDNN_KERNEL(noun)
#endif

/* Kernels on a GPU: fire_noun_cuda_forward() and _backward(), with 6 also _declines(),
 * _prepare(), _release() and _absorbs(); nothing without CUDA. */
#ifdef FIRE_HAVE_CUDA
#    define FIRE_CUDA_ROW(...) {.name = "cuda", .where = FIRE_GPU, __VA_ARGS__},
#else
#    define FIRE_CUDA_ROW(...)
#endif
/* A function that serves both places borrows its blobs and then, on a GPU, leaves the
 * arithmetic to this call. Without CUDA the compiler still reads the call, then drops
 * it. */
#ifdef FIRE_HAVE_CUDA
#    define FIRE_ON_GPU(l) ((l)->kernel->where == FIRE_GPU)
#else
#    define FIRE_ON_GPU(l) false
#endif
#define FIRE_IF_GPU(l, call)             \
    do {                                 \
        if (FIRE_ON_GPU(l)) return call; \
    } while (0)
#define FIRE_CUDA_FORWARD(noun) FIRE_CUDA_ROW(.forward = fire_##noun##_cuda_forward)
#define FIRE_CUDA_KERNEL(noun)                            \
    FIRE_CUDA_ROW(.forward  = fire_##noun##_cuda_forward, \
                  .backward = fire_##noun##_cuda_backward)
#define FIRE_CUDA_KERNEL_6(noun)                           \
    FIRE_CUDA_ROW(.declines = fire_##noun##_cuda_declines, \
                  .prepare  = fire_##noun##_cuda_prepare,  \
                  .forward  = fire_##noun##_cuda_forward,  \
                  .backward = fire_##noun##_cuda_backward, \
                  .release  = fire_##noun##_cuda_release,  \
                  .absorbs  = fire_##noun##_cuda_absorbs)
#ifdef FIRE_HAVE_CUDNN
#    define FIRE_CUDNN_KERNEL(noun)                \
        {.name     = "cudnn",                      \
         .where    = FIRE_GPU,                     \
         .declines = fire_##noun##_cudnn_declines, \
         .prepare  = fire_##noun##_cudnn_prepare,  \
         .forward  = fire_##noun##_cudnn_forward,  \
         .backward = fire_##noun##_cudnn_backward, \
         .release  = fire_##noun##_cudnn_release,  \
         .absorbs  = fire_##noun##_cudnn_absorbs,  \
         .skips    = fire_##noun##_cudnn_skips,    \
         .needs    = fire_##noun##_cudnn_needs},
#else
#    define FIRE_CUDNN_KERNEL(noun)
#endif

/* reshape for layers whose only top has the shape of their first bottom. */
fire_status_t fire_layer_reshape_same(fire_layer_t *l);

/* ---- for the net ---- */

fire_status_t fire_layer_find(const char *type, const fire_layer_ops_t **ops_p);
/* The i-th known type, NULL after the last. */
const fire_layer_ops_t *fire_layer_at(int i);

/* Does the user's wish, "Convolution=ref,ReLU=onednn" or "all=ref", allow this kernel of
 * this type? Yes for types that it does not mention. */
bool fire_kernel_allowed(const fire_ctx_t *ctx, const char *type, const char *kernel);

/* Choose the kernel for the layer as it is shaped now. `report` (optional) is called
 * for every kernel looked at: NULL reason for the one taken. */
typedef void (*fire_kernel_report_t)(void *arg, const fire_layer_t *l,
                                     const fire_kernel_t *k, const char *reason);
fire_status_t fire_kernel_select(fire_layer_t *l, fire_kernel_report_t report,
                                 void *arg);

/* The follower of this type, or NULL. */
const fire_layer_t *fire_layer_follower(const fire_layer_t *l, const char *type);

/* The blob that holds the result of a layer and of those that it does as well: its top,
 * or that of the last follower which does not work in place. */
fire_blob_t *fire_layer_result(const fire_layer_t *l);

/* A failure, if it is one, as the layer's: puts its name and type before the message. */
fire_status_t fire_layer_blame(fire_status_t st, const fire_layer_t *l);

void fire_layer_fini(fire_layer_t *l); /* what setup and kernels made */
FIRE_END_C
#endif
