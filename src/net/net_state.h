/* net_state.h - the members of a net, for the files that build and run nets (src/net,
 * and those of src/ that work between its layers). Tools use net.h only.
 *
 * Building a net is a list of passes over the NetParameter and the layers, one file
 * each: filter, splits (on the message), then build (shapes and wiring), gradients
 * (what runs backward), params (what learns), fusion (which kernel computes several
 * layers). */
#ifndef FIRE_NET_NET_STATE_H
#define FIRE_NET_NET_STATE_H
#include "net/net.h"

typedef struct fire_net_blob {
    const char  *name;
    fire_blob_t *blob;
    bool         need_backward;
} fire_net_blob_t;

/* A layer with what only the net knows of it. */
typedef struct fire_net_layer {
    fire_layer_t base;
    int         *bottom_id, *top_id; /* into net->blob */
    bool         need_backward;
    uint64_t     shapes; /* of the bottoms when it was last reshaped */
} fire_net_layer_t;

/* A blob whose memory a lean net gives back after a step (see memory.c). */
typedef struct fire_drop {
    int          step;
    fire_blob_t *blob;
    fire_part_t  part;
} fire_drop_t;

/* A layer that makes its data again before a step, where memory counts more. */
typedef struct fire_again {
    int step, layer;
} fire_again_t;

struct fire_net {
    Caffe__NetParameter *param; /* filtered, with splits; owns names and settings */
    fire_ctx_t           ctx;
    fire_moment_t        moment; /* set before a pass */
    Caffe__Phase         phase;
    float                loss_scale; /* multiplies the gradient: this lane's share */
    bool                 debug_info;

    int               nlayer, nblob, nparam, noutput;
    fire_net_layer_t *layer;
    fire_net_blob_t  *blob;
    fire_param_t     *learn;       /* [nparam] */
    int              *output;      /* blob numbers, in order of their names */
    int64_t          *output_size; /* elements of each when the net was built */

    int          ndrop;
    fire_drop_t *drop; /* by step */

    int           nagain;
    fire_again_t *again; /* by step, then by layer */

    fire_net_hooks_t hooks; /* for those who work between layers */
    fire_net_hooks_t watch; /* for those who measure: closest around the layer */
};

/* ---- passes ---- */

/* Put a Split layer behind every blob that more than one layer (or loss) uses. */
fire_status_t fire_net_insert_splits(Caffe__NetParameter *net);
fire_status_t fire_net_build(fire_net_t *net);          /* layers, blobs, shapes */
fire_status_t fire_net_plan_gradients(fire_net_t *net); /* what runs backward */
fire_status_t
fire_net_collect_params(fire_net_t *net); /* what learns, what is shared */

/* Let kernels do the work of layers behind them as well; undo it, for those who want to
 * see every layer by itself. A pass over part of the net or with debug_info undoes it
 * where it must. */
void          fire_net_fuse(fire_net_t *net);
fire_status_t fire_net_unfuse(fire_net_t *net);

/* Find out when memory is no longer needed; give back what nobody needs after a step. */
fire_status_t fire_net_plan_memory(fire_net_t *net);
void          fire_net_drop(fire_net_t *net, int step);
/* Make again what this step of backward needs. */
fire_status_t fire_net_make_again(fire_net_t *net, int step);
/* Mean absolute values after a layer, as Caffe's debug_info prints them. */
fire_status_t fire_net_debug_forward(fire_net_t *net, int layer);
fire_status_t fire_net_debug_backward(fire_net_t *net, int layer);
fire_status_t fire_net_debug_update(fire_net_t *net, int param);
#endif
