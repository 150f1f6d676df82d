/* filler.c - Caffe's fillers. For an inner product's weights (outputs, inputs) or a
 * convolution's (outputs, channels, height, width), fan_in is count / dim[0] and
 * fan_out count / dim[1]. */
#include "blob/filler.h"

#include <math.h>
#include <string.h>

/* A blob being filled. */
typedef struct fill {
    const Caffe__FillerParameter *p;
    const fire_blob_t            *blob;
    fire_rng_key_t                key; /* of the random numbers, unless there is mt */
    fire_mt_t                    *mt;
    int64_t                       n; /* elements of x */
    float                        *x;
} fill_t;

static void uniform(const fill_t *f, float lo, float hi)
{
    for (int64_t i = 0; i < f->n; i++)
        f->x[i] = f->mt != NULL
                      ? fire_mt_uniform(f->mt, lo, hi)
                      : lo + (hi - lo) * fire_rng_uniform(f->key, (uint64_t)i);
}

static void gaussian(const fill_t *f, float mean, float std)
{
    for (int64_t i = 0; i < f->n; i++)
        f->x[i] = f->mt != NULL ? fire_mt_gaussian(f->mt, mean, std)
                                : mean + std * fire_rng_gaussian(f->key, (uint64_t)i);
}

/* fan_in, fan_out or their mean, by variance_norm. */
static float fan(const fill_t *f)
{
    const fire_blob_t *b   = f->blob;
    float              in  = b->ndim > 0 ? (float)(f->n / b->dim[0]) : (float)f->n;
    float              out = b->ndim > 1 ? (float)(f->n / b->dim[1]) : (float)f->n;

    switch (f->p->variance_norm) {
    case CAFFE__FILLER_PARAMETER__VARIANCE_NORM__FAN_OUT:
        return out;
    case CAFFE__FILLER_PARAMETER__VARIANCE_NORM__AVERAGE:
        return (in + out) / 2.0f;
    default:
        return in;
    }
}

static fire_status_t fill_constant(const fill_t *f)
{
    for (int64_t i = 0; i < f->n; i++)
        f->x[i] = f->p->value;
    return FIRE_OK;
}

static fire_status_t fill_uniform(const fill_t *f)
{
    uniform(f, f->p->min, f->p->max);
    return FIRE_OK;
}

/* Normal distribution. With `sparse: s`, each output keeps about s non-zero inputs:
 * every weight is kept with probability s / dim[0]. */
static fire_status_t fill_gaussian(const fill_t *f)
{
    fire_rng_key_t mask = {{f->key.k[0] ^ 0x5bd1e995u, f->key.k[1]}};
    float          keep;

    gaussian(f, f->p->mean, f->p->std);
    if (f->p->sparse < 0) return FIRE_OK;
    if (f->blob->ndim < 1)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "a sparse gaussian filler needs a blob with at least one axis");
    keep = (float)f->p->sparse / (float)f->blob->dim[0];
    for (int64_t i = 0; i < f->n; i++)
        f->x[i] *= f->mt != NULL ? (float)fire_mt_bernoulli(f->mt, keep)
                                 : (float)(fire_rng_uniform(mask, (uint64_t)i) < keep);
    return FIRE_OK;
}

/* Uniform in 0 ... 1, then divided so that the weights of each output sum to 1. */
static fire_status_t fill_positive_unitball(const fill_t *f)
{
    int64_t rows = f->blob->ndim > 0 ? f->blob->dim[0] : 1, len = f->n / rows;

    uniform(f, 0, 1);
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;

        for (int64_t i = 0; i < len; i++)
            sum += f->x[r * len + i];
        for (int64_t i = 0; i < len; i++)
            f->x[r * len + i] /= sum;
    }
    return FIRE_OK;
}

/* Uniform in +-sqrt(3 / fan), i.e. variance 1 / fan (Glorot and Bengio, 2010). */
static fire_status_t fill_xavier(const fill_t *f)
{
    float scale = sqrtf(3.0f / fan(f));

    uniform(f, -scale, scale);
    return FIRE_OK;
}

/* Normal with variance 2 / fan (He and others, 2015). */
static fire_status_t fill_msra(const fill_t *f)
{
    gaussian(f, 0, sqrtf(2.0f / fan(f)));
    return FIRE_OK;
}

/* Bilinear interpolation weights, for a Deconvolution that enlarges images: (n, c, k,
 * k), all channels the same. */
static fire_status_t fill_bilinear(const fill_t *f)
{
    const int64_t *dim = f->blob->dim;
    float          half, center;

    if (f->blob->ndim != 4 || dim[2] != dim[3])
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a bilinear filler needs 4 axes and a square kernel");
    half   = ceilf((float)dim[3] / 2.0f);
    center = ((float)dim[3] - 1) / (2.0f * half);
    for (int64_t i = 0; i < f->n; i++) {
        float x = (float)(i % dim[3]), y = (float)((i / dim[3]) % dim[2]);

        f->x[i] = (1 - fabsf(x / half - center)) * (1 - fabsf(y / half - center));
    }
    return FIRE_OK;
}

static const struct {
    const char *name;
    fire_status_t (*fill)(const fill_t *f);
} fillers[] = {
    {"constant", fill_constant},
    {"gaussian", fill_gaussian},
    {"positive_unitball", fill_positive_unitball},
    {"uniform", fill_uniform},
    {"xavier", fill_xavier},
    {"msra", fill_msra},
    {"bilinear", fill_bilinear},
};

typedef fire_status_t fill_function_t(const fill_t *f);

static fire_status_t find(const char *name, fill_function_t **fill_p)
{
    for (size_t i = 0; i < sizeof(fillers) / sizeof(fillers[0]); i++)
        if (strcmp(fillers[i].name, name) == 0) {
            *fill_p = fillers[i].fill;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "unknown filler \"%s\"; known are constant, gaussian, "
                     "positive_unitball, uniform, xavier, msra, bilinear",
                     name);
}

fire_status_t fire_filler_check(const Caffe__FillerParameter *filler)
{
    fill_function_t *fill;

    return find(filler->type, &fill);
}

fire_status_t fire_filler_fill(const Caffe__FillerParameter *filler, fire_blob_t *blob,
                               fire_rng_key_t key, fire_mt_t *mt)
{
    fill_t           f = {filler, blob, key, mt, fire_blob_count(blob), NULL};
    fill_function_t *fill;

    if (f.n == 0) return FIRE_OK;
    FIRE_TRY(find(filler->type, &fill));
    FIRE_TRY(fire_blob_write(blob, FIRE_DATA, FIRE_CPU, &f.x));
    return fill(&f);
}
