/* rule.h - what all update rules share on the CPU: one pass over the elements.
 *
 * Each rule is compiled for plain x86-64, FMA and AVX-512; the bits are the same, since
 * fmaf() is exact however it is made. */
#ifndef FIRE_SOLVER_RULE_H
#define FIRE_SOLVER_RULE_H
#include "solver/elements.h"
#include "solver/solver.h"

/* By what a machine can do, not by its maker's name: others have AVX-512 too. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define FIRE_CLONES
#elif defined(__x86_64__) && defined(__GNUC__)
#    define FIRE_CLONES __attribute__((target_clones("avx512f", "fma", "default")))
#else
#    define FIRE_CLONES
#endif

/* noun_apply() and noun_literal() for a rule with one history, and with two. */
#define FIRE_RULE_BODY(literal_, call)                    \
    {                                                     \
        fire_update_t c   = *u;                           \
        float *restrict w = c.w, *restrict g = c.g;       \
        float *restrict h = c.h[0], *restrict k = c.h[1]; \
                                                          \
        (void)k;                                          \
        c.literal = literal_;                             \
        for (int64_t i = 0; i < c.n; i++)                 \
            call;                                         \
    }
#define FIRE_RULE_LOOPS(noun, call)                                                    \
    FIRE_CLONES static void                     noun##_apply(const fire_update_t *u)   \
        FIRE_RULE_BODY(false, call) static void noun##_literal(const fire_update_t *u) \
            FIRE_RULE_BODY(true, call)
#define FIRE_RULE_LOOP_1(noun) \
    FIRE_RULE_LOOPS(noun, fire_element_##noun(&c, w + i, g + i, h + i, NULL))
#define FIRE_RULE_LOOP_2(noun) \
    FIRE_RULE_LOOPS(noun, fire_element_##noun(&c, w + i, g + i, h + i, k + i))
#endif
