/* layers.c - what users of the library give to single layers of a net, and get from
 * them. */
#include <fire/python.h>
#include <string.h>

#include "layers/data/memory_data.h"
#include "layers/python/python.h"
#include "net/net_state.h"

fire_status_t fire_net_set_arrays(fire_net_t *net, int layer, const float *data,
                                  const float *labels, int64_t n)
{
    fire_layer_t *l = &net->layer[layer].base;

    if (strcmp(l->ops->type, "MemoryData") != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "layer \"%s\" (%s) takes no arrays; only MemoryData does",
                         l->param->name, l->ops->type);
    return fire_layer_blame(fire_memory_data_set(l, data, labels, n), l);
}

void *fire_net_python_object(const fire_net_t *net, int layer)
{
    return fire_python_object(&net->layer[layer].base);
}
