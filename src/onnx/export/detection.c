/* detection.c - DetectionOutput: decoded boxes, NonMaxSuppression for each class of each
 * image, then rows of the layer's form in the layer's order.
 *
 * Comments write N for images, P for prior boxes, C for the classes that count, without
 * background, and K for the candidates of a class, which are the top_k best. A candidate
 * has the place (n C + c) K + k: image by image, class by class, the best first. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/alloc.h"
#include "onnx/export/put.h"

enum { LOC, CONF, PRIOR };

typedef struct head {
    const Caffe__DetectionOutputParameter *p;
    int64_t                                priors, classes, loc_classes;
    int64_t                                n;    /* classes that count */
    const char                            *list; /* their numbers */
    int64_t                                k, keep;
    float                                  threshold;
} head_t;

static const char *integer(fire_onnx_export_t *x, int64_t value)
{
    return fire_onnx_integers(x, 1, &value);
}

static const char *cast(fire_onnx_export_t *x, const char *in, int type)
{
    in = fire_onnx_op(x, "Cast", NULL, in, NULL);
    fire_onnx_int(x, "to", type);
    return in;
}

/* Reshape with the numbers of the operator: -1 is what is left. */
static const char *view(fire_onnx_export_t *x, const char *in, const char *out, int n,
                        const int64_t *dim)
{
    return fire_onnx_op(x, "Reshape", out, in, fire_onnx_integers(x, n, dim), NULL);
}

static const char *flat(fire_onnx_export_t *x, const char *in)
{
    static const int64_t all = -1;

    return view(x, in, NULL, 1, &all);
}

static const char *join(fire_onnx_export_t *x, const char *a, const char *b, int axis)
{
    a = fire_onnx_op(x, "Concat", NULL, a, b, NULL);
    fire_onnx_int(x, "axis", axis);
    return a;
}

static const char *gather(fire_onnx_export_t *x, const char *in, const char *index,
                          int axis)
{
    in = fire_onnx_op(x, "Gather", NULL, in, index, NULL);
    fire_onnx_int(x, "axis", axis);
    return in;
}

static const char *transpose(fire_onnx_export_t *x, const char *in, int n,
                             const int64_t *order)
{
    in = fire_onnx_op(x, "Transpose", NULL, in, NULL);
    fire_onnx_ints(x, "perm", n, order);
    return in;
}

/* ---- settings ---- */

static void list_classes(fire_onnx_export_t *x, head_t *h)
{
    int64_t *list;

    if (x->st >= 0) x->st = FIRE_NEW(&list, h->classes);
    if (x->st < 0) return;
    for (int64_t c = 0; c < h->classes; c++)
        if (c != h->p->background_label_id) list[h->n++] = c;
    h->list = fire_onnx_integers(x, h->n, list);
    fire_free(list);
}

static void read_settings(fire_onnx_export_t *x, head_t *h)
{
    static const Caffe__NonMaximumSuppressionParameter preset =
        CAFFE__NON_MAXIMUM_SUPPRESSION_PARAMETER__INIT;
    const Caffe__DetectionOutputParameter *p = x->layer->param->detection_output_param;
    const Caffe__NonMaximumSuppressionParameter *s =
        p->nms_param != NULL ? p->nms_param : &preset;

    h->p           = p;
    h->priors      = x->layer->bottom[PRIOR]->dim[2] / 4;
    h->classes     = p->num_classes;
    h->loc_classes = p->share_location ? 1 : h->classes;
    h->k = s->has_top_k && s->top_k >= 0 && s->top_k < h->priors ? s->top_k : h->priors;
    h->threshold = fminf(s->nms_threshold, 1.0f);
    list_classes(x, h);
    h->keep = p->keep_top_k >= 0 && p->keep_top_k < h->n * h->k ? p->keep_top_k : -1;
    if (s->eta != 1.0f)
        fire_onnx_refuse(x, "nms_param { eta } other than 1: NonMaxSuppression has one "
                            "threshold for all boxes");
    if (h->k < 1 || h->n < 1 || h->keep == 0)
        fire_onnx_refuse(x, "its settings keep no detection at all");
}

/* ---- boxes ---- */

/* The prior boxes, part 0, or their variances, part 1: (1, P, 1, 4). */
static const char *prior(fire_onnx_export_t *x, const head_t *h, int part)
{
    const int64_t dim[4] = {1, h->priors, 1, 4};
    const char   *v = fire_onnx_cut(x, fire_onnx_in(x, PRIOR), NULL, 1, part, part + 1);

    return view(x, v, NULL, 4, dim);
}

/* Corners of the boxes, as fire_bbox_decode() has them: (N, P, classes or 1, 4). */
static const char *decode(fire_onnx_export_t *x, const head_t *h)
{
    const int64_t dim[4] = {-1, h->priors, h->loc_classes, 4};
    const char   *code   = view(x, fire_onnx_in(x, LOC), NULL, 4, dim),
               *box      = prior(x, h, 0);
    const char *low, *high, *size, *two = fire_onnx_scalar(x, 2.0f);

    if (!h->p->variance_encoded_in_target)
        code = fire_onnx_op(x, "Mul", NULL, prior(x, h, 1), code, NULL);
    if (h->p->code_type == CAFFE__PRIOR_BOX_PARAMETER__CODE_TYPE__CORNER)
        return fire_onnx_op(x, "Add", NULL, box, code, NULL);
    low  = fire_onnx_cut(x, box, NULL, 3, 0, 2);
    high = fire_onnx_cut(x, box, NULL, 3, 2, 4);
    size = fire_onnx_op(x, "Sub", NULL, high, low, NULL);
    if (h->p->code_type == CAFFE__PRIOR_BOX_PARAMETER__CODE_TYPE__CORNER_SIZE) {
        code = fire_onnx_op(x, "Mul", NULL, code, join(x, size, size, 3), NULL);
        return fire_onnx_op(x, "Add", NULL, box, code, NULL);
    }
    box  = fire_onnx_op(x, "Add", NULL, low, high, NULL);
    box  = fire_onnx_op(x, "Div", NULL, box, two, NULL);
    low  = fire_onnx_cut(x, code, NULL, 3, 0, 2);
    low  = fire_onnx_op(x, "Mul", NULL, low, size, NULL);
    box  = fire_onnx_op(x, "Add", NULL, low, box, NULL);
    high = fire_onnx_op(x, "Exp", NULL, fire_onnx_cut(x, code, NULL, 3, 2, 4), NULL);
    high = fire_onnx_op(x, "Mul", NULL, high, size, NULL);
    high = fire_onnx_op(x, "Div", NULL, high, two, NULL);
    low  = fire_onnx_op(x, "Sub", NULL, box, high, NULL);
    return join(x, low, fire_onnx_op(x, "Add", NULL, box, high, NULL), 3);
}

/* ---- candidates ---- */

/* Scores of the candidates, and their numbers among the prior boxes: (N, C, K). */
static const char *best(fire_onnx_export_t *x, const head_t *h, const char **index_p)
{
    static const int64_t order[3] = {0, 2, 1};
    const int64_t        dim[3]   = {-1, h->priors, h->classes};
    const char          *v        = view(x, fire_onnx_in(x, CONF), NULL, 3, dim);

    v = transpose(x, v, 3, order);
    if (h->n < h->classes) v = gather(x, v, h->list, 1);
    v        = fire_onnx_op(x, "TopK", NULL, v, integer(x, h->k), NULL);
    *index_p = fire_onnx_more(x, NULL);
    fire_onnx_int(x, "axis", 2);
    return v;
}

/* Their boxes: (N C, K, 4). */
static const char *boxes_of(fire_onnx_export_t *x, const head_t *h, const char *index)
{
    static const int64_t order[4]  = {0, 2, 1, 3};
    const int64_t        shared[3] = {-1, h->n * h->k, 1}, own[4] = {-1, h->n, h->k, 1};
    const int64_t        plane[3] = {-1, h->priors, 4}, out[3] = {-1, h->k, 4};
    bool                 single = h->loc_classes == 1;
    const char          *box    = decode(x, h);

    if (single) {
        box = view(x, box, NULL, 3, plane);
    } else {
        box = transpose(x, box, 4, order);
        if (h->n < h->classes) box = gather(x, box, h->list, 1);
    }
    index = single ? view(x, index, NULL, 3, shared) : view(x, index, NULL, 4, own);
    box   = fire_onnx_op(x, "GatherND", NULL, box, index, NULL);
    fire_onnx_int(x, "batch_dims", single ? 1 : 2);
    return view(x, box, NULL, 3, out);
}

/* Places of the candidates that no better one overlaps. */
static const char *suppress(fire_onnx_export_t *x, const head_t *h, const char *box,
                            const char *score)
{
    const int64_t dim[3] = {-1, 1, h->k};
    const char   *v, *group;

    v = fire_onnx_op(x, "NonMaxSuppression", NULL, box, view(x, score, NULL, 3, dim),
                     integer(x, h->k), fire_onnx_scalar(x, h->threshold), NULL);
    if (h->p->has_confidence_threshold)
        fire_onnx_also(x, fire_onnx_scalar(x, h->p->confidence_threshold));
    group = fire_onnx_cut(x, v, NULL, 1, 0, 1);
    group = fire_onnx_op(x, "Mul", NULL, group, integer(x, h->k), NULL);
    v = fire_onnx_op(x, "Add", NULL, group, fire_onnx_cut(x, v, NULL, 1, 2, 3), NULL);
    return flat(x, v);
}

/* An array of the shape of `like`, filled with one number. */
static const char *filled(fire_onnx_export_t *x, const char *like, float value)
{
    like = fire_onnx_op(x, "Shape", NULL, like, NULL);
    return fire_onnx_op(x, "Expand", NULL, fire_onnx_scalar(x, value), like, NULL);
}

/* Places in their order. With keep_top_k those that are among the best of their image;
 * all others have the lowest of scores, which no TopK brings back. */
static const char *keep_best(fire_onnx_export_t *x, const head_t *h, const char *place,
                             const char *score)
{
    const int64_t images[2] = {-1, h->n * h->k};
    const char   *mask, *v;

    if (h->keep < 0) {
        mask = fire_onnx_op(x, "ScatterElements", NULL, filled(x, score, 0.0f), place,
                            filled(x, place, 1.0f), NULL);
    } else {
        v = fire_onnx_op(x, "ScatterElements", NULL, filled(x, score, -FLT_MAX), place,
                         gather(x, score, place, 0), NULL);
        v = view(x, v, NULL, 2, images);
        mask  = filled(x, v, 0.0f);
        v     = fire_onnx_op(x, "TopK", NULL, v, integer(x, h->keep), NULL);
        place = fire_onnx_more(x, NULL);
        fire_onnx_int(x, "axis", 1);
        v    = fire_onnx_op(x, "Greater", NULL, v, fire_onnx_scalar(x, -FLT_MAX), NULL);
        mask = fire_onnx_op(x, "ScatterElements", NULL, mask, place,
                            cast(x, v, FIRE_ONNX(FLOAT)), NULL);
        fire_onnx_int(x, "axis", 1);
        mask = flat(x, mask);
    }
    return flat(x, fire_onnx_op(x, "NonZero", NULL, mask, NULL));
}

/* ---- rows ---- */

static const char *column(fire_onnx_export_t *x, const char *in)
{
    static const int64_t dim[2] = {-1, 1};

    return view(x, cast(x, in, FIRE_ONNX(FLOAT)), NULL, 2, dim);
}

/* Image, label, score and box of each place. */
static const char *rows_of(fire_onnx_export_t *x, const head_t *h, const char *place,
                           const char *box, const char *score)
{
    const int64_t corners[2] = {-1, 4};
    const char   *group, *image, *label;

    group = fire_onnx_op(x, "Div", NULL, place, integer(x, h->k), NULL);
    image = fire_onnx_op(x, "Div", NULL, group, integer(x, h->n), NULL);
    label = fire_onnx_op(x, "Mod", NULL, group, integer(x, h->n), NULL);
    label = join(x, column(x, image), column(x, gather(x, h->list, label, 0)), 1);
    score = join(x, label, column(x, gather(x, score, place, 0)), 1);
    box   = gather(x, view(x, box, NULL, 2, corners), place, 0);
    return join(x, score, box, 1);
}

/* Where nothing was found: for each image a row of -1 behind its number. */
static const char *empty_rows(fire_onnx_export_t *x, const char *rows)
{
    const char *found =
        fire_onnx_cut(x, fire_onnx_op(x, "Shape", NULL, rows, NULL), NULL, 0, 0, 1);
    const char *images = fire_onnx_op(x, "Shape", NULL, fire_onnx_in(x, LOC), NULL);
    const char *none, *n, *zero = fire_onnx_scalar_integer(x, 0);

    none   = fire_onnx_op(x, "Equal", NULL, found, integer(x, 0), NULL);
    images = fire_onnx_cut(x, images, NULL, 0, 0, 1);
    n = fire_onnx_op(x, "Mul", NULL, images, cast(x, none, FIRE_ONNX(INT64)), NULL);
    images =
        fire_onnx_op(x, "Range", NULL, zero, fire_onnx_op(x, "Squeeze", NULL, n, NULL),
                     fire_onnx_scalar_integer(x, 1), NULL);
    n = join(x, n, integer(x, 6), 0);
    n = fire_onnx_op(x, "Expand", NULL, fire_onnx_scalar(x, -1.0f), n, NULL);
    return join(x, column(x, images), n, 1);
}

void fire_onnx_put_detection_output(fire_onnx_export_t *x)
{
    static const int64_t dim[4] = {1, 1, -1, 7};
    head_t               h      = {0};
    const char          *score, *index, *box, *place, *rows;

    read_settings(x, &h);
    if (x->st < 0) return;
    score = best(x, &h, &index);
    box   = boxes_of(x, &h, index);
    place = suppress(x, &h, box, score);
    score = flat(x, score);
    place = keep_best(x, &h, place, score);
    rows  = rows_of(x, &h, place, box, score);
    rows  = join(x, empty_rows(x, rows), rows, 0);
    view(x, rows, fire_onnx_out(x, 0), 4, dim);
    fire_onnx_leave_open(x, 0, 2);
}
