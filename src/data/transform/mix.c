/* mix.c - draws pairs and shares of mixup, and mixes rows. */
#include "data/transform/mix.h"

#include <math.h>

#include "data/transform/draw.h"

fire_status_t fire_mix_rule_init(fire_mix_rule_t               *rule,
                                 const Caffe__AugmentParameter *a, Caffe__Phase phase,
                                 uint64_t stream)
{
    *rule = (fire_mix_rule_t){0};
    if (a == NULL || a->mixup == 0) return FIRE_OK;
    if (!(a->mixup > 0 && a->mixup <= 4))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: mixup must be 0 to 4, not %g",
                         (double)a->mixup);
    if (a->classes == 0 || a->classes > 1 << 24)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "augment_param: mixup needs `classes`, the number of classes: "
                         "labels become (N, classes)");
    rule->alpha   = phase == CAFFE__PHASE__TRAIN ? a->mixup : 0;
    rule->classes = (int)a->classes;
    rule->stream  = stream;
    return FIRE_OK;
}

/* A number of the distribution Beta(alpha, alpha), by Johnk's method: of two uniform
 * numbers to the power 1 / alpha whose sum is at most 1, the part of the first. */
static float draw_beta(float alpha, fire_draw_t *d)
{
    for (int i = 0; i < 4096; i++) {
        double u = pow((double)fire_draw_uniform(d, 0, 1), 1 / (double)alpha);
        double v = pow((double)fire_draw_uniform(d, 0, 1), 1 / (double)alpha);

        if (u + v <= 1 && u + v > 0) return (float)(u / (u + v));
    }
    return 0.5f;
}

/* Row i is paired with row (k - i) mod n, for a k of this slice: whoever is my partner
 * has me as partner. */
void fire_mix_choose(const fire_mix_rule_t *rule, uint64_t seed, fire_slice_t slice,
                     fire_mix_t *mix)
{
    fire_rng_key_t key = fire_rng_key(seed, FIRE_RNG_CROP, rule->stream, 3);
    int64_t        n   = slice.n;
    int64_t        k =
        n > 0 ? (int64_t)fire_rng_below(key, (uint64_t)slice.first, (uint64_t)n) : 0;

    for (int64_t i = 0; i < n; i++) {
        fire_draw_t d = {fire_rng_key(seed, FIRE_RNG_CROP, rule->stream, 4),
                         (uint64_t)(slice.first + i * slice.stride) *
                             FIRE_DRAWS_PER_SAMPLE};

        mix[i] = (fire_mix_t){draw_beta(rule->alpha, &d), (float)((k - i + n) % n)};
    }
}

void fire_mix_rows(const fire_mix_t *mix, int64_t n, int64_t width, float *x)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t p = (int64_t)mix[i].partner;
        float   a = mix[i].share, b = mix[p].share;
        float  *u = x + i * width, *v = x + p * width;

        for (int64_t k = 0; k < width && p > i; k++) {
            float mine = u[k], other = v[k];

            u[k] = fire_mix_value(a, mine, other);
            v[k] = fire_mix_value(b, other, mine);
        }
    }
}
