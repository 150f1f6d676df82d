/* What all layers of this room refuse. Tests src/layers/vision/. */
#include "layers/bench.h"

TEST(region_and_resizing_layers_refuse_what_does_not_fit)
{
    BENCH_REFUSES("x:1x1x4x4 r:2x5", "y", "type: \"ROIPooling\"", "pooled_h");
    BENCH_REFUSES("x:1x1x4x4 r:2x4", "y",
                  "type: \"ROIPooling\" roi_pooling_param { pooled_h: 2 pooled_w: 2 }",
                  "rows of 5");
    BENCH_REFUSES("x:1x3x4x4 r:2x5", "y",
                  "type: \"PSROIPooling\" psroi_pooling_param { spatial_scale: 1 "
                  "output_dim: 1 group_size: 2 }",
                  "has 3 channels");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Interp\" interp_param { pad_beg: 1 }",
                  "must not be positive");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Interp\" interp_param { pad_beg: -4 }",
                  "the pads leave 0 of 4 places");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Interp\" interp_param { height: 4 }",
                  "both height and width");
    BENCH_REFUSES("x:1x1x4x4 m:1x1x4x3", "y", "type: \"Upsample\"",
                  "shape of the input");
    BENCH_REFUSES("x:1x1x4x4", "y", "type: \"Upsample\" upsample_param { scale: 0 }",
                  "at least 1");
}
