/* bbox.c - boxes and prior boxes, in the arithmetic of SSD's code. */
#include "layers/detection/bbox.h"

#include <math.h>
#include <stdlib.h>

static const float ones[4] = {1, 1, 1, 1};

/* CORNER divides by 1 instead of the prior's size. */
fire_bbox_t fire_bbox_encode(fire_bbox_code_t code, fire_bbox_t prior,
                             const float *variance, fire_bbox_t box)
{
    const float *v = variance != NULL ? variance : ones;
    float        w = prior.xmax - prior.xmin, h = prior.ymax - prior.ymin;

    if (code == CAFFE__PRIOR_BOX_PARAMETER__CODE_TYPE__CENTER_SIZE) {
        float x = (box.xmin + box.xmax) / 2.0f - (prior.xmin + prior.xmax) / 2.0f;
        float y = (box.ymin + box.ymax) / 2.0f - (prior.ymin + prior.ymax) / 2.0f;

        return (fire_bbox_t){x / w / v[0], y / h / v[1],
                             logf((box.xmax - box.xmin) / w) / v[2],
                             logf((box.ymax - box.ymin) / h) / v[3]};
    }
    if (code == CAFFE__PRIOR_BOX_PARAMETER__CODE_TYPE__CORNER) w = h = 1.0f;
    return (fire_bbox_t){
        (box.xmin - prior.xmin) / w / v[0], (box.ymin - prior.ymin) / h / v[1],
        (box.xmax - prior.xmax) / w / v[2], (box.ymax - prior.ymax) / h / v[3]};
}

fire_bbox_t fire_bbox_decode(fire_bbox_code_t code, fire_bbox_t prior,
                             const float *variance, fire_bbox_t encoded)
{
    const float *v = variance != NULL ? variance : ones;
    float        w = prior.xmax - prior.xmin, h = prior.ymax - prior.ymin;

    if (code == CAFFE__PRIOR_BOX_PARAMETER__CODE_TYPE__CENTER_SIZE) {
        float x  = v[0] * encoded.xmin * w + (prior.xmin + prior.xmax) / 2.0f;
        float y  = v[1] * encoded.ymin * h + (prior.ymin + prior.ymax) / 2.0f;
        float dx = expf(v[2] * encoded.xmax) * w / 2.0f;
        float dy = expf(v[3] * encoded.ymax) * h / 2.0f;

        return (fire_bbox_t){x - dx, y - dy, x + dx, y + dy};
    }
    if (code == CAFFE__PRIOR_BOX_PARAMETER__CODE_TYPE__CORNER) w = h = 1.0f;
    return (fire_bbox_t){
        prior.xmin + v[0] * encoded.xmin * w, prior.ymin + v[1] * encoded.ymin * h,
        prior.xmax + v[2] * encoded.xmax * w, prior.ymax + v[3] * encoded.ymax * h};
}

/* qsort() is not stable, so equal scores are ordered by index. */
static int better_first(const void *a, const void *b)
{
    const fire_ranked_t *x = a, *y = b;

    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

void fire_rank(fire_ranked_t *list, int64_t n)
{
    if (n > 1) qsort(list, (size_t)n, sizeof(*list), better_first);
}

int64_t fire_bbox_suppress(const fire_bbox_t *box, fire_ranked_t *list, int64_t n,
                           float threshold, float eta)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < n; i++) {
        bool keep = true;

        for (int64_t k = 0; k < kept && keep; k++)
            keep =
                fire_bbox_overlap(box[list[i].index], box[list[k].index]) <= threshold;
        if (!keep) continue;
        list[kept++] = list[i];
        if (eta < 1.0f && threshold > 0.5f) threshold *= eta;
    }
    return kept;
}

fire_status_t fire_objects_read(const float *rows, int64_t nrow, int background,
                                bool difficult_too, fire_object_t *object, int64_t *n_p)
{
    int64_t n = 0;

    for (int64_t i = 0; i < nrow; i++, rows += FIRE_OBJECT_ROW) {
        fire_object_t o = {(int64_t)rows[0],
                           (int)rows[1],
                           rows[7] != 0.0f,
                           {rows[3], rows[4], rows[5], rows[6]}};

        if (o.image < 0 || (o.difficult && !difficult_too)) continue;
        if (o.label == background)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "object %lld has label %d, which stands for background",
                             (long long)i, background);
        object[n++] = o;
    }
    *n_p = n;
    return FIRE_OK;
}
