/* vector.h - FIRE_VECTOR makes the compiler build a function for several instruction
 * sets; the loader picks the best one for the machine. Only for loops whose result does
 * not depend on the choice. */
#ifndef FIRE_BASE_VECTOR_H
#define FIRE_BASE_VECTOR_H

/* Not with sanitizers: they are not set up yet when the loader picks. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define FIRE_VECTOR
#elif defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && \
    (!defined(__clang__) || __clang_major__ >= 14)
#    define FIRE_VECTOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#    define FIRE_VECTOR
#endif
#endif
