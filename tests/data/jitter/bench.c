/* bench.c - a layer's augmentation alone. */
#include "bench.h"

#include "model/message.h"
#include "model/text.h"

uint8_t slope[AREA * 3];

static void fill_slope(void)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            uint8_t *p = slope + (y * W + x) * 3;

            p[0] = (uint8_t)(x * 10);
            p[1] = (uint8_t)(y * 10);
            p[2] = 40;
        }
}

fire_status_t open_bench(bench_t *b, const char *text, Caffe__Phase phase)
{
    *b = (bench_t){0};
    fill_slope();
    text = format("transform_param { %s }", text);
    CHECK_OK(fire_text_parse(text, strlen(text), "test",
                             &caffe__layer_parameter__descriptor,
                             (ProtobufCMessage **)&b->param));
    CHECK_OK(fire_transform_init(&b->transform, b->param->transform_param, phase, "d"));
    return fire_jitter_init(&b->jitter, &b->transform, b->param->transform_param,
                            phase);
}

void close_bench(bench_t *b)
{
    fire_workspace_fini(&b->scratch);
    fire_transform_fini(&b->transform);
    fire_message_free(b->param);
}

fire_status_t run_sample(bench_t *b, int64_t sample)
{
    static uint8_t planes[AREA * 3];

    for (int i = 0; i < AREA; i++)
        for (int c = 0; c < 3; c++)
            planes[c * AREA + i] = slope[i * 3 + c];
    b->pixels = fire_pixels_planar(planes, NULL, (fire_extent_t){3, H, W});
    return fire_jitter_apply(&b->jitter, 7, sample, &b->scratch, &b->pixels);
}

uint8_t at(const bench_t *b, int y, int x, int c)
{
    const fire_pixels_t *p = &b->pixels;

    return p->bytes[y * p->step_y + x * p->step_x + c * p->step_c];
}
