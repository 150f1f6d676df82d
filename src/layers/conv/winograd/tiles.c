/* tiles.c - see tiles.h. */
#include "layers/conv/winograd/tiles.h"

fire_wino_pass_t fire_wino_pass_make(const fire_winograd_t *c, bool back, int tile)
{
    fire_wino_pass_t w = {.dtype        = c->dtype,
                          .tile         = tile,
                          .taps         = c->taps,
                          .outputs      = tile + 1 - c->taps,
                          .num          = c->num,
                          .in_channels  = back ? c->out_channels : c->in_channels,
                          .out_channels = back ? c->in_channels : c->out_channels};

    for (int i = 0; i < 2; i++) {
        w.in[i]  = back ? c->out[i] : c->in[i];
        w.out[i] = back ? c->in[i] : c->out[i];
        w.pad[i] = back ? c->taps - 1 - c->pad[i] : c->pad[i];
    }
    w.in_blocks  = fire_ceil_div(w.in_channels, FIRE_LANES);
    w.out_blocks = fire_ceil_div(w.out_channels, FIRE_LANES);
    w.depth      = w.in_channels / c->group;
    w.in_step    = w.in_blocks / c->group;
    w.out_step   = w.out_blocks / c->group;
    w.across     = fire_ceil_div(w.out[1], w.outputs);
    w.per_image  = fire_ceil_div(w.out[0], w.outputs) * w.across;
    w.tiles      = w.num * w.per_image;
    return w;
}

fire_wino_tile_t fire_wino_input_tile(const fire_wino_pass_t *w, int64_t t)
{
    return fire_wino_input_tile_at(w, fire_wino_at(w, t));
}

fire_wino_tile_t fire_wino_output_tile(const fire_wino_pass_t *w, int64_t t)
{
    return fire_wino_output_tile_at(w, fire_wino_at(w, t));
}

fire_wino_taps_t fire_wino_find_taps(const fire_wino_pass_t *w, bool back,
                                     int64_t block, int64_t k)
{
    int64_t size  = (int64_t)w->taps * w->taps;
    int64_t group = block / w->out_step, fan = w->out_step * FIRE_LANES;

    if (!back)
        return (fire_wino_taps_t){(block * FIRE_LANES * w->depth + k) * size,
                                  w->depth * size};
    if (w->out_step == w->out_blocks) fan = w->out_channels; /* one group */
    return (fire_wino_taps_t){
        ((group * w->depth + k) * fan + block % w->out_step * FIRE_LANES) * size, size};
}

int fire_wino_lanes(const fire_wino_pass_t *w, int64_t block)
{
    return fire_wino_clamp(w->out_channels - block * FIRE_LANES, FIRE_LANES);
}
