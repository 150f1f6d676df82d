/* seg_accuracy.c - SegAccuracy, of DeepLab: accuracy of dense labels from a confusion
 * matrix of this batch. Runs on the CPU.
 *
 *   bottom 0: (N, C, H, W) scores      bottom 1: (N, 1, H, W) or (N, H, W) labels
 *   top 0:    (1, 1, 1, 3) accuracy of all places, mean accuracy of the classes that
 *             occur, mean intersection over union */
#include <string.h>

#include "base/alloc.h"
#include "layers/layer.h"

typedef struct seg_accuracy {
    int64_t *confusion; /* (classes, classes): label, prediction; owned */
    int64_t  cap;
} seg_accuracy_t;

static fire_status_t seg_accuracy_reshape(fire_layer_t *l)
{
    seg_accuracy_t    *s = FIRE_STATE(l, seg_accuracy_t);
    const fire_blob_t *x = l->bottom[0];

    if (x->ndim < 2 || x->dim[1] < 1 ||
        fire_blob_count(l->bottom[1]) * x->dim[1] != fire_blob_count(x))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%lld labels for %lld scores: one is needed for all channels of "
            "a place",
            (long long)fire_blob_count(l->bottom[1]), (long long)fire_blob_count(x));
    FIRE_TRY(fire_grow(&s->confusion, &s->cap, x->dim[1] * x->dim[1],
                       sizeof(*s->confusion)));
    return fire_blob_reshape(l->top[0], 4, (int64_t[]){1, 1, 1, 3});
}

static void seg_accuracy_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, seg_accuracy_t)->confusion);
}

static bool is_ignored(const fire_layer_t *l, int label)
{
    const Caffe__SegAccuracyParameter *p = l->param->seg_accuracy_param;

    for (size_t i = 0; p != NULL && i < p->n_ignore_label; i++)
        if (p->ignore_label[i] == label) return true;
    return false;
}

/* The first of the largest scores. */
static int64_t best_of(const float *x, int64_t classes, int64_t step)
{
    int64_t best = 0;

    for (int64_t c = 1; c < classes; c++)
        if (x[c * step] > x[best * step]) best = c;
    return best;
}

static fire_status_t count(fire_layer_t *l)
{
    const seg_accuracy_t *s       = FIRE_STATE(l, seg_accuracy_t);
    fire_blob_t          *b       = l->bottom[0];
    int64_t               classes = b->dim[1];
    int64_t               plane   = fire_blob_count_range(b, 2, b->ndim);
    const float          *x, *label;

    FIRE_IN(l, b, FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    memset(s->confusion, 0, (size_t)(classes * classes) * sizeof(*s->confusion));
    for (int64_t i = 0; i < b->dim[0] * plane; i++) {
        int64_t at = i / plane * classes * plane + i % plane;

        if (!(label[i] > -2147483648.0f && label[i] < 2147483648.0f))
            return FIRE_FAIL(FIRE_ERR_INVALID, "label %g is none of the %lld classes",
                             (double)label[i], (long long)classes);
        if (is_ignored(l, (int)label[i])) continue;
        if ((int)label[i] < 0 || (int)label[i] >= classes)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "label %g is none of the %lld classes; name it as "
                             "ignore_label if it shall not count",
                             (double)label[i], (long long)classes);
        s->confusion[(int)label[i] * classes + best_of(x + at, classes, plane)]++;
    }
    return FIRE_OK;
}

static fire_status_t seg_accuracy_forward(fire_layer_t *l)
{
    const seg_accuracy_t *s       = FIRE_STATE(l, seg_accuracy_t);
    int64_t               classes = l->bottom[0]->dim[1], all = 0, hits = 0, seen = 0;
    double                accuracy = 0, overlap = 0;
    float                *top;

    FIRE_TRY(count(l));
    for (int64_t c = 0; c < classes; c++) {
        int64_t labels = 0, found = 0, hit = s->confusion[c * classes + c];

        for (int64_t k = 0; k < classes; k++) {
            labels += s->confusion[c * classes + k];
            found += s->confusion[k * classes + c];
        }
        all += labels;
        hits += hit;
        if (labels == 0) continue;
        seen++;
        accuracy += (double)hit / (double)labels;
        overlap += (double)hit / (double)(labels + found - hit);
    }
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    top[0] = all > 0 ? (float)((double)hits / (double)all) : 0.0f;
    top[1] = seen > 0 ? (float)(accuracy / (double)seen) : 0.0f;
    top[2] = seen > 0 ? (float)(overlap / (double)seen) : 0.0f;
    return FIRE_OK;
}

const fire_kernel_t fire_seg_accuracy_ref = {
    .name    = "ref",
    .forward = seg_accuracy_forward,
};

static const fire_kernel_t *const seg_accuracy_kernels[] = {&fire_seg_accuracy_ref,
                                                            NULL};

const fire_layer_ops_t fire_layer_seg_accuracy = {
    .type        = "SegAccuracy",
    .bottoms     = {2, 2},
    .tops        = {1, 1},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 3, /* neither scores nor labels */
    .state_size  = sizeof(seg_accuracy_t),
    .reshape     = seg_accuracy_reshape,
    .teardown    = seg_accuracy_teardown,
    .kernels     = seg_accuracy_kernels,
};
