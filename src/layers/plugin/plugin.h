/* plugin.h - layer types from plug-ins (<fire/layer.h>), as the rest of the library sees
 * them. Each becomes a fire_layer_ops_t whose functions call the plug-in's.
 *
 * Plug-ins belong to the process, as its code does: what was loaded once stays, and is
 * known to all nets (docs/design/0022-plug-ins.md). Any thread may call. */
#ifndef FIRE_LAYERS_PLUGIN_PLUGIN_H
#define FIRE_LAYERS_PLUGIN_PLUGIN_H
#include "layers/layer.h"
#include "model/values/values.h"

/* A kernel of a plug-in. `kernel` comes first: fire_kernel_t pointers are casted. */
typedef struct fire_plugged_kernel {
    fire_kernel_t        kernel;
    fire_plugin_kernel_t own;
} fire_plugged_kernel_t;

/* A layer type of a plug-in. `ops` comes first, as above. */
typedef struct fire_plugged_type {
    fire_layer_ops_t       ops;
    fire_plugin_layer_t    own;
    const fire_plugin_t   *plugin;
    int                    nkernel;
    fire_plugged_kernel_t *kernel; /* [nkernel], owned as the list is */
    const fire_kernel_t  **list;   /* ops.kernels */
} fire_plugged_type_t;

/* What l->state is for a layer of a plug-in. */
typedef struct fire_plugged {
    fire_values_t  *values; /* of plugin_param and the like; owned */
    fire_values_t **other;  /* [nother] of fire_layer_values_of(), owned */
    int64_t         nother, other_cap;
    void  **scratch; /* [nscratch] taken since the call into the plug-in began */
    int64_t nscratch, scratch_cap;
    int64_t batch; /* of a source: what it gave fire_layer_samples() */
    bool    began; /* setup was called, so teardown must be */
    _Alignas(64) unsigned char own[]; /* fire_layer_state() */
} fire_plugged_t;

/* ---- loaded plug-ins (load.c) ---- */

/* The i-th type of all plug-ins, NULL after the last; its ops, as fire_layer_at(). */
const fire_plugged_type_t *fire_plugin_type_at(int i);
/* Path of the file that a type comes from; NULL if it is the library's own. */
const char *fire_plugin_path_of(const fire_layer_ops_t *ops);

/* Load the files of a list as in FIRE_PLUGINS: paths with colons between; NULL: none. */
fire_status_t fire_plugin_load_list(const char *list);
/* Load those that a solver names; NULL: it has no settings of ours. */
fire_status_t fire_plugin_load_of(const Caffe__FireParameter *f);
/* Load those of the environment variable FIRE_PLUGINS. A program that runs with more
 * rights than its user ignores it. */
fire_status_t fire_plugin_load_environment(void);

/* ---- records (record.c) ---- */

/* Check what a plug-in exports and make types of it. *type_p is an array of *n_p
 * pointers; on failure nothing is left. `path` begins messages. */
fire_status_t fire_plugin_adopt(const fire_plugin_t *plugin, const char *path,
                                fire_plugged_type_t ***type_p, int *n_p);
void          fire_plugin_disown(fire_plugged_type_t **type, int n);

/* ---- calls (call.c) ---- */

/* The functions of every ops and kernel. */
extern const fire_layer_ops_t fire_plugged_ops;
extern const fire_kernel_t    fire_plugged_kernel;

/* Samples in the whole batch of a plug-in's source; 0 if it has not said. */
int64_t fire_plugin_batch(const fire_layer_t *l);

/* Give scratch memory back (ask.c). */
void fire_plugin_drop_scratch(fire_layer_t *l);

static inline fire_plugged_t *fire_plugged_state(const fire_layer_t *l)
{
    return l->state;
}
#endif
