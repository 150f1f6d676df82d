/* rule.h - what all update rules share on the CPU: one pass over the elements.
 *
 * Each rule is compiled for plain x86-64, for FMA and for AVX-512, and the loader picks
 * one. All give the same bits, since fmaf() rounds once, in hardware or in software. */
#ifndef FIRE_SOLVER_RULE_H
#define FIRE_SOLVER_RULE_H
#include "solver/elements.h"
#include "solver/solver.h"

/* Selected by instruction set, not by processor model. Sanitizers do not support it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define FIRE_CLONES
#elif defined(__x86_64__) && defined(__GNUC__)
#    define FIRE_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#else
#    define FIRE_CLONES
#endif

/* The body of a rule's apply(), which is built for each processor, and of its
 * literal(), Caffe's rounding step by step, built once: run `call`, a function of
 * elements.h, for each element i. It sees c (the settings of the update), w and g
 * (weights and gradients), h and k (the first and the second history; k is NULL for a
 * rule with one). */
#define FIRE_RULE_PASS(u, literal_, call)                 \
    do {                                                  \
        fire_update_t c   = *(u);                         \
        float *restrict w = c.w, *restrict g = c.g;       \
        float *restrict h = c.h[0], *restrict k = c.h[1]; \
                                                          \
        (void)k;                                          \
        c.literal = (literal_);                           \
        for (int64_t i = 0; i < c.n; i++)                 \
            call;                                         \
    } while (0)
#endif
