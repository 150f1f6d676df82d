/* registry.c - finds a layer's ops by its type name. layers.def is the list; as a table
 * that is compiled in, it needs no code that runs before main(), and a static link cannot
 * drop a layer. Types of plug-ins follow those of the table. */
#include <string.h>

#include "base/text/text.h"
#include "layers/plugin/plugin.h"
#include "model/forks/forks.h"

#define FIRE_LAYER(family, file) extern const fire_layer_ops_t fire_layer_##file;
#include "layers/layers.def"
#undef FIRE_LAYER

#define FIRE_LAYER(family, file) &fire_layer_##file,
static const fire_layer_ops_t *const table[] = {
#include "layers/layers.def"
};
#undef FIRE_LAYER

enum { NTYPES = sizeof(table) / sizeof(table[0]) };

const fire_layer_ops_t *fire_layer_at(int i)
{
    const fire_plugged_type_t *type;

    if (i < 0) return NULL;
    if (i < NTYPES) return table[i];
    type = fire_plugin_type_at(i - NTYPES);
    return type != NULL ? &type->ops : NULL;
}

static const char *type_at(const void *list, int i)
{
    (void)list;
    return fire_layer_at(i) != NULL ? fire_layer_at(i)->type : NULL;
}

fire_status_t fire_layer_find(const char *type, const fire_layer_ops_t **ops_p)
{
    const fire_layer_ops_t *ops;
    const char             *near, *fork;

    for (int i = 0; (ops = fire_layer_at(i)) != NULL; i++)
        if (strcmp(ops->type, type) == 0) {
            *ops_p = ops;
            return FIRE_OK;
        }
    fork = fire_fork_of_type(type);
    if (fork != NULL)
        return FIRE_FAIL(
            FIRE_ERR_UNSUPPORTED,
            "layer type \"%s\" is of another Caffe (%s) and unknown here; a "
            "plug-in can bring it: --plugin, FIRE_PLUGINS",
            type, fork);
    near = fire_name_nearest(type, type_at, NULL);
    if (near != NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "unknown layer type \"%s\"; did you mean \"%s\"?", type, near);
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "unknown layer type \"%s\" (`firecaffe net --coverage` lists the "
                     "known ones; is a plug-in missing: --plugin, FIRE_PLUGINS?)",
                     type);
}
