/* fields.c - see fields.h. */
#include "layers/detection/mscnn/fields.h"

#include <math.h>
#include <string.h>

fire_status_t fire_bbox_reg_read(const Caffe__BBoxRegParameter *p, fire_bbox_reg_t *r_p)
{
    fire_bbox_reg_t r = {{0, 0, 0, 0}, {1, 1, 1, 1}};

    if (p != NULL && p->n_bbox_mean > 0 && p->n_bbox_std > 0) {
        if (p->n_bbox_mean != 4 || p->n_bbox_std != 4)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "bbox_reg_param needs four of bbox_mean and bbox_std, not "
                             "%zu and %zu",
                             p->n_bbox_mean, p->n_bbox_std);
        memcpy(r.mean, p->bbox_mean, sizeof(r.mean));
        memcpy(r.std, p->bbox_std, sizeof(r.std));
    }
    for (int i = 0; i < 4; i++)
        if (!(r.std[i] > 0.0f))
            return FIRE_FAIL(FIRE_ERR_INVALID, "bbox_std %g must be positive",
                             (double)r.std[i]);
    *r_p = r;
    return FIRE_OK;
}

fire_status_t fire_share_read(const char *nms_type, fire_field_share_t *s_p)
{
    static const char *const name[] = {"IOU", "IOMU", "IOFU"};

    for (int i = 0; i < 3; i++)
        if (strcmp(nms_type, name[i]) == 0) {
            *s_p = (fire_field_share_t)i;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID, "nms_type \"%s\" is none of IOU, IOMU, IOFU",
                     nms_type);
}

/* end: 1 if both ends are inside. */
static float area(fire_bbox_t b, float end)
{
    if (b.xmax < b.xmin || b.ymax < b.ymin) return 0.0f;
    return (b.xmax - b.xmin + end) * (b.ymax - b.ymin + end);
}

static float shared(const fire_field_rules_t *r, fire_bbox_t a, fire_bbox_t b)
{
    fire_bbox_t both = {fmaxf(a.xmin, b.xmin), fmaxf(a.ymin, b.ymin),
                        fminf(a.xmax, b.xmax), fminf(a.ymax, b.ymax)};
    float       in = area(both, r->end), of = area(a, r->end);

    if (r->share == FIRE_SHARE_LESSER) of = fminf(of, area(b, r->end));
    if (r->share == FIRE_SHARE_UNION) of += area(b, r->end) - in;
    return of > 0.0f ? in / of : 0.0f;
}

static float limit(float x, float most)
{
    return fmaxf(fminf(x, most), -most);
}

fire_status_t fire_fields_add(fire_fields_t *s, int64_t image, float score,
                              const float *delta, int64_t step, const float *field,
                              float stride, const int64_t *extent, int64_t place)
{
    const fire_field_rules_t *r = &s->rules;
    float at[2] = {(float)(place % extent[0]), (float)(place / extent[0])}, low[2],
          high[2];

    for (int i = 0; i < 2; i++) {
        float move = delta[i * step] * r->reg.std[i] + r->reg.mean[i];
        float zoom = delta[(2 + i) * step] * r->reg.std[2 + i] + r->reg.mean[2 + i];
        float size = field[i] * expf(limit(zoom, r->zoom));

        low[i] =
            limit(move, r->shift) * field[i] + (at[i] + 0.5f) * stride - size / 2.0f;
        high[i] = fminf(low[i] + size - r->end, (float)extent[i] * stride);
        low[i]  = fmaxf(low[i], 0.0f);
        if (r->end == 0.0f) /* a box cut off at its start keeps its size */
            high[i] = fminf(low[i] + size, (float)extent[i] * stride);
        if (!(high[i] - low[i] + r->end >= r->least_size)) return FIRE_OK;
    }
    FIRE_TRY(fire_grow(&s->found, &s->cfound, s->n + 1, sizeof(*s->found)));
    s->found[s->n++] =
        (fire_field_box_t){image, score, {low[0], low[1], high[0], high[1]}};
    return FIRE_OK;
}

fire_status_t fire_fields_reshape(fire_layer_t *l)
{
    for (int i = 0; i < l->ntop; i++)
        FIRE_TRY(fire_blob_reshape(l->top[i], 4, (int64_t[]){1, 5 + i, 1, 1}));
    return FIRE_OK;
}

void fire_fields_teardown(fire_layer_t *l)
{
    fire_fields_t *s = l->state;

    fire_free(s->found);
    fire_free(s->list);
}

/* The boxes of one image that stay, behind `kept` others in the list; returns how many
 * there are then. */
static int64_t suppress(fire_fields_t *s, int64_t image, int64_t kept)
{
    fire_ranked_t *list = s->list + kept;
    int64_t        n = 0, own = 0;

    for (int64_t i = 0; i < s->n; i++)
        if (s->found[i].image == image)
            list[n++] = (fire_ranked_t){s->found[i].score, i};
    fire_rank(list, n);
    if (s->rules.before > 0 && n > s->rules.before) n = s->rules.before;
    for (int64_t i = 0; i < n; i++) {
        bool keep = s->rules.after == 0 || own < s->rules.after;

        for (int64_t k = 0; k < own && keep; k++)
            keep = shared(&s->rules, s->found[list[k].index].box,
                          s->found[list[i].index].box) <= s->rules.threshold;
        if (keep) list[own++] = list[i];
    }
    return kept + own;
}

static fire_status_t write(fire_layer_t *l, int top, int64_t n)
{
    static const float   nothing[] = {0, 1, 1, 10, 10};
    const fire_fields_t *s         = l->state;
    int64_t              row       = 5 + top;
    float               *y;

    FIRE_TRY(fire_blob_reshape(l->top[top], 4, (int64_t[]){n > 0 ? n : 1, row, 1, 1}));
    FIRE_OUT(l, l->top[top], FIRE_DATA, &y);
    for (int64_t i = 0; i < row && n == 0; i++)
        y[i] = top == 0 ? nothing[i] : 0.0f;
    for (int64_t i = 0; i < n; i++, y += row) {
        const fire_field_box_t *f = &s->found[s->list[i].index];

        y[0] = (float)f->image;
        memcpy(y + 1, &f->box, sizeof(f->box));
        if (top > 0) y[5] = f->score;
    }
    return FIRE_OK;
}

fire_status_t fire_fields_write(fire_layer_t *l, int64_t images)
{
    fire_fields_t *s    = l->state;
    int64_t        kept = 0;

    FIRE_TRY(fire_grow(&s->list, &s->clist, s->n, sizeof(*s->list)));
    for (int64_t image = 0; image < images; image++)
        kept = suppress(s, image, kept);
    for (int i = 0; i < l->ntop; i++)
        FIRE_TRY(write(l, i, kept));
    return FIRE_OK;
}
