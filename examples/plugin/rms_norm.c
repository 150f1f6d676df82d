/* rms_norm.c - a plug-in with one layer, RMSNorm (Zhang and Sennrich, 2019): every sample
 * is divided by the root of the mean of its squares, and every channel multiplied by a
 * factor gamma that is learnt.
 *
 *     y = gamma[c] x / rms(x),   rms(x)^2 = mean of x^2 over the sample + eps
 *
 *     layer {
 *       name: "norm1"  type: "RMSNorm"  bottom: "conv1"  top: "norm1"
 *       rms_norm_param {
 *         eps: 1e-5                                        # the defaults
 *         affine: true                                     # false: no gamma
 *         gamma_filler { type: "constant" value: 1 }
 *       }
 *     }
 *
 *     bottom: (num, channels, ...)   top: the same   parameter 0: gamma (channels)
 *
 * rms_norm.cu is the same for GPUs. */
#include "rms_norm.h"

#include <math.h>

/* ---- the layer ---- */

static fire_status_t setup(fire_layer_t *l)
{
    rms_norm_t    *s        = fire_layer_state(l);
    fire_values_t *v        = fire_layer_values(l);
    fire_blob_t   *x        = fire_layer_bottom(l, 0);
    int64_t        channels = fire_blob_ndim(x) > 1 ? fire_blob_dims(x)[1] : 1;

    TRY(fire_values_number(v, "eps", 1e-5, &s->eps));
    TRY(fire_values_bool(v, "affine", true, &s->learns));
    if (!(s->eps > 0))
        return fire_fail(FIRE_ERR_INVALID, "eps is %g; it must be above 0", s->eps);
    TRY(fire_blob_create(&s->scale));
    if (!s->learns) return FIRE_OK;
    return fire_layer_add_param(l, 1, &channels, "gamma_filler",
                                "type: 'constant' value: 1");
}

static fire_status_t reshape(fire_layer_t *l)
{
    rms_norm_t  *s    = fire_layer_state(l);
    fire_blob_t *x    = fire_layer_bottom(l, 0);
    int          ndim = fire_blob_ndim(x);

    if (ndim < 2)
        return fire_fail(FIRE_ERR_INVALID,
                         "the bottom has %d axes; it needs num and channels", ndim);
    s->rows     = fire_blob_dims(x)[0];
    s->channels = fire_blob_dims(x)[1];
    s->inner    = fire_blob_count_range(x, 2, ndim);
    if (s->learns && s->channels != fire_blob_count(fire_layer_param(l, 0)))
        return fire_fail(FIRE_ERR_INVALID,
                         "gamma has %lld elements, the bottom %lld "
                         "channels",
                         (long long)fire_blob_count(fire_layer_param(l, 0)),
                         (long long)s->channels);
    TRY(fire_blob_reshape(s->scale, 1, &s->rows));
    return fire_layer_reshape_same(l);
}

static void teardown(fire_layer_t *l)
{
    rms_norm_t *s = fire_layer_state(l);

    fire_blob_destroy(s->scale);
}

/* ---- on the CPU ---- */

/* What the threads share. gamma is NULL for affine: false. */
typedef struct job {
    const rms_norm_t *s;
    const float      *x, *gamma, *dy;
    float            *y, *scale, *dx, *dgamma;
} job_t;

static float gamma_at(const job_t *j, int64_t k)
{
    return j->gamma != NULL ? j->gamma[k / j->s->inner] : 1;
}

/* Rows begin ... end - 1. */
static void forward_rows(void *arg, int64_t begin, int64_t end)
{
    const job_t *j = arg;
    int64_t      n = j->s->channels * j->s->inner;

    for (int64_t r = begin; r < end; r++) {
        const float *x   = j->x + r * n;
        float       *y   = j->y + r * n;
        double       sum = 0;

        for (int64_t k = 0; k < n; k++)
            sum += (double)x[k] * x[k];
        j->scale[r] = (float)(1 / sqrt(sum / (double)n + j->s->eps));
        for (int64_t k = 0; k < n; k++)
            y[k] = gamma_at(j, k) * (x[k] * j->scale[r]);
    }
}

static fire_status_t forward(fire_layer_t *l)
{
    rms_norm_t *s = fire_layer_state(l);
    job_t       j = {.s = s};

    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &j.x));
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &j.y));
    TRY(fire_blob_write(s->scale, FIRE_DATA, FIRE_CPU, &j.scale));
    if (s->learns)
        TRY(fire_blob_read(fire_layer_param(l, 0), FIRE_DATA, FIRE_CPU, &j.gamma));
    fire_layer_parallel(l, s->rows, 1, forward_rows, &j);
    return FIRE_OK;
}

/* dx = scale (g - x scale^2 mean(g x)), with g = gamma dy */
static void backward_rows(void *arg, int64_t begin, int64_t end)
{
    const job_t *j = arg;
    int64_t      n = j->s->channels * j->s->inner;

    for (int64_t r = begin; r < end; r++) {
        const float *x = j->x + r * n, *dy = j->dy + r * n;
        double       scale = j->scale[r], sum = 0, pull;

        for (int64_t k = 0; k < n; k++)
            sum += (double)gamma_at(j, k) * dy[k] * x[k];
        pull = scale * scale * sum / (double)n;
        for (int64_t k = 0; k < n; k++)
            j->dx[r * n + k] =
                (float)(scale * ((double)gamma_at(j, k) * dy[k] - x[k] * pull));
    }
}

/* dgamma[c] += sum of dy x scale over rows and places, for channels begin ... end - 1.
 * One thread sums a channel, in a fixed order: the bits are the same on any number of
 * threads. */
static void backward_channels(void *arg, int64_t begin, int64_t end)
{
    const job_t      *j = arg;
    const rms_norm_t *s = j->s;

    for (int64_t c = begin; c < end; c++) {
        double sum = 0;

        for (int64_t r = 0; r < s->rows; r++) {
            int64_t at = (r * s->channels + c) * s->inner;

            for (int64_t k = 0; k < s->inner; k++)
                sum += (double)j->dy[at + k] * j->x[at + k] * j->scale[r];
        }
        j->dgamma[c] += (float)sum;
    }
}

static fire_status_t backward(fire_layer_t *l)
{
    rms_norm_t  *s = fire_layer_state(l);
    job_t        j = {.s = s};
    const float *scale;

    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &j.x));
    TRY(fire_blob_read(fire_layer_top(l, 0), FIRE_DIFF, FIRE_CPU, &j.dy));
    TRY(fire_blob_read(s->scale, FIRE_DATA, FIRE_CPU, &scale));
    j.scale = (float *)scale;
    if (s->learns)
        TRY(fire_blob_read(fire_layer_param(l, 0), FIRE_DATA, FIRE_CPU, &j.gamma));
    if (fire_layer_wants_bottom(l, 0)) { /* overwrite */
        TRY(fire_blob_write(fire_layer_bottom(l, 0), FIRE_DIFF, FIRE_CPU, &j.dx));
        fire_layer_parallel(l, s->rows, 1, backward_rows, &j);
    }
    if (s->learns && fire_layer_wants_param(l, 0)) { /* add */
        TRY(fire_blob_update(fire_layer_param(l, 0), FIRE_DIFF, FIRE_CPU, &j.dgamma));
        fire_layer_parallel(l, s->channels, 1, backward_channels, &j);
    }
    return FIRE_OK;
}

/* ---- what the library sees ---- */

static const fire_plugin_kernel_t rms_norm_ref = {
    .size     = sizeof(rms_norm_ref),
    .name     = "ref",
    .where    = FIRE_CPU,
    .reads    = FIRE_READS_BOTTOM,
    .forward  = forward,
    .backward = backward,
};

#ifdef RMS_NORM_CUDA
extern const fire_plugin_kernel_t rms_norm_cuda; /* rms_norm.cu */
#endif

static const fire_plugin_kernel_t *const kernels[] = {
#ifdef RMS_NORM_CUDA
    &rms_norm_cuda,
#endif
    &rms_norm_ref,
    NULL,
};

static const fire_plugin_layer_t rms_norm = {
    .size       = sizeof(rms_norm),
    .type       = "RMSNorm",
    .min_bottom = 1,
    .max_bottom = 1,
    .min_top    = 1,
    .max_top    = 1,
    .flags      = FIRE_LAYER_STEADY,
    .state_size = sizeof(rms_norm_t),
    .setup      = setup,
    .reshape    = reshape,
    .teardown   = teardown,
    .kernels    = kernels,
};

static const fire_plugin_layer_t *const layers[] = {&rms_norm, NULL};

const fire_plugin_t fire_plugin = {
    .version     = FIRE_PLUGIN_VERSION,
    .size        = sizeof(fire_plugin),
    .name        = "rms_norm",
    .description = "RMSNorm: division by the root mean square of a sample",
    .layers      = layers,
};
