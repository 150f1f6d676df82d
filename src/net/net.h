/* net.h (internal) - a net as the library and the program see it, beyond the public
 * calls of <fire/net.h>: create one from a NetParameter, options, kernels, measuring.
 *
 * Users know a net by its functions; its members are in net_state.h, for the files that
 * build and run nets. A net may be used by one thread at a time. Layers, blobs,
 * parameters and outputs are numbered from 0 in the order in which the net runs them;
 * numbers and names do not change until fire_net_destroy(). */
#ifndef FIRE_NET_NET_H
#define FIRE_NET_NET_H
#include <fire/net.h>
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

/* How to create a net. Initialise with FIRE_NET_OPTIONS_INIT. */
typedef struct fire_net_options {
    fire_ctx_t    ctx;    /* place, precision, threads, kernels, lean, ... */
    fire_moment_t moment; /* of the first pass: seed, step, lane */
    Caffe__Phase  phase;  /* phase, level, stages: which layers belong to the net */
    int           level;
    int           nstage;
    const char  **stage;
    bool          whole_state; /* ignore the net's own `state`: it is merged in */
    int           nobserve;    /* names of blobs that keep their values in a lean net */
    const char *const *observe;
    bool may_forget; /* not lean, on the CPU: a trainer says in which passes nobody looks
                        at the blobs, and memory is given back as in a lean net */
} fire_net_options_t;

#define FIRE_NET_OPTIONS_INIT                         \
    ((fire_net_options_t){.ctx    = FIRE_CTX_INIT,    \
                          .moment = FIRE_MOMENT_INIT, \
                          .phase  = CAFFE__PHASE__TEST})

/* Create a net. `param` is copied; it must have been upgraded (loading does that). */
fire_status_t fire_net_create(const Caffe__NetParameter *param,
                              const fire_net_options_t *options, fire_net_t **net_p);

/* What the public functions fire_net_forward(), _backward(), _reshape(), _clear_diffs()
 * do, for the library itself: they also keep views live. */
fire_status_t fire_net_run_forward(fire_net_t *net, int first, int last, float *loss_p);
fire_status_t fire_net_run_backward(fire_net_t *net, int first, int last);
fire_status_t fire_net_update_shapes(fire_net_t *net);
fire_status_t fire_net_zero_diffs(fire_net_t *net);

/* Before and after the net runs for a caller who may hold views of its blobs: take over
 * the values written through views; give all views the values of now. */
fire_status_t fire_net_absorb_views(fire_net_t *net);
fire_status_t fire_net_refresh_views(fire_net_t *net);
/* so_far: how the run ended, which is returned unless refreshing fails; a failure keeps
 * its message. */
fire_status_t fire_net_refresh_views_after(fire_net_t *net, fire_status_t so_far);

fire_layer_t *fire_net_find_layer(const fire_net_t *net,
                                  const char       *name); /* or NULL */

/* Set *x_p to the values of output i if it has as many elements as when the net was
 * created, so that they can be summed over passes; else to NULL (detections, filtered
 * items). */
fire_status_t fire_net_read_output(const fire_net_t *net, int i, fire_place_t where,
                                   const float **x_p);

/* Copy weights from a model to the layers of the same name. `source` is the file in
 * messages; NULL: the net's own prototxt. Layers that only the model has are skipped
 * with a log line; another shape is an error. */
fire_status_t fire_net_load(fire_net_t *net, const Caffe__NetParameter *trained,
                            const char *source);
/* Do n models together have values for all parameters? Then none needs its filler. */
bool fire_net_is_in(const fire_net_t *net, int n, Caffe__NetParameter *const *trained);
/* The net as a message with all parameters, and their gradients if with_diff. End
 * *param_p with fire_message_free(). */
fire_status_t fire_net_save(const fire_net_t *net, bool with_diff,
                            Caffe__NetParameter **param_p);

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

Caffe__Phase      fire_net_phase(const fire_net_t *net);
const fire_ctx_t *fire_net_ctx(const fire_net_t *net);
/* Number of the next pass: data layers and random numbers follow from it. */
int64_t fire_net_step(const fire_net_t *net);
void    fire_net_set_step(fire_net_t *net, int64_t step);
void    fire_net_set_threads(fire_net_t *net, int threads); /* of its kernels */

const char  *fire_net_layer_kernel(const fire_net_t *net, int layer);
fire_place_t fire_net_layer_place(const fire_net_t *net, int layer); /* of its kernel */
bool   fire_net_layer_has_backward(const fire_net_t *net, int layer); /* does it run? */
double fire_net_layer_macs(const fire_net_t *net, int layer); /* of a forward pass */
/* A layer whose first parameter multiplies its first bottom: convolution,
 * deconvolution, inner product. |W| and |D| of a net are summed over these. */
bool fire_net_layer_is_product(const fire_net_t *net, int layer);

/* Elements of output i when the net was built. */
int64_t fire_net_output_size(const fire_net_t *net, int i);

const fire_param_t *fire_net_param(const fire_net_t *net, int i);

/* Choose the kernel of a layer again, calling `report` for every kernel looked at:
 * the reason why it was declined, or NULL for the one taken. */
typedef void (*fire_net_report_t)(void *arg, const char *kernel, const char *reason);
fire_status_t fire_net_choose_kernel(fire_net_t *net, int layer,
                                     fire_net_report_t report, void *arg);

#endif
