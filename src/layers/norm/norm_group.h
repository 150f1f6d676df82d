/* norm_group.h - the groups of layers that the GPU kernels of BatchNorm and Scale run
 * as one (docs/design/0007-fusion.md):
 *
 *     BatchNorm [Scale] [ReLU]                      in place
 *     BatchNorm [Scale] Eltwise [ReLU] [Split]      the end of a residual branch
 *     Scale [ReLU]                                  in place
 *
 * Where the other branch of the sum ends with a BatchNorm [Scale] as well, that one
 * only takes its statistics, and the sum's kernel does the rest of its work forward. */
#ifndef FIRE_LAYERS_NORM_NORM_GROUP_H
#define FIRE_LAYERS_NORM_NORM_GROUP_H
#include "layers/layer.h"

typedef struct fire_norm_group {
    fire_blob_t *gain, *shift;                  /* NULL: none */
    bool         gain_gradient, shift_gradient; /* are wanted */
    bool         gain_is_bottom;                /* rather than a parameter */
    bool         per_channel; /* false: a Scale along other axes than axis 1 */

    const fire_layer_t *relu, *sum, *split; /* NULL: none */
    int          other;    /* index of the sum's bottom that the group does not make */
    fire_blob_t *out;      /* the group's result */
    bool         in_place; /* y takes x's place */
} fire_norm_group_t;

/* The group of BatchNorm or Scale layer l. */
fire_norm_group_t fire_norm_group(const fire_layer_t *l);

/* The fusion ops of BatchNorm and Scale. */
bool     fire_batch_norm_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next);
bool     fire_scale_cuda_absorbs(const fire_layer_t *l, const fire_layer_t *next);
bool     fire_norm_cuda_absorbs_join(const fire_layer_t *l, const fire_layer_t *next);
bool     fire_norm_cuda_borrows(const fire_layer_t *l, const fire_layer_t *from);
bool     fire_norm_cuda_writes_even(const fire_layer_t *l);
unsigned fire_norm_cuda_backward_reads(const fire_layer_t *l);
#endif
