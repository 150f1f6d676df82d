/* embed.c - looks words up in a table: each number of the bottom, an integer from 0 to
 * input_dim - 1, becomes that row of the weights, plus an optional bias.
 *
 *   bottom (...)   weights (input_dim, num_output)   bias (num_output)
 *   top    (..., num_output) */
#include <math.h>

#include "device/cpu/blas.h"
#include "layers/shape/move.h"
#include "layers/common/sums.h"

typedef struct embed {
    int64_t words, outputs;
    bool    bias;
} embed_t;

static fire_status_t embed_setup(fire_layer_t *l)
{
    const Caffe__EmbedParameter *p = l->param->embed_param;
    embed_t                     *s = FIRE_STATE(l, embed_t);

    if (p == NULL || p->num_output == 0 || p->input_dim == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "embed_param { num_output input_dim } must be given and at "
                         "least 1");
    s->words   = p->input_dim;
    s->outputs = p->num_output;
    s->bias    = p->bias_term;
    FIRE_TRY(
        fire_layer_add_blob(l, 2, (int64_t[]){s->words, s->outputs}, p->weight_filler));
    return s->bias ? fire_layer_add_blob(l, 1, &s->outputs, p->bias_filler) : FIRE_OK;
}

static fire_status_t embed_reshape(fire_layer_t *l)
{
    const fire_blob_t *x = l->bottom[0];
    int64_t            dim[FIRE_MAX_DIMS];

    if (x->ndim == FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "the input has no room for one more axis");
    for (int i = 0; i < x->ndim; i++)
        dim[i] = x->dim[i];
    dim[x->ndim] = FIRE_STATE(l, embed_t)->outputs;
    return fire_blob_reshape(l->top[0], x->ndim + 1, dim);
}

static fire_status_t row_of(const embed_t *s, float word, int64_t *row_p)
{
    if (!(word >= 0 && word < (float)s->words) || word != floorf(word))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the input holds %g; it must be whole numbers from 0 to %lld",
                         (double)word, (long long)s->words - 1);
    *row_p = (int64_t)word;
    return FIRE_OK;
}

static fire_status_t embed_forward(fire_layer_t *l)
{
    const embed_t *s = FIRE_STATE(l, embed_t);
    const float   *x, *weights, *bias = NULL;
    float         *y;
    int64_t        row = 0;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    if (s->bias) FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    FIRE_IF_GPU(l,
                fire_gpu_look_up(l->ctx->stream, s->words, s->outputs,
                                 fire_blob_count(l->bottom[0]), x, weights, bias, y));
    for (int64_t n = 0; n < fire_blob_count(l->bottom[0]); n++, y += s->outputs) {
        FIRE_TRY(row_of(s, x[n], &row));
        for (int64_t i = 0; i < s->outputs; i++)
            y[i] = weights[row * s->outputs + i] + (s->bias ? bias[i] : 0.0f);
    }
    return FIRE_OK;
}

static fire_status_t backward_bias(fire_layer_t *l, const float *dy)
{
    const embed_t *s    = FIRE_STATE(l, embed_t);
    int64_t        n    = fire_blob_count(l->bottom[0]);
    fire_scratch_t ones = {0};
    float         *diff;

    FIRE_INOUT(l, l->blob[1], FIRE_DIFF, &diff);
    FIRE_IF_GPU(l, fire_gpu_add_rows(l->ctx->stream, n, s->outputs, dy, diff));
    FIRE_TRY(fire_scratch_ones(&ones, n));
    fire_gemv(FIRE_TRANS, n, s->outputs, 1.0f, dy, ones.x, 1.0f, diff);
    fire_scratch_free(&ones);
    return FIRE_OK;
}

static fire_status_t backward_weights(fire_layer_t *l, const float *dy)
{
    const embed_t *s     = FIRE_STATE(l, embed_t);
    int64_t        words = fire_blob_count(l->bottom[0]), row = 0;
    const float   *x;
    float         *diff;

    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_INOUT(l, l->blob[0], FIRE_DIFF, &diff);
    FIRE_IF_GPU(l, fire_gpu_look_up_back(l->ctx->stream, s->words, s->outputs, words, x,
                                         dy, diff));
    for (int64_t n = 0; n < words; n++) {
        FIRE_TRY(row_of(s, x[n], &row));
        fire_axpy(s->outputs, 1.0f, dy + n * s->outputs, diff + row * s->outputs);
    }
    return FIRE_OK;
}

static fire_status_t embed_backward(fire_layer_t *l)
{
    const embed_t *s = FIRE_STATE(l, embed_t);
    const float   *dy;

    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    if (l->param_gradient[0]) FIRE_TRY(backward_weights(l, dy));
    return s->bias && l->param_gradient[1] ? backward_bias(l, dy) : FIRE_OK;
}

const fire_kernel_t fire_embed_cuda = {
    .name     = "cuda",
    .where    = FIRE_GPU,
    .forward  = embed_forward,
    .backward = embed_backward,
};

const fire_kernel_t fire_embed_ref = {
    .name     = "ref",
    .forward  = embed_forward,
    .backward = embed_backward,
};

static const fire_kernel_t *const embed_kernels[] = {
    FIRE_IF_CUDA(fire_embed_cuda) &fire_embed_ref, NULL};

const fire_layer_ops_t fire_layer_embed = {
    .type        = "Embed",
    .bottoms     = {1, 1},
    .tops        = {1, 1},
    .no_gradient = 1u << 0, /* words */
    .state_size  = sizeof(embed_t),
    .setup       = embed_setup,
    .reshape     = embed_reshape,
    .kernels     = embed_kernels,
};
