/* neuron.c - the copy of x that element-wise layers keep when they work in place. */
#include "layers/neuron/neuron.h"

static bool has_backward(const fire_layer_t *l)
{
    bool wanted = l->propagate_down[0];

    for (int i = 0; i < l->nblob; i++)
        wanted = wanted || l->param_gradient[i];
    return wanted;
}

fire_status_t fire_kept_save(fire_kept_t *kept, fire_layer_t *l)
{
    if (l->bottom[0] != l->top[0] || !has_backward(l)) return FIRE_OK;
    if (kept->x == NULL) FIRE_TRY(fire_blob_create(&kept->x));
    FIRE_TRY(fire_blob_reshape_like(kept->x, l->bottom[0]));
    return fire_blob_copy(kept->x, l->bottom[0], FIRE_DATA);
}

fire_blob_t *fire_kept_bottom(const fire_kept_t *kept, const fire_layer_t *l)
{
    return l->bottom[0] == l->top[0] && kept->x != NULL ? kept->x : l->bottom[0];
}

void fire_kept_fini(fire_kept_t *kept)
{
    fire_blob_destroy(kept->x);
}

void fire_kept_teardown(fire_layer_t *l)
{
    fire_kept_fini(l->state);
}
