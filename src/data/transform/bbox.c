/* bbox.c - arithmetic of boxes, in the order of SSD's code. */
#include "data/transform/bbox.h"

#include <math.h>

float fire_bbox_area(fire_bbox_t b)
{
    return b.xmax < b.xmin || b.ymax < b.ymin ? 0.0f
                                              : (b.xmax - b.xmin) * (b.ymax - b.ymin);
}

fire_bbox_t fire_bbox_clip(fire_bbox_t b)
{
    return (fire_bbox_t){
        fmaxf(fminf(b.xmin, 1.0f), 0.0f), fmaxf(fminf(b.ymin, 1.0f), 0.0f),
        fmaxf(fminf(b.xmax, 1.0f), 0.0f), fmaxf(fminf(b.ymax, 1.0f), 0.0f)};
}

static float common_area(fire_bbox_t a, fire_bbox_t b)
{
    fire_bbox_t both = {fmaxf(a.xmin, b.xmin), fmaxf(a.ymin, b.ymin),
                        fminf(a.xmax, b.xmax), fminf(a.ymax, b.ymax)};

    return both.xmax <= both.xmin || both.ymax <= both.ymin ? 0.0f
                                                            : fire_bbox_area(both);
}

float fire_bbox_overlap(fire_bbox_t a, fire_bbox_t b)
{
    float both = common_area(a, b);

    return both > 0.0f ? both / (fire_bbox_area(a) + fire_bbox_area(b) - both) : 0.0f;
}

float fire_bbox_coverage(fire_bbox_t a, fire_bbox_t b)
{
    float both = common_area(a, b);

    return both > 0.0f ? both / fire_bbox_area(a) : 0.0f;
}

fire_bbox_t fire_bbox_project(fire_bbox_t window, fire_bbox_t b)
{
    float w = window.xmax - window.xmin, h = window.ymax - window.ymin;

    return fire_bbox_clip(
        (fire_bbox_t){(b.xmin - window.xmin) / w, (b.ymin - window.ymin) / h,
                      (b.xmax - window.xmin) / w, (b.ymax - window.ymin) / h});
}
