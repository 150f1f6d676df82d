/* infogain_loss.c - InfogainLoss: loss = -sum over items and classes k of H[label][k]
 * log softmax(x)[k] / normalizer. With H = identity it is SoftmaxWithLoss.
 *
 *   bottom 0: (N, C, ...) scores, classes on `axis`
 *   bottom 1: (N, ...) labels: bottom 0 without the axis of classes
 *   bottom 2: (1, 1, C, C) the matrix H (optional; else from a .binaryproto)
 *   bottom 3: (N) or (N, ...) (optional) weights
 *   top 0:    () loss
 *   top 1:    (N, C, ...) (optional) softmax of bottom 0 */
#include "layers/common/softmax.h"
#include "layers/memory_cuda.h"
#include "layers/loss/losses.h"
#include "layers/loss/formulas.h"
#include "model/blob_proto.h"
#include "model/load.h"

/* The state of the layer. */
typedef struct infogain {
    fire_loss_t    loss;
    fire_softmax_t softmax;
    fire_blob_t   *prob;    /* softmax of bottom 0 */
    fire_blob_t   *matrix;  /* H from the file; NULL: bottom 2 has it */
    float         *row_sum; /* [classes] sums of H's rows, for backward */
} infogain_t;

static fire_status_t fill_matrix(const Caffe__BlobProto *proto, const char *path,
                                 fire_blob_t *h)
{
    int64_t dim[FIRE_MAX_DIMS], n;
    int     ndim;
    float  *values;

    FIRE_TRY(fire_blob_proto_shape(proto, path, &ndim, dim, &n));
    FIRE_TRY(fire_blob_reshape(h, ndim, dim));
    FIRE_TRY(fire_blob_write(h, FIRE_DATA, FIRE_CPU, &values));
    return fire_blob_proto_read(proto, FIRE_DATA, path, n, values);
}

/* Read H from a BlobProto in a file. */
static fire_status_t load_matrix(infogain_t *s, const char *path)
{
    ProtobufCMessage *msg;
    fire_status_t     st;

    FIRE_TRY(fire_blob_create(&s->matrix));
    FIRE_TRY(fire_message_load_binary(path, &caffe__blob_proto__descriptor, &msg));
    st = fill_matrix((const Caffe__BlobProto *)msg, path, s->matrix);
    fire_message_free(msg);
    return st;
}

/* Read H, unless bottom 2 has it. */
static fire_status_t infogain_setup(fire_layer_t *l)
{
    const Caffe__InfogainLossParameter *p = l->param->infogain_loss_param;
    infogain_t                         *s = l->state;

    if (l->param->loss_param != NULL && l->param->loss_param->has_normalize)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "`normalize` is not for this layer; give `normalization`");
    if (l->nbottom < 3 && (p == NULL || p->source == NULL))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the matrix is missing: give infogain_loss_param { source: "
                         "\"FILE.binaryproto\" } or a third bottom");
    fire_loss_init(&s->loss, l->param->loss_param,
                   CAFFE__LOSS_PARAMETER__NORMALIZATION_MODE__VALID);
    FIRE_TRY(fire_loss_setup_weights(&s->loss, l->param->loss_param, false));
    if (l->nbottom < 3) FIRE_TRY(load_matrix(s, p->source));
    return fire_blob_create(&s->prob);
}

/* The blob that has H. */
static fire_blob_t *matrix_of(const fire_layer_t *l)
{
    return l->nbottom < 3 ? FIRE_STATE(l, infogain_t)->matrix : l->bottom[2];
}

/* Interpret bottom 0 as (outer, classes, inner) and check the labels and H. */
static fire_status_t infogain_reshape(fire_layer_t *l)
{
    const Caffe__InfogainLossParameter *p =
        FIRE_PARAM(l, infogain_loss_param, CAFFE__INFOGAIN_LOSS_PARAMETER__INIT);
    infogain_t *s      = l->state;
    int64_t     labels = fire_blob_count(l->bottom[1]), places, k;

    FIRE_TRY(fire_loss_reshape(l));
    FIRE_TRY(fire_softmax_reshape(&s->softmax, l->bottom[0], p->axis));
    places = s->softmax.outer * s->softmax.inner;
    k      = s->softmax.classes;
    if (labels != places)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld labels for %lld predictions",
                         (long long)labels, (long long)places);
    if (fire_blob_count(matrix_of(l)) != k * k)
        return FIRE_FAIL(
            FIRE_ERR_INVALID, "the matrix has %lld elements; %lld classes need %lld",
            (long long)fire_blob_count(matrix_of(l)), (long long)k, (long long)(k * k));
    FIRE_TRY(fire_loss_check_weights(l, &s->loss, 3, places, k));
    fire_free(s->row_sum);
    s->row_sum = NULL;
    FIRE_TRY(FIRE_NEW(&s->row_sum, k));
    FIRE_TRY(fire_blob_reshape_like(s->prob, l->bottom[0]));
    if (l->ntop < 2) return FIRE_OK;
    FIRE_TRY(fire_blob_reshape_like(l->top[1], l->bottom[0]));
    fire_blob_share(l->top[1], s->prob, FIRE_DATA);
    return FIRE_OK;
}

/* The arguments of the GPU kernels, weights included. */
static fire_status_t gpu_view(fire_layer_t *l, const float *h, const float *label,
                              fire_gpu_infogain_t *view_p)
{
    const infogain_t     *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    fire_weights_t        w;

    FIRE_TRY(fire_loss_weights(l, &s->loss, 3, m->outer * m->inner, &w));
    *view_p =
        (fire_gpu_infogain_t){s->loss, m->outer, m->classes, m->inner, h, label, w};
    return FIRE_OK;
}

/* x, prob: (outer, classes, inner). label: (outer, inner). h: (classes, classes). */
static fire_status_t infogain_forward(fire_layer_t *l)
{
    infogain_t           *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    const float          *x, *label, *h;
    float                *prob, *top, loss = 0.0f;
    int64_t               valid = 0, c;
    fire_gpu_infogain_t   view;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, matrix_of(l), FIRE_DATA, &h);
    FIRE_OUT(l, s->prob, FIRE_DATA, &prob);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &top);
    FIRE_TRY(gpu_view(l, h, label, &view));
    FIRE_IF_GPU(l, fire_gpu_infogain_loss(l->ctx->stream, &view, x, prob,
                                          fire_gpu_kept(l), top));
    fire_softmax_forward(m, x, prob);
    for (int64_t i = 0; i < m->outer; i++)
        for (int64_t j = 0; j < m->inner; j++) {
            const float *p = prob + i * m->classes * m->inner + j;

            FIRE_TRY(
                fire_loss_label(&s->loss, label[i * m->inner + j], i, m->classes, &c));
            if (c == FIRE_LABEL_IGNORED) continue;
            for (int64_t k = 0; k < m->classes; k++)
                loss -= h[c * m->classes + k] *
                        fire_weight_of(view.weights, i * m->inner + j, c) *
                        logf(fire_max(p[k * m->inner], FIRE_LEAST_PROBABILITY));
            valid++;
        }
    top[0] = loss / fire_loss_normalizer(&s->loss, m->outer, m->inner, valid);
    return FIRE_OK;
}

/* The gradient of class k is p[k] * (sum of H's row) - H[label][k]. */
static void sum_rows(const infogain_t *s, const float *h)
{
    for (int64_t c = 0; c < s->softmax.classes; c++) {
        s->row_sum[c] = 0.0f;
        for (int64_t k = 0; k < s->softmax.classes; k++)
            s->row_sum[c] += *h++;
    }
}

/* dx[k] = prob[k] * (sum of H[label]) - H[label][k], times loss weight / normalizer. */
static fire_status_t infogain_backward(fire_layer_t *l)
{
    infogain_t           *s = l->state;
    const fire_softmax_t *m = &s->softmax;
    const float          *prob, *label, *h, *seed;
    float                *dx, weight;
    int64_t               valid = 0, c;
    fire_gpu_infogain_t   view;

    if (!l->propagate_down[0]) return FIRE_OK;
    FIRE_IN(l, l->bottom[1], FIRE_DATA, &label);
    FIRE_IN(l, matrix_of(l), FIRE_DATA, &h);
    FIRE_IN(l, s->prob, FIRE_DATA, &prob);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &seed);
    FIRE_TRY(gpu_view(l, h, label, &view));
    FIRE_IF_GPU(l, fire_gpu_infogain_dx(l->ctx->stream, &view, seed, prob,
                                        fire_gpu_kept(l), dx));
    sum_rows(s, h);
    for (int64_t i = 0; i < m->outer; i++)
        for (int64_t j = 0; j < m->inner; j++) {
            int64_t at = i * m->classes * m->inner + j;

            FIRE_TRY(
                fire_loss_label(&s->loss, label[i * m->inner + j], i, m->classes, &c));
            valid += c != FIRE_LABEL_IGNORED;
            for (int64_t k = 0; k < m->classes; k++, at += m->inner)
                dx[at] = c == FIRE_LABEL_IGNORED
                             ? 0.0f
                             : (prob[at] * s->row_sum[c] - h[c * m->classes + k]) *
                                   fire_weight_of(view.weights, i * m->inner + j, c);
        }
    weight = seed[0] / fire_loss_normalizer(&s->loss, m->outer, m->inner, valid);
    for (int64_t i = 0; i < fire_blob_count(l->bottom[0]); i++)
        dx[i] *= weight;
    return FIRE_OK;
}

static void infogain_teardown(fire_layer_t *l)
{
    infogain_t *s = l->state;

    fire_softmax_fini(&s->softmax);
    fire_blob_destroy(s->prob);
    fire_blob_destroy(s->matrix);
    fire_loss_fini(&s->loss);
    fire_free(s->row_sum);
}

#ifdef FIRE_HAVE_CUDA
const fire_kernel_t fire_infogain_loss_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .prepare  = fire_gpu_keep_float /* the normalizer */,
    .forward  = infogain_forward,
    .backward = infogain_backward,
    .release  = fire_gpu_release,
};
#endif

const fire_kernel_t fire_infogain_loss_ref = {
    .name     = "ref",
    .forward  = infogain_forward,
    .backward = infogain_backward,
};

static const fire_kernel_t *const infogain_kernels[] = {
    FIRE_IF_CUDA(fire_infogain_loss_cuda) &fire_infogain_loss_ref, NULL};

const fire_layer_ops_t fire_layer_infogain_loss = {
    .type        = "InfogainLoss",
    .bottoms     = {2, 4},
    .tops        = {1, 2},
    .flags       = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .no_gradient = 14,
    .state_size  = sizeof(infogain_t),
    .setup       = infogain_setup,
    .reshape     = infogain_reshape,
    .teardown    = infogain_teardown,
    .kernels     = infogain_kernels,
};
