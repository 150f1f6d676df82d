/* align.c - see align.h: reshaping and kernels, on the CPU region by region. */
#include "layers/vision/align.h"

fire_status_t fire_align_reshape(fire_layer_t *l, int64_t height, int64_t width)
{
    FIRE_TRY(fire_roi_check_shapes(l));
    return fire_blob_reshape(
        l->top[0], 4,
        (int64_t[]){l->bottom[1]->dim[0], l->bottom[0]->dim[1], height, width});
}

/* What a pass over all bins does: y from x, or with dx: dx from dy, or with droi: the
 * gradient of the region from x and dy. */
typedef struct pass {
    const fire_align_t *a;
    const float        *x, *dy;
    float              *y, *dx, *droi;
} pass_t;

static void spread(const fire_mix_t *h, const fire_mix_t *w, int64_t width, float dy,
                   float *dx)
{
    dx[h->low * width + w->low] += h->w_low * w->w_low * dy;
    dx[h->low * width + w->high] += h->w_low * w->w_high * dy;
    dx[h->high * width + w->low] += h->w_high * w->w_low * dy;
    dx[h->high * width + w->high] += h->w_high * w->w_high * dy;
}

/* A point at bin / bins of the region moves with both of its ends. */
static void pull(const pass_t *p, const fire_mix_t *h, const fire_mix_t *w,
                 const int64_t *bin, const float *x, float dy, float *droi)
{
    const fire_align_t *a = p->a;
    float               slope[2];

    fire_align_slope(h, w, a->in[3], x, slope);
    for (int i = 0; i < 2; i++) {
        float far = (float)bin[i] / (float)a->out[2 + i];

        droi[2 - i] += (1.0f - far) * a->scale * slope[i] * dy;
        droi[4 - i] += far * a->scale * slope[i] * dy;
    }
}

/* One bin of one channel; plane: where its map begins. */
static void visit_bin(const pass_t *p, const fire_lattice_t *t, const int64_t *bin,
                      int64_t plane, int64_t at, float *droi)
{
    const fire_align_t *a     = p->a;
    int64_t             count = t->points[0] * t->points[1];
    float               sum   = 0.0f;

    for (int64_t i = 0; i < t->points[0]; i++) {
        fire_mix_t h = fire_align_point(a, t, 0, bin[0], i);

        for (int64_t j = 0; j < t->points[1]; j++) {
            fire_mix_t w = fire_align_point(a, t, 1, bin[1], j);

            if (droi != NULL)
                pull(p, &h, &w, bin, p->x + plane, p->dy[at], droi);
            else if (p->dx != NULL)
                spread(&h, &w, a->in[3], p->dy[at] / (float)count, p->dx + plane);
            else
                sum += fire_align_value(&h, &w, a->in[3], p->x + plane);
        }
    }
    if (p->y != NULL) p->y[at] = count > 0 ? sum / (float)count : 0.0f;
}

/* Walk through all bins of all channels of all regions. */
static fire_status_t visit(const fire_layer_t *l, const pass_t *p)
{
    const fire_align_t *a = p->a;
    int64_t             image, at = 0, plane = a->in[2] * a->in[3], bin[2];

    for (int64_t r = 0; r < a->out[0]; r++) {
        fire_lattice_t t    = fire_align_lattice(a, r);
        float         *droi = p->droi != NULL ? p->droi + r * FIRE_ROI_ROW : NULL;

        image = r;
        if (a->roi != NULL)
            FIRE_TRY(fire_roi_image(l, a->roi + r * FIRE_ROI_ROW, &image));
        for (int64_t c = 0; c < a->out[1]; c++)
            for (bin[0] = 0; bin[0] < a->out[2]; bin[0]++)
                for (bin[1] = 0; bin[1] < a->out[3]; bin[1]++)
                    visit_bin(p, &t, bin, (image * a->in[1] + c) * plane, at++, droi);
    }
    return FIRE_OK;
}

/* The shapes and regions of this pass. */
static fire_status_t read_regions(fire_layer_t *l, fire_align_t *a)
{
    *a = *FIRE_STATE(l, fire_align_t);
    fire_align_shapes(l, a);
    if (a->kind != FIRE_ALIGN_SIZE) FIRE_IN(l, l->bottom[1], FIRE_DATA, &a->roi);
    return FIRE_OK;
}

static fire_status_t align_forward(fire_layer_t *l)
{
    fire_align_t a;
    pass_t       p = {.a = &a};

    FIRE_TRY(read_regions(l, &a));
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &p.x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &p.y);
    FIRE_IF_GPU(l, fire_gpu_align(l->ctx->stream, &a, p.x, p.y));
    return visit(l, &p);
}

static fire_status_t backward_to_map(fire_layer_t *l)
{
    fire_align_t a;
    pass_t       p = {.a = &a};

    FIRE_TRY(read_regions(l, &a));
    FIRE_IN(l, l->top[0], FIRE_DIFF, &p.dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &p.dx);
    FIRE_IF_GPU(l, fire_gpu_align_back(l->ctx->stream, &a, p.dy, p.dx));
    fire_fill(fire_blob_count(l->bottom[0]), 0.0f, p.dx);
    return visit(l, &p);
}

static fire_status_t backward_to_regions(fire_layer_t *l)
{
    fire_align_t a;
    pass_t       p = {.a = &a};

    FIRE_TRY(read_regions(l, &a));
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &p.x);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &p.dy);
    FIRE_OUT(l, l->bottom[1], FIRE_DIFF, &p.droi);
    FIRE_IF_GPU(l, fire_gpu_align_back_roi(l->ctx->stream, &a, p.x, p.dy, p.droi));
    fire_fill(fire_blob_count(l->bottom[1]), 0.0f, p.droi);
    return visit(l, &p);
}

static fire_status_t align_backward(fire_layer_t *l)
{
    if (l->propagate_down[0]) FIRE_TRY(backward_to_map(l));
    return l->nbottom > 1 && l->propagate_down[1] ? backward_to_regions(l) : FIRE_OK;
}

const fire_kernel_t fire_align_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = align_forward,
    .backward = align_backward,
};

const fire_kernel_t fire_align_ref = {
    .name     = "ref",
    .forward  = align_forward,
    .backward = align_backward,
};

const fire_kernel_t *const fire_align_kernels[] = {
    FIRE_IF_CUDA(fire_align_cuda) &fire_align_ref, NULL};
