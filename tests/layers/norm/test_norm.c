/* What all normalisation layers refuse. Tests src/layers/norm/ and src/layers/lrn/. */
#include "layers/bench.h"

TEST(normalisation_layers_refuse_what_they_cannot_use)
{
    BENCH_REFUSES("x:1x2x3x3", "y", "type: \"LRN\" lrn_param { local_size: 4 }",
                  "local_size must be odd");
    BENCH_REFUSES("x:1x2x3", "y", "type: \"LRN\"", "must have 4 axes");
    BENCH_REFUSES("x:3", "y", "type: \"BatchNorm\"", "at least 2 axes");
    BENCH_REFUSES("x:1x2", "y", "type: \"BatchNorm\" param { lr_mult: 1 }",
                  "needs lr_mult: 0");
    BENCH_REFUSES("x:1x2x3x3x3", "y", "type: \"MVN\"", "at most 4 axes");
    BENCH_REFUSES("x:1x2", "y", "type: \"Scale\" scale_param { axis: 2 }",
                  "axis 2 is out of range");
    BENCH_REFUSES("x:1x2", "y", "type: \"Scale\" scale_param { num_axes: 3 }",
                  "3 axes from axis 1 on do not fit");
    BENCH_REFUSES("x:1x2", "y", "type: \"Scale\" scale_param { num_axes: -2 }",
                  "num_axes must be -1");
    BENCH_REFUSES("x:1x2 g:3", "y", "type: \"Scale\"",
                  "shape 3 (3) does not match the input 1 2 (2) from axis 1 on");
    BENCH_REFUSES("x:1x2 g:2x2", "y", "type: \"Bias\"", "does not match the input");
}
