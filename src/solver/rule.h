/* rule.h - what all update rules share: one pass over the elements, in which the
 * gradient is scaled (clipping, 1/iter_size) and regularised before it is used.
 *
 * Products that Caffe adds through BLAS axpy are fused multiply-adds there, so they
 * are here. Each rule is compiled for plain x86-64, FMA and AVX-512; the
 * bits are the same, since fmaf() is exact however it is made. */
#ifndef FIRE_SOLVER_RULE_H
#define FIRE_SOLVER_RULE_H
#include <math.h>

#include "solver/solver.h"

static inline float rule_gradient(const fire_update_t *u, float g, float w)
{
    if (u->scale != 1) g *= u->scale;
    if (u->decay == 0) return g;
    return u->decay_l1 ? fmaf(u->decay, (float)((w > 0) - (w < 0)), g)
                       : fmaf(u->decay, w, g);
}

/* By what a machine can do, not by its maker's name: others have AVX-512 too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define FIRE_CLONES
#elif defined(__x86_64__) && defined(__GNUC__)
#    define FIRE_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#else
#    define FIRE_CLONES
#endif
#endif
