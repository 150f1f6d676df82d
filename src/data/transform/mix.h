/* mix.h - mixup (Zhang and others, 2018): rows of a batch are mixed in pairs, images
 * and labels alike: x = share * x + (1 - share) * partner's x.
 *
 * Partners are rows of the same lane (docs/design/0023-augmentation.md), so that no
 * image is decoded twice and workers need nothing of each other. */
#ifndef FIRE_DATA_TRANSFORM_MIX_H
#define FIRE_DATA_TRANSFORM_MIX_H
#include "base/everywhere.h"
#include "base/error.h"
#include "base/random/moment.h"
#include "caffe.pb-c.h"

FIRE_BEGIN_C

typedef struct fire_mix_rule {
    float    alpha;   /* 0: no mixup */
    int      classes; /* of the labels */
    uint64_t stream;  /* of the random numbers */
} fire_mix_rule_t;

/* What a row becomes. */
typedef struct fire_mix {
    float share; /* of the row's own values */
    float
        partner; /* number of the other row, a whole number; its partner is this row */
} fire_mix_t;

/* One value of a mixed row. Products are rounded before they are added, on GPUs too. */
FIRE_EVERYWHERE float fire_mix_value(float share, float mine, float other)
{
#ifdef __CUDA_ARCH__
    return __fadd_rn(__fmul_rn(share, mine), __fmul_rn(1.0f - share, other));
#else
    return share * mine + (1.0f - share) * other;
#endif
}

/* Read the settings of a (NULL: none); in the TRAIN phase only. */
fire_status_t fire_mix_rule_init(fire_mix_rule_t               *rule,
                                 const Caffe__AugmentParameter *a, Caffe__Phase phase,
                                 uint64_t stream);

/* Draw mix[slice.n] for the rows of a slice: a function of seed and samples. */
void fire_mix_choose(const fire_mix_rule_t *rule, uint64_t seed, fire_slice_t slice,
                     fire_mix_t *mix);

/* Mix x: (n, width) in place. */
void fire_mix_rows(const fire_mix_t *mix, int64_t n, int64_t width, float *x);
FIRE_END_C
#endif
