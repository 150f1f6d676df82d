/* layers.c - what users of the library give to single layers of a net, and get from
 * them. */
#include <fire/python.h>
#include <string.h>

#include "layers/data/memory_data.h"
#include "layers/python/python.h"
#include "net/net_state.h"

static fire_status_t find_memory_data(const fire_net_t *net, int layer,
                                      fire_layer_t **l_p)
{
    fire_layer_t *l = &net->layer[layer].base;

    *l_p = l;
    if (strcmp(l->ops->type, "MemoryData") == 0) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "layer \"%s\" (%s) takes no arrays; only MemoryData does",
                     l->param->name, l->ops->type);
}

fire_status_t fire_net_set_arrays(fire_net_t *net, int layer, const float *data,
                                  const float *labels, int64_t n)
{
    fire_layer_t *l;

    FIRE_TRY(find_memory_data(net, layer, &l));
    return fire_layer_blame(fire_memory_data_set(l, data, labels, n), l);
}

fire_status_t fire_net_set_source(fire_net_t *net, int layer, fire_fetch_t fetch,
                                  void *arg)
{
    fire_layer_t *l;

    FIRE_TRY(find_memory_data(net, layer, &l));
    fire_memory_data_set_source(l, fetch, arg);
    return FIRE_OK;
}

void fire_python_samples(const fire_layer_t *l, int64_t batch, int n,
                         fire_samples_t *samples)
{
    fire_memory_data_ahead(l, batch, n, samples);
}

void *fire_net_python_object(const fire_net_t *net, int layer)
{
    return fire_python_object(&net->layer[layer].base);
}
