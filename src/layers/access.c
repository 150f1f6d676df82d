/* access.c - what a layer tells its own functions, where these are not part of the
 * library: fire/layer.h. */
#include <fire/layer.h>

#include "layers/layer.h"

const char *fire_layer_type_at(int i)
{
    const fire_layer_ops_t *ops = i >= 0 ? fire_layer_at(i) : NULL;

    return ops != NULL ? ops->type : NULL;
}

const char *fire_layer_name(const fire_layer_t *l)
{
    return l->param->name;
}

const char *fire_layer_type(const fire_layer_t *l)
{
    return l->ops->type;
}

fire_net_phase_t fire_layer_phase(const fire_layer_t *l)
{
    return l->phase == CAFFE__PHASE__TRAIN ? FIRE_TRAIN : FIRE_TEST;
}

int fire_layer_nbottom(const fire_layer_t *l)
{
    return l->nbottom;
}

fire_blob_t *fire_layer_bottom(const fire_layer_t *l, int i)
{
    return l->bottom[i];
}

int fire_layer_ntop(const fire_layer_t *l)
{
    return l->ntop;
}

fire_blob_t *fire_layer_top(const fire_layer_t *l, int i)
{
    return l->top[i];
}

int fire_layer_nparam(const fire_layer_t *l)
{
    return l->nblob;
}

fire_blob_t *fire_layer_param(const fire_layer_t *l, int i)
{
    return l->blob[i];
}

bool fire_layer_wants_bottom(const fire_layer_t *l, int i)
{
    return l->propagate_down[i];
}

bool fire_layer_wants_param(const fire_layer_t *l, int i)
{
    return l->param_gradient[i];
}
