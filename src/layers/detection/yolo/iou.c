/* iou.c - see iou.h. */
#include "layers/detection/yolo/iou.h"

#include <math.h>

/* Two boxes along one axis: ends, length in common, length of what encloses both. */
typedef struct span {
    float low[2], high[2]; /* [0]: a, [1]: b */
    float common, around;
} span_t;

static span_t span_of(float a, float size_a, float b, float size_b)
{
    span_t s = {{a - size_a / 2.0f, b - size_b / 2.0f},
                {a + size_a / 2.0f, b + size_b / 2.0f},
                0.0f,
                0.0f};

    s.common = fminf(s.high[0], s.high[1]) - fmaxf(s.low[0], s.low[1]);
    s.around = fmaxf(s.high[0], s.high[1]) - fminf(s.low[0], s.low[1]);
    return s;
}

float fire_yolo_giou(fire_yolo_box_t a, fire_yolo_box_t b)
{
    span_t x = span_of(a.x, a.w, b.x, b.w), y = span_of(a.y, a.h, b.y, b.h);
    float  around = x.around * y.around;
    float  both   = fmaxf(x.common, 0.0f) * fmaxf(y.common, 0.0f);
    float  either = a.w * a.h + b.w * b.h - both;
    float  iou    = fire_yolo_iou(a, b);

    return around == 0.0f ? iou : iou - (around - either) / around;
}

/* Derivatives of lengths with respect to both ends of a: of the length itself (-1, 1), of
 * the common one and of the enclosing one. */
static void ends(const span_t *s, float common[2], float around[2])
{
    common[0] = s->low[0] > s->low[1] ? -1.0f : 0.0f;
    common[1] = s->high[0] < s->high[1] ? 1.0f : 0.0f;
    around[0] = s->low[0] < s->low[1] ? -1.0f : 0.0f;
    around[1] = s->high[0] > s->high[1] ? 1.0f : 0.0f;
}

/* The overlap is I / U - 1 + U / C: intersection, union, enclosing box. */
void fire_yolo_overlap_slope(bool generalised, fire_yolo_box_t a, fire_yolo_box_t b,
                             float *slope)
{
    span_t s[2]     = {span_of(a.x, a.w, b.x, b.w), span_of(a.y, a.h, b.y, b.h)};
    float  size[2]  = {a.w, a.h};
    bool   apart    = s[0].common <= 0.0f || s[1].common <= 0.0f;
    float  both     = apart ? 0.0f : s[0].common * s[1].common;
    float  either   = a.w * a.h + b.w * b.h - both;
    float  enclosed = s[0].around * s[1].around;

    for (int i = 0; i < 2; i++) {
        float common[2], around[2], end[2];

        ends(&s[i], common, around);
        for (int k = 0; k < 2; k++) {
            float own     = (k == 0 ? -1.0f : 1.0f) * size[1 - i];
            float d_both  = apart ? 0.0f : common[k] * s[1 - i].common;
            float d_union = own - d_both;

            end[k] = either > 0.0f
                         ? (either * d_both - both * d_union) / (either * either)
                         : 0.0f;
            if (generalised && enclosed > 0.0f)
                end[k] += (enclosed * d_union - either * around[k] * s[1 - i].around) /
                          (enclosed * enclosed);
        }
        slope[i]     = end[0] + end[1];
        slope[2 + i] = end[1] - end[0];
    }
}
