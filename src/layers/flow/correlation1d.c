/* correlation1d.c - Correlation1D, of DispNet: Correlation with displacements along the
 * width only; single_direction -1 or 1: only to the left or to the right. */
#include "layers/flow/correlation.h"

static fire_status_t correlation1d_setup(fire_layer_t *l)
{
    return fire_correlation_setup(l, true);
}

const fire_layer_ops_t fire_layer_correlation1d = {
    .type       = "Correlation1D",
    .bottoms    = {2, 2},
    .tops       = {1, 1},
    .state_size = sizeof(fire_correlation_t),
    .setup      = correlation1d_setup,
    .reshape    = fire_correlation_reshape,
    .kernels    = fire_correlation_kernels,
};
