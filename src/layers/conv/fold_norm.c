/* fold_norm.c - in inference, folds BatchNorm and Scale behind a convolution into its
 * weights and bias: with constant statistics both are y = factor[c] * x + shift[c], so
 *
 *     weights'[c] = factor[c] * weights[c]
 *     bias'[c]    = factor[c] * bias[c] + shift[c] */
#include <math.h>
#include <string.h>

#include "device/cpu/parallel.h"
#include "layers/norm/batch_norm.h"
#include "layers/norm/scale.h"
#include "layers/conv/conv.h"

static bool is_channel_scale(const fire_layer_t *l)
{
    return strcmp(l->ops->type, "Scale") == 0 && l->nbottom == 1 && l->nblob > 0 &&
           FIRE_STATE(l, fire_scale_t)->axis == 1 && l->blob[0]->ndim == 1;
}

bool fire_conv_folds_norm(const fire_layer_t *l, const fire_layer_t *next)
{
    if (!l->ctx->inference || FIRE_STATE(l, fire_conv_t)->axis != 1) return false;
    if (fire_is_batch_norm(next))
        return l->fusion.nfollower == 0 && next->ntop == 1 &&
               FIRE_STATE(next, fire_batch_norm_t)->use_global;
    return fire_layer_follower(l, "Scale") == NULL && is_channel_scale(next);
}

bool fire_conv_has_folded_norm(const fire_layer_t *l)
{
    return (l->fusion.nfollower > 0 && fire_is_batch_norm(l->fusion.follower[0])) ||
           fire_layer_follower(l, "Scale") != NULL;
}

void fire_conv_teardown(fire_layer_t *l)
{
    fire_conv_folded_t *f = &FIRE_STATE(l, fire_conv_t)->folded;

    fire_blob_destroy(f->weights);
    fire_blob_destroy(f->bias);
}

/* Continue a hash (FNV-1a) with the versions of all blobs of a layer. */
static uint64_t version_of(uint64_t h, const fire_layer_t *l)
{
    for (int i = 0; i < l->nblob; i++) {
        const fire_storage_t *s = l->blob[i]->part[FIRE_DATA];

        h = (h ^ (uint64_t)(uintptr_t)s) * 1099511628211u;
        h = (h ^ fire_storage_version(s)) * 1099511628211u;
    }
    return h;
}

/* (factor, shift) = (factor, shift) * gain + (0, more): gain and more are indices of
 * l's blobs; more < 0: none. n channels */
static fire_status_t apply_gain(const fire_layer_t *l, int gain, int more, int64_t n,
                                float *factor, float *shift)
{
    const float *g, *b = NULL;

    FIRE_IN(l, l->blob[gain], FIRE_DATA, &g);
    if (more >= 0) FIRE_IN(l, l->blob[more], FIRE_DATA, &b);
    for (int64_t c = 0; c < n; c++) {
        factor[c] *= g[c];
        shift[c] = shift[c] * g[c] + (b != NULL ? b[c] : 0.0f);
    }
    return FIRE_OK;
}

/* (factor, shift) = ((factor, shift) - (0, mean)) / sqrt(variance + eps). scratch: 2
 * n */
static fire_status_t apply_norm(fire_layer_t *l, int64_t n, float *scratch,
                                float *factor, float *shift)
{
    const fire_batch_norm_t *s    = FIRE_STATE(l, fire_batch_norm_t);
    float                   *mean = scratch, *variance = scratch + n;

    FIRE_TRY(fire_batch_norm_read(l, mean, variance));
    for (int64_t c = 0; c < n; c++) {
        float inverse = 1.0f / sqrtf(variance[c] + s->eps);

        factor[c] *= inverse;
        shift[c] = (shift[c] - mean[c]) * inverse;
    }
    return s->at.gain < 0 ? FIRE_OK
                          : apply_gain(l, s->at.gain, s->at.shift, n, factor, shift);
}

/* Factor and shift of all absorbed layers, one after another. */
static fire_status_t gather(fire_layer_t *l, int64_t n, float *scratch, float *factor,
                            float *shift)
{
    for (int i = 0; i < l->fusion.nfollower; i++) {
        fire_layer_t *f = l->fusion.follower[i];

        if (fire_is_batch_norm(f))
            FIRE_TRY(apply_norm(f, n, scratch, factor, shift));
        else if (strcmp(f->ops->type, "Scale") == 0)
            FIRE_TRY(
                apply_gain(f, 0, FIRE_STATE(f, fire_scale_t)->bias, n, factor, shift));
    }
    return FIRE_OK;
}

/* Folded weights, plain, to w, folded bias to shift. n: map channels; scratch: 3 n */
static fire_status_t fold(fire_layer_t *l, int64_t n, float *scratch, float *w,
                          float *shift)
{
    int64_t      each   = fire_blob_count(l->blob[0]) / n;
    float       *factor = scratch + 2 * n;
    const float *weights, *bias;

    FIRE_IN(l, l->blob[0], FIRE_DATA, &weights);
    memset(shift, 0, (size_t)n * sizeof(*shift));
    if (l->nblob > 1) {
        FIRE_IN(l, l->blob[1], FIRE_DATA, &bias);
        memcpy(shift, bias, (size_t)n * sizeof(*shift));
    }
    for (int64_t c = 0; c < n; c++)
        factor[c] = 1.0f;
    FIRE_TRY(gather(l, n, scratch, factor, shift));
    FIRE_PARALLEL(c, n, n * each > FIRE_GRAIN)
    for (int64_t i = 0; i < each; i++)
        w[c * each + i] = weights[c * each + i] * factor[c];
    return FIRE_OK;
}

static fire_status_t fit(fire_layer_t *l, fire_conv_folded_t *f)
{
    if (f->weights == NULL) FIRE_TRY(fire_blob_create(&f->weights));
    if (f->bias == NULL) FIRE_TRY(fire_blob_create(&f->bias));
    fire_blob_use_pool(f->weights, l->ctx->pool, true);
    FIRE_TRY(fire_blob_reshape_like(f->weights, l->blob[0]));
    return fire_blob_reshape(f->bias, 1, &l->blob[0]->dim[0]);
}

/* Make the folded blobs; the weights keep no copy but the one in `format`. scratch: 3 n
 * floats and all weights */
static fire_status_t fold_as(fire_layer_t *l, const fire_format_t *format,
                             float *scratch)
{
    fire_blob_t  *to    = FIRE_STATE(l, fire_conv_t)->folded.weights;
    fire_blob_t  *bias  = FIRE_STATE(l, fire_conv_t)->folded.bias;
    fire_format_t plain = FIRE_FORMAT_PLAIN(FIRE_CPU);
    int64_t       n     = fire_blob_count(bias);
    float        *shift;
    void         *w;

    FIRE_OUT(l, bias, FIRE_DATA, &shift);
    FIRE_TRY(fold(l, n, scratch, scratch + 3 * n, shift));
    fire_storage_clear(to->part[FIRE_DATA]);
    FIRE_OUT_AS(to, FIRE_DATA, format, &w);
    return fire_device_find(FIRE_CPU)->convert(&plain, scratch + 3 * n, format, w,
                                               to->ndim, to->dim);
}

static uint64_t version_of_all(const fire_layer_t *l)
{
    uint64_t h = version_of(1469598103934665603u, l);

    for (int i = 0; i < l->fusion.nfollower; i++)
        h = version_of(h, l->fusion.follower[i]);
    return h;
}

static fire_status_t make_folded(fire_layer_t *l, const fire_format_t *format)
{
    fire_conv_folded_t *f   = &FIRE_STATE(l, fire_conv_t)->folded;
    uint64_t            now = version_of_all(l);
    size_t              floats;
    void               *scratch;
    fire_status_t       st;

    if (f->weights != NULL && f->made_of == now &&
        fire_storage_has(f->weights->part[FIRE_DATA], format))
        return FIRE_OK;
    FIRE_TRY(fit(l, f));
    floats = (size_t)(3 * fire_blob_count(f->bias) + fire_blob_count(f->weights));
    FIRE_TRY(fire_pool_take(l->ctx->pool, floats * sizeof(float), &scratch));
    st = fold_as(l, format, scratch);
    fire_pool_give(l->ctx->pool, scratch);
    if (st == FIRE_OK) f->made_of = now;
    return st;
}

fire_status_t fire_conv_weights(fire_layer_t *l, const fire_format_t *format,
                                const void **weights_p, const float **bias_p)
{
    fire_blob_t *weights = l->blob[0], *bias = l->nblob > 1 ? l->blob[1] : NULL;

    if (fire_conv_has_folded_norm(l)) {
        FIRE_TRY(make_folded(l, format));
        weights = FIRE_STATE(l, fire_conv_t)->folded.weights;
        bias    = FIRE_STATE(l, fire_conv_t)->folded.bias;
    }
    *bias_p = NULL;
    if (bias != NULL) FIRE_IN(l, bias, FIRE_DATA, bias_p);
    FIRE_IN_AS(weights, FIRE_DATA, format, weights_p);
    return FIRE_OK;
}
