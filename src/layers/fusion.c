/* fusion.c - what kernels say about fusion, in the forms that many share. */
#include <string.h>

#include "layers/layer.h"

unsigned fire_reads_nothing(const fire_layer_t *l)
{
    (void)l;
    return 0;
}

unsigned fire_reads_bottom(const fire_layer_t *l)
{
    (void)l;
    return FIRE_READS_BOTTOM;
}

unsigned fire_reads_top(const fire_layer_t *l)
{
    (void)l;
    return FIRE_READS_TOP;
}

const fire_fusion_ops_t fire_fusion_reads_nothing = {
    .backward_reads = fire_reads_nothing,
};

const fire_fusion_ops_t fire_fusion_reads_bottom = {
    .backward_reads = fire_reads_bottom,
};

const fire_fusion_ops_t fire_fusion_reads_top = {
    .backward_reads = fire_reads_top,
};

const fire_layer_t *fire_layer_last(const fire_layer_t *l)
{
    const fire_fusion_t *f = &l->fusion;

    return f->nfollower > 0 ? f->follower[f->nfollower - 1] : l;
}

fire_blob_t *fire_layer_result(const fire_layer_t *l)
{
    return fire_layer_last(l)->top[0];
}

const fire_layer_t *fire_layer_follower(const fire_layer_t *l, const char *type)
{
    for (int i = 0; i < l->fusion.nfollower; i++)
        if (strcmp(l->fusion.follower[i]->ops->type, type) == 0)
            return l->fusion.follower[i];
    return NULL;
}

unsigned fire_layer_backward_reads(const fire_layer_t *l)
{
    const fire_fusion_ops_t *ops = l->kernel->fusion;

    if (l->fusion.absorbed) return 0;
    return ops != NULL && ops->backward_reads != NULL
               ? ops->backward_reads(l)
               : FIRE_READS_BOTTOM | FIRE_READS_TOP;
}
