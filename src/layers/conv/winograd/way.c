#include "layers/conv/winograd/way.h"

fire_way_t fire_way_make(const fire_winograd_t *c, bool back, int tile)
{
    fire_way_t w = {.dtype        = c->dtype,
                    .tile         = tile,
                    .taps         = c->taps,
                    .side         = tile + 1 - c->taps,
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
    w.across     = fire_ceil_div(w.out[1], w.side);
    w.per_image  = fire_ceil_div(w.out[0], w.side) * w.across;
    w.tiles      = w.num * w.per_image;
    return w;
}

fire_tile_part_t fire_way_input(const fire_way_t *w, int64_t t)
{
    return fire_way_input_at(w, fire_way_tile(w, t));
}

fire_tile_part_t fire_way_output(const fire_way_t *w, int64_t t)
{
    return fire_way_output_at(w, fire_way_tile(w, t));
}

fire_taps_at_t fire_way_find_taps(const fire_way_t *w, bool back, int64_t block,
                                  int64_t k)
{
    int64_t size  = (int64_t)w->taps * w->taps;
    int64_t group = block / w->out_step, fan = w->out_step * FIRE_LANES;

    if (!back)
        return (fire_taps_at_t){(block * FIRE_LANES * w->depth + k) * size,
                                w->depth * size};
    if (w->out_step == w->out_blocks) fan = w->out_channels; /* one group */
    return (fire_taps_at_t){
        ((group * w->depth + k) * fan + block % w->out_step * FIRE_LANES) * size, size};
}

int fire_way_lanes(const fire_way_t *w, int64_t block)
{
    return fire_within(w->out_channels - block * FIRE_LANES, FIRE_LANES);
}
