/* pixels.c - see pixels.h. */
#include "layers/detection/rcnn/pixels.h"

#include <math.h>

static float area(fire_bbox_t b)
{
    return (b.xmax - b.xmin + 1.0f) * (b.ymax - b.ymin + 1.0f);
}

float fire_pixels_overlap(fire_bbox_t a, fire_bbox_t b)
{
    float width  = fminf(a.xmax, b.xmax) - fmaxf(a.xmin, b.xmin) + 1.0f;
    float height = fminf(a.ymax, b.ymax) - fmaxf(a.ymin, b.ymin) + 1.0f;
    float both   = fmaxf(width, 0.0f) * fmaxf(height, 0.0f);

    return both / (area(a) + area(b) - both);
}

fire_bbox_t fire_pixels_move(fire_bbox_t box, const float *delta)
{
    float width  = box.xmax - box.xmin + 1.0f;
    float height = box.ymax - box.ymin + 1.0f;
    float x      = delta[0] * width + box.xmin + 0.5f * width;
    float y      = delta[1] * height + box.ymin + 0.5f * height;
    float dx     = 0.5f * expf(delta[2]) * width;
    float dy     = 0.5f * expf(delta[3]) * height;

    return (fire_bbox_t){x - dx, y - dy, x + dx, y + dy};
}

static float limit(float x, float size)
{
    return fmaxf(fminf(x, size - 1.0f), 0.0f);
}

fire_bbox_t fire_pixels_clip(fire_bbox_t box, float width, float height)
{
    return (fire_bbox_t){limit(box.xmin, width), limit(box.ymin, height),
                         limit(box.xmax, width), limit(box.ymax, height)};
}

int64_t fire_pixels_suppress(const fire_bbox_t *box, fire_ranked_t *list, int64_t n,
                             float threshold, int64_t most)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < n && kept < most; i++) {
        bool keep = true;

        for (int64_t k = 0; k < kept && keep; k++)
            keep = fire_pixels_overlap(box[list[i].index], box[list[k].index]) <=
                   threshold;
        if (keep) list[kept++] = list[i];
    }
    return kept;
}
