/* record.c - checks the records that a plug-in exports, and makes the library's own of
 * them. Everything is checked before anything of the plug-in is called. */
#include <ctype.h>
#include <string.h>
#include "base/config.h"
#include "layers/plugin/plugin.h"

/* What is wrong is said after this. */
#define FAIL(path, ...) \
    fire_error_prefix(FIRE_FAIL(FIRE_ERR_UNSUPPORTED, __VA_ARGS__), "plug-in %s", path)

/* Copy a record over a zeroed one of ours: one from older headers is shorter. */
static fire_status_t copy_record(void *to, size_t size, const void *from,
                                 const char *what, const char *path)
{
    enum { MOST = 4096 }; /* more is no size */
    size_t given = *(const size_t *)from;

    if (given < sizeof(size_t) || given > MOST)
        return FAIL(path, "a %s has size %zu; set .size to its sizeof", what, given);
    if (fire_config_read(from, to, size, what) < 0)
        return fire_error_prefix(FIRE_ERR_UNSUPPORTED, "plug-in %s", path);
    return FIRE_OK;
}

static bool is_word(const char *name)
{
    if (name == NULL || !isalpha((unsigned char)name[0])) return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && *name != '_' && *name != '-')
            return false;
    return true;
}

static bool is_arity(int least, int most)
{
    return least >= 0 && (most == -1 || most >= least);
}

static const char *or_nothing(const char *text)
{
    return text != NULL ? text : "";
}

/* ---- kernels ---- */

static const fire_fusion_ops_t *fusion_of(unsigned reads)
{
    switch (reads) {
    case FIRE_READS_BOTTOM:
        return &fire_fusion_reads_bottom;
    case FIRE_READS_TOP:
        return &fire_fusion_reads_top;
    case FIRE_READS_NOTHING:
        return &fire_fusion_reads_nothing;
    default:
        return NULL; /* bottoms and tops */
    }
}

static fire_status_t adopt_kernel(fire_plugged_type_t *t, fire_plugged_kernel_t *k,
                                  const fire_plugin_kernel_t *from, const char *path)
{
    FIRE_TRY(copy_record(&k->own, sizeof(k->own), from, "kernel record", path));
    if (!is_word(k->own.name))
        return FAIL(path, "a kernel of type \"%s\" has no name, or an odd one: \"%s\"",
                    t->own.type, or_nothing(k->own.name));
    for (fire_plugged_kernel_t *other = t->kernel; other < k; other++)
        if (strcmp(other->own.name, k->own.name) == 0)
            return FAIL(path, "type \"%s\" has two kernels with the name \"%s\"",
                        t->own.type, k->own.name);
    if (k->own.forward == NULL)
        return FAIL(path, "kernel \"%s\" of type \"%s\" has no forward", k->own.name,
                    t->own.type);
    if ((k->own.where != FIRE_CPU && k->own.where != FIRE_GPU) ||
        k->own.reads > FIRE_READS_NOTHING ||
        (k->own.reads > (FIRE_READS_BOTTOM | FIRE_READS_TOP) &&
         k->own.reads != FIRE_READS_NOTHING))
        return FAIL(path,
                    "kernel \"%s\" of type \"%s\": where %d and reads %u cannot be",
                    k->own.name, t->own.type, (int)k->own.where, k->own.reads);
    k->kernel          = fire_plugged_kernel;
    k->kernel.name     = k->own.name;
    k->kernel.where    = k->own.where;
    k->kernel.declines = k->own.declines;
    k->kernel.fusion   = fusion_of(k->own.reads);
    if (k->own.backward == NULL) k->kernel.backward = NULL;
    if (k->own.prepare == NULL) k->kernel.prepare = NULL;
    return FIRE_OK;
}

static fire_status_t adopt_kernels(fire_plugged_type_t *t, const char *path)
{
    enum { MOST = 64 };
    bool on_cpu = false;
    int  n      = 0;

    while (t->own.kernels != NULL && t->own.kernels[n] != NULL && n < MOST)
        n++;
    FIRE_TRY(FIRE_NEW(&t->kernel, n));
    FIRE_TRY(FIRE_NEW(&t->list, n + 1));
    for (int i = 0; i < n; i++) {
        FIRE_TRY(adopt_kernel(t, &t->kernel[i], t->own.kernels[i], path));
        on_cpu |= t->kernel[i].own.where == FIRE_CPU;
        t->list[i] = &t->kernel[i].kernel;
    }
    t->nkernel = n;
    if (!on_cpu)
        return FAIL(path, "type \"%s\" has no kernel for the CPU; it needs one",
                    t->own.type);
    return FIRE_OK;
}

/* ---- types ---- */

static fire_status_t check_type(const fire_plugged_type_t *t, const char *path)
{
    const fire_plugin_layer_t *own = &t->own;
    const unsigned known = FIRE_LAYER_INPLACE | FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP |
                           FIRE_LAYER_PAIRED | FIRE_LAYER_SOURCE | FIRE_LAYER_DYNAMIC |
                           FIRE_LAYER_HOST | FIRE_LAYER_STEADY;

    if (!is_word(own->type))
        return FAIL(path, "a layer type has no name, or an odd one: \"%s\"",
                    or_nothing(own->type));
    if (own->reshape == NULL)
        return FAIL(path, "type \"%s\" has no reshape (fire_layer_reshape_same?)",
                    own->type);
    if (!is_arity(own->min_bottom, own->max_bottom) ||
        !is_arity(own->min_top, own->max_top))
        return FAIL(path, "type \"%s\" takes %d to %d bottoms and %d to %d tops",
                    own->type, own->min_bottom, own->max_bottom, own->min_top,
                    own->max_top);
    if ((own->flags & ~known) != 0)
        return FAIL(path, "type \"%s\" has unknown flags 0x%x; use a newer library",
                    own->type, own->flags & ~known);
    if ((own->flags & FIRE_LAYER_SOURCE) && own->max_bottom != 0)
        return FAIL(path, "type \"%s\" is a FIRE_LAYER_SOURCE, which has no bottoms",
                    own->type);
    return FIRE_OK;
}

static fire_status_t adopt_type(const fire_plugin_layer_t *from,
                                const fire_plugin_t *plugin, const char *path,
                                fire_plugged_type_t *t)
{
    FIRE_TRY(copy_record(&t->own, sizeof(t->own), from, "layer record", path));
    FIRE_TRY(check_type(t, path));
    FIRE_TRY(adopt_kernels(t, path));
    t->plugin          = plugin;
    t->ops             = fire_plugged_ops;
    t->ops.type        = t->own.type;
    t->ops.bottoms     = (fire_arity_t){t->own.min_bottom, t->own.max_bottom};
    t->ops.tops        = (fire_arity_t){t->own.min_top, t->own.max_top};
    t->ops.flags       = t->own.flags | FIRE_LAYER_PLUGIN;
    t->ops.no_gradient = t->own.no_gradient;
    t->ops.state_size  = sizeof(fire_plugged_t) + t->own.state_size;
    t->ops.macs        = t->own.macs;
    t->ops.kernels     = t->list;
    return FIRE_OK;
}

void fire_plugin_disown(fire_plugged_type_t **type, int n)
{
    for (int i = 0; type != NULL && i < n; i++) {
        if (type[i] == NULL) continue;
        fire_free(type[i]->kernel);
        fire_free(type[i]->list);
        fire_free(type[i]);
    }
    fire_free(type);
}

/* Is the name free, in the library and among the first n types of this plug-in? */
static fire_status_t check_name(fire_plugged_type_t *const *type, int n,
                                const char *path)
{
    const char             *name = type[n]->ops.type, *owner;
    const fire_layer_ops_t *ops;

    for (int i = 0; i < n; i++)
        if (strcmp(type[i]->ops.type, name) == 0)
            return FAIL(path, "has two layer types with the name \"%s\"", name);
    for (int i = 0; (ops = fire_layer_at(i)) != NULL; i++) {
        if (strcmp(ops->type, name) != 0) continue;
        owner = fire_plugin_path_of(ops);
        return FAIL(path,
                    "the layer type \"%s\" is taken by %s%s; give it another name",
                    name, owner != NULL ? "plug-in " : "the library itself",
                    owner != NULL ? owner : "");
    }
    return FIRE_OK;
}

/* The version comes first in every version of the record. */
static fire_status_t check_entry(const fire_plugin_t *plugin, const char *path,
                                 int *n_p)
{
    enum { MOST = 1024 };
    int n = 0;

    if (plugin->version != FIRE_PLUGIN_VERSION)
        return FAIL(path,
                    "is made for version %d of the plug-in interface, this library "
                    "(%s) has version %d; compile it against this library's headers",
                    plugin->version, FIRE_VERSION, FIRE_PLUGIN_VERSION);
    if (plugin->size < sizeof(*plugin))
        return FAIL(path, "its entry has size %zu; set .size to its sizeof",
                    plugin->size);
    if (!is_word(plugin->name))
        return FAIL(path, "has no name, or an odd one: \"%s\"",
                    or_nothing(plugin->name));
    while (plugin->layers != NULL && plugin->layers[n] != NULL && n < MOST)
        n++;
    if (n == 0) return FAIL(path, "has no layers");
    *n_p = n;
    return FIRE_OK;
}

fire_status_t fire_plugin_adopt(const fire_plugin_t *plugin, const char *path,
                                fire_plugged_type_t ***type_p, int *n_p)
{
    fire_plugged_type_t **type;
    fire_status_t         st = FIRE_OK;
    int                   n  = 0;

    FIRE_TRY(check_entry(plugin, path, &n));
    FIRE_TRY(FIRE_NEW(&type, n));
    for (int i = 0; i < n; i++) {
        FIRE_TRY_GOTO(st, FIRE_NEW(&type[i], 1), err);
        FIRE_TRY_GOTO(st, adopt_type(plugin->layers[i], plugin, path, type[i]), err);
        FIRE_TRY_GOTO(st, check_name(type, i, path), err);
    }
    *type_p = type;
    *n_p    = n;
    return FIRE_OK;

err:
    fire_plugin_disown(type, n);
    return st;
}
