/* rig.h - a net with a layer under test: inputs and parameters filled, gradients of its
 * outputs chosen, so that all that it computes can be looked at. */
#ifndef FIRE_NET_CHECK_RIG_H
#define FIRE_NET_CHECK_RIG_H
#include "net/check/check.h"
#include "net/net_state.h"

typedef struct fire_rig {
    const fire_check_options_t *options;
    fire_net_t                 *net;
    int                         layer;        /* number of the layer under test */
    fire_layer_t               *l;            /* it */
    char                        request[160]; /* its kernel, as --kernel has it */
} fire_rig_t;

/* Make a net, the kernel of the layer under test chosen by name (NULL: any); `lean` as
 * in training. End it with fire_rig_destroy(), also after a failure. */
fire_status_t fire_rig_create(const fire_check_options_t *o,
                              const Caffe__NetParameter *param, const char *kernel,
                              bool lean, fire_rig_t *r);
void          fire_rig_destroy(fire_rig_t *r);

/* Fill the inputs. Each value is a function of the blob's name and size. */
fire_status_t fire_rig_fill(fire_rig_t *r);
/* Multiply the first axis of all inputs by `times`, from what the prototxt says. */
fire_status_t fire_rig_stretch(fire_rig_t *r, int64_t times);
bool          fire_rig_is_input(const fire_rig_t *r, const fire_blob_t *b);

fire_status_t fire_rig_forward(fire_rig_t *r);
/* Give the outputs of the net their gradients (a loss: its weight) and run backward;
 * gradients of parameters are added to. */
fire_status_t fire_rig_backward(fire_rig_t *r);
/* forward, gradients of parameters cleared, backward. */
fire_status_t fire_rig_pass(fire_rig_t *r);
/* The function whose gradient backward computes: the sum of outputs times theirs. */
fire_status_t fire_rig_objective(fire_rig_t *r, double *sum_p);

/* Does the layer under test have a gradient, in this net? And: does backward compute the
 * diff of this blob of the net? */
bool fire_rig_has_backward(const fire_rig_t *r);
bool fire_rig_has_gradient(const fire_rig_t *r, int blob);

/* ---- blobs ---- */

/* A copy of a blob's values on the host; end it with fire_free(). */
fire_status_t fire_rig_copy(fire_blob_t *b, fire_part_t part, float **copy_p);
fire_status_t fire_rig_set(fire_blob_t *b, fire_part_t part, float value);
/* *d_p: the largest difference to x, relative to the largest value; 0 only if all bits
 * are the same, infinity if one of them has a NaN and the other has not. */
fire_status_t fire_rig_compare(fire_blob_t *b, fire_part_t part, const float *x,
                               double *d_p);
/* The same for two nets of one prototxt: outputs, then (with backward) gradients of
 * parameters and inputs. The text says which blob it was. */
fire_status_t fire_rig_differ(fire_rig_t *a, fire_rig_t *b, bool backward, double *d_p,
                              char what[96]);
#endif
