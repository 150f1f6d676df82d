/* SPP and Crop: what they refuse. Tests src/layers/shape/crop.c too. */
#include "layers/bench.h"

TEST(spp_and_crop_refuse_what_does_not_fit)
{
    BENCH_REFUSES("x:1x2x4x4", "y", "type: \"SPP\"", "pyramid_height");
    BENCH_REFUSES("x:1x2x2x2", "y", "type: \"SPP\" spp_param { pyramid_height: 3 }",
                  "pyramid_height is too large");
    BENCH_REFUSES("x:1x2x4", "y", "type: \"SPP\" spp_param { pyramid_height: 1 }",
                  "must have 4 axes");
    BENCH_REFUSES("x:1x2x4x4 l:1x2x5x4", "y", "type: \"Crop\"",
                  "on axis 2, 5 elements from 0 on are wanted");
    BENCH_REFUSES("x:1x2x4x4 l:1x2x3x3", "y",
                  "type: \"Crop\" crop_param { offset: 1 offset: 1 offset: 1 }",
                  "3 offsets for 2 axes");
    BENCH_REFUSES("x:1x2x4x4 l:1x2x3x3", "y", "type: \"Crop\" crop_param { axis: 7 }",
                  "axis 7 is out of range");
    BENCH_REFUSES("x:1x2x4x4 l:1x2", "y", "type: \"Crop\"", "has 2 axes, the first 4");
}
