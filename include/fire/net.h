/* net.h - nets: create one from a prototxt, run it, look at its layers, blobs and
 * parameters, load and save weights.
 *
 * A net may be used by one thread at a time; different nets may run in different
 * threads. Layers, blobs, parameters and outputs are numbered from 0 in the order in
 * which the net runs them. Numbers, names and blob pointers do not change until
 * fire_net_destroy(), and all of them belong to the net. A function that takes such a
 * number does not check it: pass 0 up to, but not including, the number of items, which
 * the function beside it returns.
 *
 * Where several layers read one blob, the net has a "Split" layer that gives each a
 * copy of its own, as in Caffe; it has a name and a number like the others. */
#ifndef FIRE_NET_H
#define FIRE_NET_H
#include <fire/blob.h>
#include <fire/log.h>
#include <fire/memory.h>

FIRE_BEGIN_C
typedef struct fire_net fire_net_t;

/* ---- creating ---- */

/* Which layers belong to the net, by their include and exclude rules; layers as Dropout
 * and BatchNorm also compute another thing in each. */
typedef enum fire_net_phase { FIRE_TRAIN, FIRE_TEST } fire_net_phase_t;

/* FIRE_OBSERVED: every blob keeps its value and its gradient after a pass; no kernel
 * computes several layers in one step. A layer that works in place (its top has the
 * name of its bottom) replaces the value, as the prototxt says.
 * FIRE_LEAN: memory is given back when no layer reads a blob any more, and kernels may
 * compute several layers in one step. Only inputs, outputs, parameters and the blobs that
 * config.observe names have defined values after a pass. In phase FIRE_TEST there is no
 * backward, unless the prototxt says force_backward: true. A net with Python layers frees
 * nothing. */
typedef enum fire_net_mode { FIRE_OBSERVED, FIRE_LEAN } fire_net_mode_t;

/* How to create a net. Begin with
 *     fire_net_config_t config = FIRE_NET_CONFIG_INIT;
 * and change what should differ. What the struct points to is read only while the net
 * is created. */
typedef struct fire_net_config {
    size_t             size; /* sizeof(fire_net_config_t); set by the macro */
    fire_net_phase_t   phase;
    int                level;  /* of the net's state, for rules; 0 by default */
    int                nstage; /* stages of the net's state, for rules */
    const char *const *stage;  /* [nstage]; NULL if there are none */
    fire_net_mode_t    mode;
    int                threads; /* of the CPU; 0: as many as the process may use */
    uint64_t           seed;    /* of fillers, Dropout and the order of data */
    fire_log_target_t  log; /* sink of this net's messages; by default it has none */
    /* Who runs layers of type "Python" (python.h); it must outlive the net. NULL: an
     * interpreter that the library opens. */
    const struct fire_python_host *python;
    int nobserve; /* in FIRE_LEAN: names of blobs that keep their values, */
    const char *const *observe; /* [nobserve]; NULL if there are none */
    int                gpu;     /* CUDA's number of the GPU to run on; -1: the CPU */
    const char *precision; /* of activations on a GPU, and on CPUs that can: "fp32",
                                   "tf32", "bf16" or "fp16"; NULL: "fp32" */
    const char *kernels;   /* preferred ones, "Convolution=ref,ReLU=onednn"; a type
                                   "all" stands for all. NULL: no preference */
    bool        exact;     /* no algorithm that trades accuracy for speed */
    bool        recompute; /* lean training: save memory, compute cheap blobs twice */
} fire_net_config_t;

/* clang-format off */
#define FIRE_NET_CONFIG_INIT                                                   \
    {                                                                          \
        sizeof(fire_net_config_t), FIRE_TEST, 0, 0, NULL, FIRE_OBSERVED, 0, 1, \
        {NULL, NULL, FIRE_DEBUG}, NULL, 0, NULL, -1, NULL, NULL, false, false  \
    }
/* clang-format on */

/* Create a net, with weights from its fillers. Nets of older Caffe
 * versions are upgraded.
 *   file     a .prototxt
 *   text     the text of a prototxt, `length` bytes; it need not end with a zero
 *   message  a NetParameter in protobuf's binary form, `length` bytes; weights in it
 *            are taken over
 * config NULL: FIRE_NET_CONFIG_INIT. The caller ends the net with fire_net_destroy().
 *
 * Fails with FIRE_ERR_IO (the file cannot be read), FIRE_ERR_PARSE (not a net; the
 * message has line and column for text), FIRE_ERR_INVALID (a setting or shape that
 * cannot be, or a config that needs a newer library), FIRE_ERR_UNSUPPORTED (a layer
 * that this build lacks), FIRE_ERR_DEVICE (there is no such GPU), FIRE_ERR_NOMEM. */
FIRE_CALL fire_net_from_file(const char *path, const fire_net_config_t *config,
                             fire_net_t **net_p);
FIRE_CALL fire_net_from_text(const char *text, size_t length,
                             const fire_net_config_t *config, fire_net_t **net_p);
FIRE_CALL fire_net_from_message(const void *message, size_t length,
                                const fire_net_config_t *config, fire_net_t **net_p);

/* Free a net and all that belongs to it. Parameters that another net shares stay valid
 * there. NULL is allowed. */
FIRE_API void fire_net_destroy(fire_net_t *net);

/* The number of the GPU that the net runs on; -1: the CPU. A thread uses one GPU at a
 * time: that of the net that it has created or called last. Access blobs of nets on
 * several GPUs from threads of their own. When a function that runs the net returns, the
 * GPU has done all of its work. */
FIRE_API int fire_net_gpu(const fire_net_t *net);

/* ---- running ---- */

/* Run the layers first ... last, both included; last -1: up to the end. *loss_p (NULL:
 * not wanted) is the sum of the losses in that range, times their weights. A layer
 * whose bottoms changed shape is reshaped first, so a caller may reshape an input and
 * go on.
 *
 * Fails with FIRE_ERR_INVALID for a range outside the net or a shape that a layer
 * cannot take, with what a hook returned, and with what a layer reports (data that
 * cannot be read, memory). */
FIRE_CALL fire_net_forward(fire_net_t *net, int first, int last, float *loss_p);

/* Run backward from layer `first` (-1: from the end) down to `last`, both included. The
 * gradient of each loss starts as its weight; that of another blob can be written with
 * fire_blob_write(blob, FIRE_DIFF, ...) before. Gradients of parameters are added to
 * what is there: see fire_net_clear_diffs(). Only layers below which something learns
 * run, unless the prototxt says force_backward: true.
 *
 * Fails as forward does, and with FIRE_ERR_UNSUPPORTED for a lean net in phase
 * FIRE_TEST. */
FIRE_CALL fire_net_backward(fire_net_t *net, int first, int last);

/* Compute the shapes of all layers from those of the inputs, without running them.
 * Fails with FIRE_ERR_INVALID if a layer cannot take its new shape. */
FIRE_CALL fire_net_reshape(fire_net_t *net);

/* Set the gradients of all parameters to zero. Can fail for lack of memory. */
FIRE_CALL fire_net_clear_diffs(fire_net_t *net);

/* Functions called by the thread that runs the net, before and after each layer of
 * forward and backward; any may be NULL. One that returns a failure ends the pass,
 * which returns that status. They may look at blobs and change their values, but not
 * run, reshape or destroy the net. Those of backward are called only for layers that
 * run backward. In a lean net a hook may see values that are not defined. */
typedef struct fire_net_hooks {
    void *arg;
    fire_status_t (*before_forward)(void *arg, int layer);
    fire_status_t (*after_forward)(void *arg, int layer);
    fire_status_t (*before_backward)(void *arg, int layer);
    fire_status_t (*after_backward)(void *arg, int layer);
} fire_net_hooks_t;

/* Have these hooks called from now on. The struct is copied; the caller keeps `arg`
 * valid. All members NULL: none are called. Never fails. */
FIRE_API void fire_net_set_watch(fire_net_t *net, const fire_net_hooks_t *hooks);

/* ---- layers ---- */

FIRE_API const char *fire_net_name(const fire_net_t *net); /* "": it has none */
FIRE_API int         fire_net_nlayer(const fire_net_t *net);
FIRE_API const char *fire_net_layer_name(const fire_net_t *net, int layer);
FIRE_API const char *fire_net_layer_type(const fire_net_t *net, int layer);
/* The number of the layer of this name; -1: there is none. */
FIRE_API int fire_net_layer_number(const fire_net_t *net, const char *name);

/* The blobs that a layer reads (bottoms) and writes (tops): bottom(layer, i) is the
 * number of a blob of the net. */
FIRE_API int fire_net_layer_nbottom(const fire_net_t *net, int layer);
FIRE_API int fire_net_layer_bottom(const fire_net_t *net, int layer, int i);
FIRE_API int fire_net_layer_ntop(const fire_net_t *net, int layer);
FIRE_API int fire_net_layer_top(const fire_net_t *net, int layer, int i);

/* A layer's own parameters, also those that do not learn: of a convolution, 0 is the
 * weights (outputs, inputs / group, height, width) and 1 the bias (outputs). */
FIRE_API int          fire_net_layer_nparam(const fire_net_t *net, int layer);
FIRE_API fire_blob_t *fire_net_layer_param(const fire_net_t *net, int layer, int i);

/* ---- blobs ---- */

FIRE_API int          fire_net_nblob(const fire_net_t *net);
FIRE_API const char  *fire_net_blob_name(const fire_net_t *net, int blob);
FIRE_API fire_blob_t *fire_net_blob(const fire_net_t *net, int blob);
/* The first blob of this name; NULL: there is none. */
FIRE_API fire_blob_t *fire_net_find_blob(const fire_net_t *net, const char *name);

/* Inputs are the tops of layers of type "Input", in their order: input(i) is the number of
 * a blob. */
FIRE_API int fire_net_ninput(const fire_net_t *net);
FIRE_API int fire_net_input(const fire_net_t *net, int i);

/* Outputs are the blobs that no layer reads, in the order of their names: output(i) is
 * the number of a blob. */
FIRE_API int fire_net_noutput(const fire_net_t *net);
FIRE_API int fire_net_output(const fire_net_t *net, int i);

/* The loss_weight of a blob: its factor in the loss; 0 for most. */
FIRE_API float fire_net_loss_weight(const fire_net_t *net, int blob);

/* Give a layer of type "MemoryData" its samples, float32 (n, channels, height, width), and
 * their n labels. The arrays stay the caller's, who keeps them until the next call or the
 * end of the net. Each pass takes the next batch, from the first sample on, and begins
 * again at the end. Fails with FIRE_ERR_INVALID if the layer is of another type or n is
 * not a multiple of its batch_size. */
FIRE_CALL fire_net_set_arrays(fire_net_t *net, int layer, const float *data,
                              const float *labels, int64_t n);

/* ---- parameters ---- */

/* All parameters that learn, and running statistics (BatchNorm). One that several
 * layers share is one entry, of the first of these layers. */
FIRE_API int          fire_net_nparam(const fire_net_t *net);
FIRE_API fire_blob_t *fire_net_param_blob(const fire_net_t *net, int i);
FIRE_API int          fire_net_param_layer(const fire_net_t *net, int i);
/* Which of its layer's parameters it is: fire_net_layer_param(layer, index). */
FIRE_API int fire_net_param_index(const fire_net_t *net, int i);
/* The name by which layers share it (param { name: "..." }); "": it has none. */
FIRE_API const char *fire_net_param_name(const fire_net_t *net, int i);
/* The parameter of this name; NULL: there is none, or the name is "". */
FIRE_API fire_blob_t *fire_net_find_param(const fire_net_t *net, const char *name);

/* ---- weights ---- */

/* Copy weights from a file (.caffemodel, .h5 for HDF5, .safetensors, .npz) to the layers
 * of the same name. Layers that only the file has are skipped, with a message; layers that only the
 * net has keep their weights. Fails with FIRE_ERR_IO, FIRE_ERR_PARSE, and with
 * FIRE_ERR_INVALID if the parameters of a layer differ in number or shape: layers
 * before that one have their new weights then. FIRE_ERR_UNSUPPORTED: a build without
 * HDF5. */
FIRE_CALL fire_net_load_file(fire_net_t *net, const char *path);

/* Write the net with its parameters, and their gradients if with_diff, to a file: HDF5
 * if the path ends in .h5, the parameters alone if it ends in .safetensors or .npz, else a
 * .caffemodel. The file is complete or, after a
 * failure, as it was before. Fails with FIRE_ERR_IO, FIRE_ERR_UNSUPPORTED (a build
 * without HDF5). */
FIRE_CALL fire_net_save_file(const fire_net_t *net, const char *path, bool with_diff);

/* The same as HDF5, whatever the name of the file. */
FIRE_CALL fire_net_load_hdf5(fire_net_t *net, const char *path);
FIRE_CALL fire_net_save_hdf5(const fire_net_t *net, const char *path, bool with_diff);

/* The same from and to memory: a NetParameter in protobuf's binary form, as a .caffemodel
 * has it. The caller frees *message_p with fire_free(). */
FIRE_CALL fire_net_load_message(fire_net_t *net, const void *message, size_t length);
FIRE_CALL fire_net_save_message(const fire_net_t *net, bool with_diff, void **message_p,
                                size_t *length_p);

/* The net as the text of a prototxt, ended by a zero: the layers of its phase, with the
 * Split layers that were added, without weights. It gives the same net again. The caller
 * frees *text_p with fire_free(). Fails with FIRE_ERR_NOMEM. */
FIRE_CALL fire_net_save_text(const fire_net_t *net, char **text_p);

/* Draw the net into a file that ends in .svg or .html: boxes of layers with the shapes of
 * their blobs, layers in place within the box of the one before. Graphviz places the
 * boxes if its program `dot` is installed; starting it ignores SIGPIPE for the whole
 * process meanwhile, so one thread at a time may draw. Fails with FIRE_ERR_IO, and
 * FIRE_ERR_INVALID for another kind of file. */
FIRE_CALL fire_net_draw(const fire_net_t *net, const char *path);

/* Let the layers of `net` use the parameters of `other`'s layers of the same name: the
 * same memory, not a copy; gradients stay apart. The memory is freed with the last net
 * that uses it. While nets share parameters only one thread may run any of them that
 * changes parameters. Fails with FIRE_ERR_INVALID if number or shape differ. */
FIRE_CALL fire_net_share(fire_net_t *net, const fire_net_t *other);

/* The same for one parameter: let layer's parameter i, and all that share it in this net,
 * use the values of `blob`. Fails with FIRE_ERR_INVALID if the shapes differ. */
FIRE_CALL fire_net_share_param(fire_net_t *net, int layer, int i,
                               const fire_blob_t *blob);
FIRE_END_C
#endif
