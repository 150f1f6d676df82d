/* layer.h - layers of your own. A plug-in is a shared object that brings layer types; the
 * library loads it at run time, and nets use them as they use the library's own: on the
 * CPU and on GPUs, with any number of workers, in snapshots and in every tool.
 * docs/guide/plugin.md is the tutorial, examples/plugin/ a plug-in to start from.
 *
 * A plug-in defines one object, and is compiled against these headers only:
 *
 *     static fire_status_t twice_forward(fire_layer_t *l) { ... }
 *
 *     static const fire_plugin_kernel_t ref = {
 *         .size = sizeof(ref), .name = "ref", .where = FIRE_CPU,
 *         .forward = twice_forward, .backward = twice_backward};
 *     static const fire_plugin_kernel_t *const kernels[] = {&ref, NULL};
 *     static const fire_plugin_layer_t twice = {
 *         .size = sizeof(twice), .type = "Twice",
 *         .min_bottom = 1, .max_bottom = 1, .min_top = 1, .max_top = 1,
 *         .reshape = fire_layer_reshape_same, .kernels = kernels};
 *     static const fire_plugin_layer_t *const layers[] = {&twice, NULL};
 *
 *     const fire_plugin_t fire_plugin = {
 *         .version = FIRE_PLUGIN_VERSION, .size = sizeof(fire_plugin),
 *         .name = "twice", .layers = layers};
 *
 *     cc -shared -fPIC $(pkg-config --cflags fire) -o twice.so twice.c
 *     firecaffe train --solver solver.prototxt --plugin twice.so
 *
 * Do not link it with libfire: it uses the one that loads it. */
#ifndef FIRE_LAYER_H
#define FIRE_LAYER_H
#include <fire/blob.h>
#include <fire/log.h>
#include <fire/net.h>

FIRE_BEGIN_C
/* A layer of a net, as the functions of its type see it. The net owns it. */
typedef struct fire_layer fire_layer_t;
/* Settings of a layer: keys with values. */
typedef struct fire_values fire_values_t;

/* ---- what a plug-in exports ---- */

/* The version of the records below. It changes when plug-ins must be compiled again;
 * members that a later version adds at the end of a record do not change it. */
enum { FIRE_PLUGIN_VERSION = 1 };

/* What backward reads besides the gradients of the tops. A net frees what nobody
 * reads any more. */
enum {
    FIRE_READS_BOTTOM  = 1 << 0, /* data of the bottoms */
    FIRE_READS_TOP     = 1 << 1, /* data of the tops */
    FIRE_READS_COPY    = 1 << 2, /* only for the library's own kernels */
    FIRE_READS_NOTHING = 1 << 3,
};

/* One implementation of forward and backward, for one place. Zero is a good value for
 * every member that is called optional. */
typedef struct fire_plugin_kernel {
    size_t       size;  /* of this struct */
    const char  *name;  /* for --kernel: "ref", "simd", "cuda" ... */
    fire_place_t where; /* the place it runs on and gets pointers for */
    unsigned     reads; /* (optional) FIRE_READS_*; 0: bottoms and tops */
    /* Read the bottoms, overwrite the tops. */
    fire_status_t (*forward)(fire_layer_t *l);
    /* (optional) Read the diffs of the tops; OVERWRITE the diff of each bottom that
     * fire_layer_wants_bottom() names, ADD to the diff of each parameter that
     * fire_layer_wants_param() names. NULL: the layer has no gradient. */
    fire_status_t (*backward)(fire_layer_t *l);
    /* (optional) NULL if it can run the layer with these shapes and settings, or the
     * reason why not, for `firecaffe net --explain`; then the next kernel is asked. It
     * must not change anything. */
    const char *(*declines)(const fire_layer_t *l);
    /* (optional) Called after each reshape if this kernel was chosen: allocate for the
     * shapes of now. What it allocates hangs from the layer's state. */
    fire_status_t (*prepare)(fire_layer_t *l);
} fire_plugin_kernel_t;

enum {
    FIRE_LAYER_INPLACE  = 1 << 0, /* a bottom may also be the top */
    FIRE_LAYER_LOSS     = 1 << 1, /* loss_weight of the first top defaults to 1 */
    FIRE_LAYER_AUTO_TOP = 1 << 2, /* tops up to the minimum need not be named */
    FIRE_LAYER_PAIRED   = 1 << 3, /* as many tops as bottoms */
    FIRE_LAYER_SOURCE  = 1 << 4, /* no bottoms: brings data, see fire_layer_samples() */
    FIRE_LAYER_DYNAMIC = 1 << 5, /* top shapes depend on values: reshape each pass */
    FIRE_LAYER_HOST    = 1 << 6, /* runs on the CPU, also in a net on a GPU */
    /* Its GPU kernels queue the same work with the same arguments in every pass, as long
     * as shapes do not change: a training may record it once and replay it. */
    FIRE_LAYER_STEADY = 1 << 7,
};

/* A layer type. The net calls, for every layer of the type, in this order:
 *
 *     setup      once                    read the settings, add parameters
 *     reshape    after setup, and whenever a bottom has changed its shape: shape the tops
 *     declines, prepare                  of kernels, after each reshape
 *     forward    every pass
 *     backward   passes with gradients, in the opposite order of layers
 *     teardown   once, at the end; also if setup failed
 *
 * A function that fails reports why with fire_fail() (status.h) and returns its status;
 * the library adds the name of the layer. One thread at a time calls functions of one layer. Other
 * layers of the type run in other threads, so keep no state in static variables. Do not
 * throw C++ exceptions out of these functions. */
typedef struct fire_plugin_layer {
    size_t      size;                   /* of this struct */
    const char *type;                   /* as prototxts spell it: letters and digits */
    int         min_bottom, max_bottom; /* number of bottoms; max -1: any */
    int         min_top, max_top;
    unsigned    flags;    /* (optional) FIRE_LAYER_* */
    unsigned no_gradient; /* (optional) bit i: bottom i (a label) takes no gradient */
    size_t   state_size;  /* (optional) bytes of fire_layer_state() */
    fire_status_t (*setup)(fire_layer_t *l);   /* (optional) */
    fire_status_t (*reshape)(fire_layer_t *l); /* see fire_layer_reshape_same() */
    void (*teardown)(fire_layer_t *l);         /* (optional) frees what state holds */
    double (*macs)(const fire_layer_t *l);     /* (optional) multiply-adds of a
                                                      * forward pass, for tables */
    const fire_plugin_kernel_t *const
        *kernels; /* best first, then NULL; the last one for
                                                 * the CPU must never decline */
} fire_plugin_layer_t;

/* The entry: a plug-in defines `const fire_plugin_t fire_plugin`. */
typedef struct fire_plugin {
    int                               version; /* FIRE_PLUGIN_VERSION */
    size_t                            size;    /* of this struct */
    const char                       *name;    /* one word, for messages and lists */
    const char                       *description; /* (optional) one line */
    const fire_plugin_layer_t *const *layers;      /* then NULL */
} fire_plugin_t;

#if defined(__GNUC__)
extern __attribute__((visibility("default"))) const fire_plugin_t fire_plugin;
#else
extern const fire_plugin_t fire_plugin;
#endif

/* ---- loading ---- */

/* Load a plug-in and make its layer types known to all nets of the process that are
 * created from now on. The file stays loaded until the process ends. Loading it again
 * does nothing. A relative path is one from the current directory. Any thread may call.
 *
 * Creating a net also loads the files in the environment variable FIRE_PLUGINS,
 * separated by colons, and a solver those of `fire { plugin: "FILE" }`.
 *
 * Fails with FIRE_ERR_IO (the file cannot be opened as a shared object), and with
 * FIRE_ERR_UNSUPPORTED (no entry, another version, a record that cannot be, the name of
 * a type that is taken); the process is as before then. */
FIRE_CALL fire_plugin_load(const char *path);

/* Plug-ins of this process, in the order in which they were loaded: their number, the
 * i-th one's entry and the path of its file. 0 <= i < fire_plugin_count(). */
FIRE_API int                  fire_plugin_count(void);
FIRE_API const fire_plugin_t *fire_plugin_at(int i);
FIRE_API const char          *fire_plugin_path(int i);

/* The i-th layer type that nets may have, "Convolution"; NULL from their number on. They
 * are in no certain order, those of plug-ins at the end. The text is never freed; any
 * thread may call it. */
FIRE_API const char *fire_layer_type_at(int i);

/* ---- for the functions of a layer: what it is ---- */

/* Send a message to the sink (log.h). A layer does not print. */
FIRE_API void fire_layer_message(const fire_layer_t *l, fire_log_level_t level,
                                 const char *format, ...) FIRE_PRINTF(3, 4);

FIRE_API const char      *fire_layer_name(const fire_layer_t *l);
FIRE_API const char      *fire_layer_type(const fire_layer_t *l);
FIRE_API fire_net_phase_t fire_layer_phase(const fire_layer_t *l);

/* Memory of state_size bytes that is zero before setup, for settings and whatever lasts
 * as long as the layer. */
FIRE_API void *fire_layer_state(const fire_layer_t *l);

/* Bottoms, tops and parameters. 0 <= i < their number, which is not checked. Access
 * elements with fire_blob_read(), fire_blob_write() and fire_blob_update() at
 * fire_layer_place(). Only reshape may shape tops. */
FIRE_API int          fire_layer_nbottom(const fire_layer_t *l);
FIRE_API fire_blob_t *fire_layer_bottom(const fire_layer_t *l, int i);
FIRE_API int          fire_layer_ntop(const fire_layer_t *l);
FIRE_API fire_blob_t *fire_layer_top(const fire_layer_t *l, int i);
FIRE_API int          fire_layer_nparam(const fire_layer_t *l);
FIRE_API fire_blob_t *fire_layer_param(const fire_layer_t *l, int i);

/* In backward: is the gradient of this bottom, or of this parameter, wanted? */
FIRE_API bool fire_layer_wants_bottom(const fire_layer_t *l, int i);
FIRE_API bool fire_layer_wants_param(const fire_layer_t *l, int i);

/* In setup: append a parameter of this shape, which the solver updates from its
 * gradient and snapshots contain. It is filled as the group `key` of the settings says
 * (weight_filler { type: "xavier" }; NULL: there is no such key), else as `preset`
 * says, the text of such a group: "type: 'constant' value: 1"; NULL: with zeros. Fails
 * with FIRE_ERR_INVALID for a shape or a filler that cannot be, FIRE_ERR_NOMEM. */
FIRE_CALL fire_layer_add_param(fire_layer_t *l, int ndim, const int64_t *dim,
                               const char *key, const char *preset);

/* A `reshape` for layers whose only top has the shape of the first bottom. */
FIRE_CALL fire_layer_reshape_same(fire_layer_t *l);

/* In backward of a loss: the factor of all gradients, loss_weight times the share of
 * this pass in the batch. It is the diff of top 0. */
FIRE_CALL fire_layer_loss_weight(fire_layer_t *l, float *weight_p);

/* ---- where it runs ---- */

/* The place of the kernel that runs. */
FIRE_API fire_place_t fire_layer_place(const fire_layer_t *l);
/* The cudaStream_t to launch kernels on; its GPU is the current one. Do not wait for it:
 * what reads a blob on the CPU waits. NULL on the CPU. */
FIRE_API void *fire_layer_stream(const fire_layer_t *l);

/* Scratch memory of the kernel's place, not cleared, aligned to 256 bytes. It is valid
 * until forward or backward returns, and shared with other layers then. For memory that
 * lasts, keep a blob in the state (fire_blob_create). */
FIRE_CALL fire_layer_scratch(fire_layer_t *l, size_t bytes, void **ptr_p);

/* Call piece(arg, begin, end) for pieces of [0, n), at most `grain` long, on the threads
 * of this worker; the calls must not depend on each other. Results have the same bits on
 * any number of threads if each element is computed by one call. A piece must not call
 * functions of this header. */
FIRE_API void fire_layer_parallel(fire_layer_t *l, int64_t n, int64_t grain,
                                  void (*piece)(void *arg, int64_t begin, int64_t end),
                                  void *arg);

/* ---- random numbers and samples ---- */

/* The index-th random number of this layer in this pass: all 32 bits, a number of
 * [0, 1), or one with mean 0 and standard deviation 1. They are functions of the seed,
 * the layer's name, the pass and the index: the same in forward and backward, and on any
 * number of workers if the index counts elements of the whole batch:
 *     index = fire_layer_row(l, rows, i) * elements_per_row + k */
FIRE_API uint32_t fire_layer_random(const fire_layer_t *l, int64_t index);
FIRE_API float    fire_layer_uniform(const fire_layer_t *l, int64_t index);
FIRE_API float    fire_layer_gaussian(const fire_layer_t *l, int64_t index);
/* The number, in the whole batch, of row i of a blob with n rows. */
FIRE_API int64_t fire_layer_row(const fire_layer_t *l, int64_t n, int64_t i);

/* For FIRE_LAYER_SOURCE: the samples to bring in this pass if the whole batch has
 * `batch` of them: *first_p, *first_p + *stride_p, ..., *n_p samples, counted from the
 * beginning of the training. Shape the tops for *n_p rows in reshape. */
FIRE_API void fire_layer_samples(const fire_layer_t *l, int64_t batch, int64_t *first_p,
                                 int64_t *stride_p, int64_t *n_p);

/* ---- settings ---- */

/* What the prototxt says in plugin_param { ... }, or in a field of the plug-in's own,
 * xyz_param { ... }:
 *
 *     plugin_param { alpha: 0.5  size: 3  mode: "fast"  window { width: 2 }  at: [1, 2] }
 *
 * Ask for every key in setup: keys that nobody has asked for are an error. Never NULL. */
FIRE_API fire_values_t *fire_layer_values(const fire_layer_t *l);
/* The same of a field that Caffe knows, such as "convolution_param"; NULL if the prototxt
 * has none, or there is no such field. Defaults of Caffe are not in it. */
FIRE_API fire_values_t *fire_layer_values_of(fire_layer_t *l, const char *field);

enum { FIRE_VALUES_KEY = 128 }; /* a key is shorter */

/* How many values a key has: 0 if it is not given, several for a list or a repeated
 * key. */
FIRE_API int fire_values_count(fire_values_t *v, const char *key);

/* The only value of a key; `preset` if it is not given. Fail with FIRE_ERR_INVALID, and a
 * message that names the key, if the value is of another kind or given several times. A
 * text is a string or a word (MAX), and belongs to v. */
FIRE_CALL fire_values_int(fire_values_t *v, const char *key, int64_t preset,
                          int64_t *value_p);
FIRE_CALL fire_values_number(fire_values_t *v, const char *key, double preset,
                             double *value_p);
FIRE_CALL fire_values_bool(fire_values_t *v, const char *key, bool preset,
                           bool *value_p);
FIRE_CALL fire_values_text(fire_values_t *v, const char *key, const char *preset,
                           const char **text_p);

/* Value i of a key. Fail also if there are fewer. */
FIRE_CALL fire_values_int_at(fire_values_t *v, const char *key, int i,
                             int64_t *value_p);
FIRE_CALL fire_values_number_at(fire_values_t *v, const char *key, int i,
                                double *value_p);
FIRE_CALL fire_values_text_at(fire_values_t *v, const char *key, int i,
                              const char **text_p);

/* The i-th group of a key, `key { ... }`; *group_p is NULL if there are fewer. It belongs
 * to v. */
FIRE_CALL fire_values_group(fire_values_t *v, const char *key, int i,
                            fire_values_t **group_p);
FIRE_END_C
#endif
