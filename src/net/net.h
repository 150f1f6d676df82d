/* net.h - a net as it runs: layers in order, blobs between them, parameters.
 *
 * Building one is a list of passes over the NetParameter and the layers, one file
 * each: filter, splits (on the message), then build (shapes and wiring), gradients
 * (what runs backward), params (what learns), fusion (who does whose work). */
#ifndef FIRE_NET_NET_H
#define FIRE_NET_NET_H
#include "layers/layer.h"
#include "model/message.h"

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

/* A parameter that learns, once however many layers share it. */
typedef struct fire_param {
    fire_blob_t      *blob;
    const char       *name;         /* what layers share it by, or "" */
    int               layer, index; /* its owner, and which of the owner's blobs */
    int               first_use;    /* lowest layer that uses it: when backward has
                                     * passed it, the gradient is final */
    float             lr_mult, decay_mult;
    bool              has_lr, has_decay; /* said in a prototxt, not just default */
    fire_param_kind_t kind;
    float             stat_decay;
} fire_param_t;

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

/* Called around layers; any may be NULL. A failing hook ends the pass. Only layers
 * that run backward have a before_backward. */
typedef struct fire_net_hooks {
    void *arg;
    fire_status_t (*before_forward)(void *arg, int layer);
    fire_status_t (*after_forward)(void *arg, int layer);
    fire_status_t (*before_backward)(void *arg, int layer);
    fire_status_t (*after_backward)(void *arg, int layer);
} fire_net_hooks_t;

typedef struct fire_net {
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
} fire_net_t;

typedef struct fire_net_options {
    fire_ctx_t    ctx;
    fire_moment_t moment;
    Caffe__Phase  phase;
    int           level;
    int           nstage;
    const char  **stage;
} fire_net_options_t;

#define FIRE_NET_OPTIONS_INIT                         \
    ((fire_net_options_t){.ctx    = FIRE_CTX_INIT,    \
                          .moment = FIRE_MOMENT_INIT, \
                          .phase  = CAFFE__PHASE__TEST})

/* Build a net. `param` is only read; it must have been upgraded (loading does). */
fire_status_t fire_net_create(const Caffe__NetParameter *param,
                              const fire_net_options_t *options, fire_net_t **net_p);
void          fire_net_destroy(fire_net_t *net); /* NULL is allowed */

/* Run layers first ... last (inclusive; -1: to the end / from the end). Layers whose
 * bottoms changed shape are reshaped on the way. *loss_p (or NULL) is the weighted sum
 * of losses in that range. */
fire_status_t fire_net_forward(fire_net_t *net, int first, int last, float *loss_p);
fire_status_t fire_net_backward(fire_net_t *net, int first, int last);
/* Give every layer the shapes that follow from the inputs now. */
fire_status_t fire_net_reshape(fire_net_t *net);
fire_status_t fire_net_clear_diffs(fire_net_t *net); /* of parameters */

fire_blob_t  *fire_net_find_blob(const fire_net_t *net, const char *name); /* or NULL */
fire_layer_t *fire_net_find_layer(const fire_net_t *net,
                                  const char       *name); /* or NULL */

/* Elements of output i that can be added up over passes: as many as there were at first,
 * or NULL if it has another size by now (detections, filtered items). */
fire_status_t fire_net_read_output(const fire_net_t *net, int i, fire_place_t where,
                                   const float **x_p);

/* What a blob counts in the objective; 0 for most. */
float fire_net_loss_weight(const fire_net_t *net, int blob);

/* Weights by layer name, from a model file's message; `source` is for messages. Layers
 * that only the file has are skipped with a log line, other shapes are an error. */
fire_status_t fire_net_load(fire_net_t *net, const Caffe__NetParameter *trained,
                            const char *source);
fire_status_t fire_net_load_file(fire_net_t *net, const char *path);
/* The net as a message with all parameters (and gradients, if wanted). */
fire_status_t fire_net_save(const fire_net_t *net, bool with_diff,
                            Caffe__NetParameter **param_p);
/* Let layers of the same name use the other net's parameters (memory, not a copy). */
fire_status_t fire_net_share(fire_net_t *net, const fire_net_t *other);

/* ---- passes ---- */

/* Keep the layers whose include/exclude rules this state meets. */
fire_status_t fire_net_filter(const Caffe__NetParameter *in,
                              const Caffe__NetState     *state,
                              Caffe__NetParameter      **out_p);
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
/* Bytes of blobs that a lean net holds at once, at most: in forward, or in forward and
 * backward, there with or without making cheap ones again. Parameters and the scratch
 * memory of kernels come on top. */
fire_status_t fire_net_blob_bytes(const fire_net_t *net, bool backward, bool again,
                                  size_t *peak_p);

/* Mean absolute values after a layer, as Caffe's debug_info prints them. */
fire_status_t fire_net_debug_forward(fire_net_t *net, int layer);
fire_status_t fire_net_debug_backward(fire_net_t *net, int layer);
fire_status_t fire_net_debug_update(fire_net_t *net, int param);
#endif
