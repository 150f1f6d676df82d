/* net_state.h - the members of a net, for the files that build and run nets (src/net,
 * and those of src/ that work between its layers). Tools include net.h only.
 *
 * A net is built by passes over the NetParameter and the layers, one file each: filter
 * and splits (on the message), build (layers, blobs, shapes), gradients (what runs
 * backward), params (what learns), fusion (which kernel computes several layers),
 * memory (when blobs can be freed). */
#ifndef FIRE_NET_NET_STATE_H
#define FIRE_NET_NET_STATE_H
#include "net/net.h"

/* A blob of the net. */
typedef struct fire_net_blob {
    const char  *name;
    fire_blob_t *blob;
    bool         need_backward; /* a layer below it learns */
    bool         observed;      /* keeps its values, also in a lean net */
} fire_net_blob_t;

/* A layer, and what only the net knows about it. */
typedef struct fire_net_layer {
    fire_layer_t base;
    int         *bottom_id, *top_id; /* indices into net->blob */
    bool         need_backward;      /* backward runs (gradients.c) */
    uint64_t     shapes; /* hash of the bottoms' shapes at the last reshape */
} fire_net_layer_t;

/* A part of a blob whose memory a lean net frees after a step (memory.c tells
 * steps). */
typedef struct fire_drop {
    int          step;
    fire_blob_t *blob;
    fire_part_t  part;
} fire_drop_t;

/* A layer whose top is computed once more before a step, to save memory. */
typedef struct fire_recompute {
    int step, layer;
} fire_recompute_t;

/* For debug_info: sums of |x| and of x^2 over all parameters. */
typedef struct fire_debug_norms {
    double data[2], diff[2];
} fire_debug_norms_t;

struct fire_net {
    Caffe__NetParameter *param; /* filtered, with splits; owns names and settings */
    fire_ctx_t           ctx;
    fire_moment_t        moment; /* step, lane and seed of the next pass */
    Caffe__Phase         phase;
    /* factor of all gradients: this lane's share of the batch */
    float              loss_scale;
    bool               debug_info;
    fire_debug_norms_t norms; /* of the parameters that backward has passed */
    bool own_steps; /* a user runs it: each pass from the first layer on takes the next
                        batch, unless a trainer (which has hooks) sets the step */
    int64_t passed; /* step of the last pass + 1; 0: there was none */

    int               nlayer, nblob, nparam, noutput;
    fire_net_layer_t *layer;
    fire_net_blob_t  *blob;
    fire_param_t     *learn;       /* [nparam] */
    int              *output;      /* blob numbers, in order of their names */
    int64_t          *output_size; /* elements of each when the net was built */

    int          ndrop;
    fire_drop_t *drop;       /* sorted by step */
    bool         may_forget; /* not lean, but has a plan of what could be freed */
    bool         forgets;    /* and frees it in this pass: nobody looks at its values */

    int               nrecompute;
    fire_recompute_t *recompute; /* sorted by step, then by layer */

    fire_net_hooks_t hooks; /* for the gradient exchange and solvers */
    fire_net_hooks_t watch; /* for profiling: called closest around the layer */

    /* Owned by the net if its creator hands them over; else NULL. */
    fire_log_route_t *log;     /* its own sink */
    fire_stream_t    *stream;  /* ctx.stream */
    char             *kernels; /* ctx.kernels */
    int               gpu;     /* number of the GPU that `stream` is on */
};

/* ---- passes ---- */

/* Insert a Split layer after every blob that more than one layer (or loss) uses. Fails
 * if a bottom is not the top of an earlier layer. */
fire_status_t fire_net_insert_splits(Caffe__NetParameter *net);
fire_status_t fire_net_build(fire_net_t *net);          /* layers, blobs, shapes */
fire_status_t fire_net_plan_gradients(fire_net_t *net); /* what runs backward */
fire_status_t
fire_net_collect_params(fire_net_t *net); /* what learns, what is shared */

/* Mark the blobs of these names as observed. */
fire_status_t fire_net_observe(fire_net_t *net, int n, const char *const *name);

/* Let kernels compute several layers (fusion.c); undo it, for callers that need the
 * result of every layer. A pass over part of the net, or with debug_info, undoes it
 * where necessary. */
void          fire_net_fuse(fire_net_t *net);
fire_status_t fire_net_unfuse(fire_net_t *net);

/* Find out when blobs are not needed any more; free those not needed after `step`. */
fire_status_t fire_net_plan_memory(fire_net_t *net);
void          fire_net_drop(fire_net_t *net, int step);
/* Compute once more what was freed and this step of backward needs. */
fire_status_t fire_net_recompute(fire_net_t *net, int step);
/* Log mean absolute values as Caffe's debug_info does: after a layer's forward, after
 * its backward, at the update of parameter number `param`; norms of all parameters,
 * once backward has gone from the last layer to layer 0. */
fire_status_t fire_net_debug_forward(fire_net_t *net, int layer);
fire_status_t fire_net_debug_backward(fire_net_t *net, int layer);
fire_status_t fire_net_debug_norms(fire_net_t *net, int layer);
fire_status_t fire_net_debug_update(fire_net_t *net, int param);
#endif
