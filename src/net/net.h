/* net.h - a net as its users see it: create one from a NetParameter, run it, load and
 * save weights, look at layers, blobs and parameters.
 *
 * Users know a net by its functions; its members are in net_state.h, for the files that
 * build and run nets. A net may be used by one thread at a time. Layers, blobs,
 * parameters and outputs are numbered from 0 in the order in which the net runs them;
 * numbers and names do not change until fire_net_destroy(). */
#ifndef FIRE_NET_NET_H
#define FIRE_NET_NET_H
#include "layers/layer.h"
#include "model/message.h"

/* A parameter that learns. It is one entry even if several layers share it. */
typedef struct fire_param {
    fire_blob_t *blob;
    const char  *name;         /* the name by which layers share it, or "" */
    int          layer, index; /* layer that owns it, and which of its blobs it is */
    int          first_use;    /* lowest layer that uses it: when backward has passed
                                  * it, the gradient is final */
    float        lr_mult, decay_mult;
    bool         has_lr, has_decay; /* given in the prototxt, not just default */
    fire_param_kind_t kind;
    float             stat_decay; /* of a statistic: weight of its old value */
} fire_param_t;

/* Functions called before and after each layer; any may be NULL. One that fails ends
 * the pass. before_backward is called only for layers that run backward. */
typedef struct fire_net_hooks {
    void *arg;
    fire_status_t (*before_forward)(void *arg, int layer);
    fire_status_t (*after_forward)(void *arg, int layer);
    fire_status_t (*before_backward)(void *arg, int layer);
    fire_status_t (*after_backward)(void *arg, int layer);
} fire_net_hooks_t;

typedef struct fire_net fire_net_t;

/* How to create a net. Initialise with FIRE_NET_OPTIONS_INIT. */
typedef struct fire_net_options {
    fire_ctx_t    ctx;    /* place, precision, threads, kernels, lean, ... */
    fire_moment_t moment; /* of the first pass: seed, step, lane */
    Caffe__Phase  phase;  /* phase, level, stages: which layers belong to the net */
    int           level;
    int           nstage;
    const char  **stage;
} fire_net_options_t;

#define FIRE_NET_OPTIONS_INIT                         \
    ((fire_net_options_t){.ctx    = FIRE_CTX_INIT,    \
                          .moment = FIRE_MOMENT_INIT, \
                          .phase  = CAFFE__PHASE__TEST})

/* Create a net. `param` is copied; it must have been upgraded (loading does that). */
fire_status_t fire_net_create(const Caffe__NetParameter *param,
                              const fire_net_options_t *options, fire_net_t **net_p);
void          fire_net_destroy(fire_net_t *net); /* NULL is allowed */

/* Run the layers first ... last (inclusive; last -1: to the end; backward: first -1:
 * from the end, and first >= last). A layer whose bottoms changed shape is reshaped
 * first. *loss_p (NULL: not wanted) is the weighted sum of the losses in that range. */
fire_status_t fire_net_forward(fire_net_t *net, int first, int last, float *loss_p);
fire_status_t fire_net_backward(fire_net_t *net, int first, int last);
/* Recompute the shapes of all layers from those of the inputs. */
fire_status_t fire_net_reshape(fire_net_t *net);
fire_status_t fire_net_clear_diffs(fire_net_t *net); /* zero parameters' gradients */

fire_blob_t  *fire_net_find_blob(const fire_net_t *net, const char *name); /* or NULL */
fire_layer_t *fire_net_find_layer(const fire_net_t *net,
                                  const char       *name); /* or NULL */

/* Set *x_p to the values of output i if it has as many elements as when the net was
 * created, so that they can be summed over passes; else to NULL (detections, filtered
 * items). */
fire_status_t fire_net_read_output(const fire_net_t *net, int i, fire_place_t where,
                                   const float **x_p);

/* The loss_weight of a blob: its factor in the objective; 0 for most. */
float fire_net_loss_weight(const fire_net_t *net, int blob);

/* Copy weights from a model to the layers of the same name. `source` is the file in
 * messages; NULL: the net's own prototxt. Layers that only the model has are skipped
 * with a log line; another shape is an error. */
fire_status_t fire_net_load(fire_net_t *net, const Caffe__NetParameter *trained,
                            const char *source);
fire_status_t fire_net_load_file(fire_net_t *net, const char *path);
/* The net as a message with all parameters, and their gradients if with_diff. End
 * *param_p with fire_message_free(). */
fire_status_t fire_net_save(const fire_net_t *net, bool with_diff,
                            Caffe__NetParameter **param_p);
/* Let the layers of this net use the parameters of `other`'s layers of the same name:
 * the same memory, not a copy. */
fire_status_t fire_net_share(fire_net_t *net, const fire_net_t *other);

/* Copy `in` without the layers whose include/exclude rules exclude them in this
 * state. */
fire_status_t fire_net_filter(const Caffe__NetParameter *in,
                              const Caffe__NetState     *state,
                              Caffe__NetParameter      **out_p);
/* Peak of the bytes of all blobs in a lean net: during forward, or forward and
 * backward; there with or without recomputing cheap layers. Parameters and scratch
 * memory of kernels are not counted. */
fire_status_t fire_net_blob_bytes(const fire_net_t *net, bool backward, bool recompute,
                                  size_t *peak_p);

/* ---- looking into a net (access.c) ---- */

const char       *fire_net_name(const fire_net_t *net); /* "": the file has no name */
Caffe__Phase      fire_net_phase(const fire_net_t *net);
const fire_ctx_t *fire_net_ctx(const fire_net_t *net);
/* Number of the next pass: data layers and random numbers follow from it. */
int64_t fire_net_step(const fire_net_t *net);
void    fire_net_set_step(fire_net_t *net, int64_t step);
void    fire_net_set_threads(fire_net_t *net, int threads); /* of its kernels */
/* Hooks for measuring, called closest around each layer; all NULL: none. */
void fire_net_set_watch(fire_net_t *net, const fire_net_hooks_t *hooks);

int          fire_net_nlayer(const fire_net_t *net);
const char  *fire_net_layer_name(const fire_net_t *net, int layer);
const char  *fire_net_layer_type(const fire_net_t *net, int layer); /* "Convolution" */
const char  *fire_net_layer_kernel(const fire_net_t *net, int layer);
fire_place_t fire_net_layer_place(const fire_net_t *net, int layer); /* of its kernel */
bool   fire_net_layer_has_backward(const fire_net_t *net, int layer); /* does it run? */
double fire_net_layer_macs(const fire_net_t *net, int layer); /* of a forward pass */
int    fire_net_layer_nbottom(const fire_net_t *net, int layer);
int    fire_net_layer_bottom(const fire_net_t *net, int layer, int i); /* a blob */
int    fire_net_layer_ntop(const fire_net_t *net, int layer);
int    fire_net_layer_top(const fire_net_t *net, int layer, int i); /* a blob */
/* The layer's own parameters, also those that do not learn. */
int          fire_net_layer_nparam(const fire_net_t *net, int layer);
fire_blob_t *fire_net_layer_param(const fire_net_t *net, int layer, int i);
/* A layer whose first parameter multiplies its first bottom: convolution,
 * deconvolution, inner product. |W| and |D| of a net are summed over these. */
bool fire_net_layer_is_product(const fire_net_t *net, int layer);

int          fire_net_nblob(const fire_net_t *net);
const char  *fire_net_blob_name(const fire_net_t *net, int blob);
fire_blob_t *fire_net_blob(const fire_net_t *net, int blob);

/* Outputs are the blobs that no layer takes, in order of their names. */
int     fire_net_noutput(const fire_net_t *net);
int     fire_net_output(const fire_net_t *net, int i);      /* a blob */
int64_t fire_net_output_size(const fire_net_t *net, int i); /* when it was built */

/* Parameters that learn, and statistics: each once, however many layers share it. */
int                 fire_net_nparam(const fire_net_t *net);
const fire_param_t *fire_net_param(const fire_net_t *net, int i);

/* Choose the kernel of a layer again, calling `report` for every kernel looked at:
 * the reason why it was declined, or NULL for the one taken. */
typedef void (*fire_net_report_t)(void *arg, const char *kernel, const char *reason);
fire_status_t fire_net_choose_kernel(fire_net_t *net, int layer,
                                     fire_net_report_t report, void *arg);

#endif
