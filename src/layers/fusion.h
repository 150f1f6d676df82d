/* fusion.h - what a kernel can promise beyond Caffe's verbs, so that the net can run
 * several layers as one and give memory back early. All of it is optional: a kernel
 * without a fire_fusion_ops_t is correct, and a net that ignores the promises computes
 * the same. docs/design/0007-fusion.md explains the words, with drawings.
 *
 * Who asks: src/net/fusion.c (absorb, borrow, even rows) once the net is built, and
 * src/net/memory.c (the rest) whenever it plans memory. The answers may depend on
 * settings and shapes, not on values. */
#ifndef FIRE_LAYERS_FUSION_H
#define FIRE_LAYERS_FUSION_H
#include <fire/layer.h>
#include "blob/blob.h"

FIRE_BEGIN_C

/* Members may be NULL: then the kernel cannot do it. The order puts first what most
 * kernels have, for the .cu files, whose C++ names no members. */
typedef struct fire_fusion_ops {
    /* Can l's kernel do the work of `next` too, which comes directly after l (and what l
     * has absorbed so far) and works in place? In a net for inference `next` need not
     * work in place; its result then belongs into fire_layer_result(l). After true,
     * `next` is in l->fusion.follower. */
    bool (*absorbs)(const fire_layer_t *l, const fire_layer_t *next);
    /* FIRE_READS_* of backward (<fire/layer.h>); FIRE_READS_COPY: the kernel's own copy
     * of the first bottom. NULL: bottoms and tops. */
    unsigned (*backward_reads)(const fire_layer_t *l);
    /* The same question as absorbs, for a `next` with a top of its own and further
     * bottoms (the sum at the end of a residual branch), or several tops (Split). Only
     * asked in a lean net, where nobody looks at the blob in between. */
    bool (*absorbs_join)(const fire_layer_t *l, const fire_layer_t *next);
    /* Can l compute for itself what `from`, an earlier layer with the same kernel, would
     * write? After true, from->fusion.borrower is l and l->fusion.lender is `from`, and
     * from's forward need not write its top. */
    bool (*borrows)(const fire_layer_t *l, const fire_layer_t *from);
    /* Does it read only the even rows and columns of its bottoms, and accept them as
     * FIRE_EVEN? (A 1x1 convolution with stride 2.) */
    bool (*reads_even)(const fire_layer_t *l);
    /* Can it skip writing the odd rows and columns of its result? Where all readers
     * answer true to reads_even, l->fusion.even_only is set. */
    bool (*writes_even)(const fire_layer_t *l);
    /* Called between forward and backward: write the top's data once more, bit for bit
     * the same, and change nothing else. Only for kernels that are cheap to repeat; where
     * l works in place it must not be forward itself. */
    fire_status_t (*recompute)(fire_layer_t *l);
    /* Does forward write its top into the memory of l->fusion.spare, where that is set? */
    bool reuses_bottom;
} fire_fusion_ops_t;

/* For kernels that promise only what backward reads, and as members of others. */
extern const fire_fusion_ops_t fire_fusion_reads_nothing;
extern const fire_fusion_ops_t fire_fusion_reads_bottom;
extern const fire_fusion_ops_t fire_fusion_reads_top;

unsigned fire_reads_nothing(const fire_layer_t *l);
unsigned fire_reads_bottom(const fire_layer_t *l);
unsigned fire_reads_top(const fire_layer_t *l);

enum { FIRE_MAX_FOLLOWERS = 4 };

/* What the net has decided for one layer; all zero where nothing is fused. */
typedef struct fire_fusion {
    int           nfollower; /* layers that this kernel does as well, in order */
    fire_layer_t *follower[FIRE_MAX_FOLLOWERS];
    bool          absorbed;  /* is a follower itself: its kernel is not called */
    fire_layer_t *borrower;  /* whose kernel computes this one's values, or NULL */
    fire_layer_t *lender;    /* whose values this one's kernel computes, or NULL */
    fire_blob_t  *spare;     /* a bottom that nobody reads after forward, or NULL */
    bool          even_only; /* nobody reads odd rows and columns of its result */
} fire_fusion_t;

/* ---- for kernels and the net ---- */

/* The last layer that l's kernel does: its last follower, or l. */
const fire_layer_t *fire_layer_last(const fire_layer_t *l);

/* The blob that the group ends with: the first top of fire_layer_last(). */
fire_blob_t *fire_layer_result(const fire_layer_t *l);

/* The follower of this type, or NULL. */
const fire_layer_t *fire_layer_follower(const fire_layer_t *l, const char *type);

/* What backward of this layer reads, FIRE_READS_*. Nothing for an absorbed layer: its
 * leader answers for the group. */
unsigned fire_layer_backward_reads(const fire_layer_t *l);
FIRE_END_C
#endif
