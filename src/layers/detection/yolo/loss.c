/* loss.c - see loss.h. */
#include "layers/detection/yolo/loss.h"

#include <math.h>

fire_status_t fire_yolo_loss_reshape(fire_layer_t *l, int64_t boxes, int64_t classes)
{
    fire_yolo_loss_t *s = l->state;
    int64_t           n = fire_blob_count(l->bottom[0]);

    FIRE_TRY(fire_yolo_map_of(l->bottom[0], boxes, FIRE_YOLO_CLASS + classes, &s->map));
    FIRE_TRY(fire_yolo_truths_check(l->bottom[1], s->map.images));
    FIRE_TRY(fire_grow(&s->p, &s->cp, n, sizeof(*s->p)));
    FIRE_TRY(fire_grow(&s->delta, &s->cdelta, n, sizeof(*s->delta)));
    return fire_blob_reshape(l->top[0], 0, NULL);
}

void fire_yolo_loss_teardown(fire_layer_t *l)
{
    fire_yolo_loss_t *s = l->state;

    fire_free(s->truths.list);
    fire_free(s->p);
    fire_free(s->delta);
}

fire_status_t fire_yolo_loss_backward(fire_layer_t *l)
{
    const fire_yolo_loss_t *s = l->state;
    const float            *seed;
    float                  *dx, scale;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    scale = seed[0] / (float)s->map.images;
    for (int64_t i = 0; i < fire_blob_count(l->bottom[0]); i++)
        dx[i] = s->delta[i] * scale;
    return FIRE_OK;
}

float fire_yolo_loss_best(const fire_yolo_loss_t *s, fire_yolo_box_t box,
                          float (*overlap)(fire_yolo_box_t, fire_yolo_box_t))
{
    float best = 0.0f;

    for (int64_t i = 0; i < s->truths.n; i++)
        best = fmaxf(best, overlap(box, s->truths.list[i].box));
    return best;
}

int64_t fire_yolo_loss_place(const fire_yolo_loss_t *s, const fire_yolo_truth_t *t)
{
    float x = t->box.x * (float)s->map.width, y = t->box.y * (float)s->map.height;

    if (!(x >= 0.0f && x < (float)s->map.width && y >= 0.0f &&
          y < (float)s->map.height))
        return -1;
    return (int64_t)y * s->map.width + (int64_t)x;
}

void fire_yolo_loss_box(const fire_yolo_loss_t *s, int64_t at, int64_t place,
                        fire_yolo_box_t truth, const float *anchor, const float *unit,
                        float scale)
{
    const fire_yolo_map_t *m    = &s->map;
    int64_t                step = m->height * m->width;
    float want[4] = {truth.x * (float)m->width - (float)(place % m->width),
                     truth.y * (float)m->height - (float)(place / m->width),
                     logf(truth.w * unit[0] / anchor[0]),
                     logf(truth.h * unit[1] / anchor[1])};

    for (int k = 0; k < 4; k++)
        s->delta[at + k * step] = -scale * (want[k] - s->p[at + k * step]);
}

float fire_yolo_loss_sum(const fire_yolo_loss_t *s)
{
    const fire_yolo_map_t *m = &s->map;
    int64_t                n = m->images * m->boxes * m->entries * m->height * m->width;
    float                  sum = 0.0f;

    for (int64_t i = 0; i < n; i++)
        sum += s->delta[i] * s->delta[i];
    return sum;
}
