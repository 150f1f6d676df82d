/* Deconvolution and Im2col: what they refuse. Tests src/layers/conv/im2col.c too. */
#include "layers/bench.h"

TEST(deconvolution_and_im2col_refuse_impossible_shapes)
{
    BENCH_REFUSES("x:1x2x2x2", "y",
                  "type: \"Deconvolution\" convolution_param { num_output: 1 "
                  "kernel_size: 2 pad: 2 }",
                  "leaves nothing of spatial axis 0");
    BENCH_REFUSES("x:1x2x2x2", "y",
                  "type: \"Im2col\" convolution_param { kernel_size: 3 }",
                  "larger than the input");
    BENCH_REFUSES("x:1x2", "y", "type: \"Im2col\" convolution_param { kernel_size: 1 }",
                  "no spatial axes");
}
