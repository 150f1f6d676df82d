/* rng.h - randomness as a function. fire_rng_*(key, index) is the index-th number of
 * the sequence `key`. There is no state to save or share, so a value is the same for
 * any number of workers and threads, and after a restart.
 *
 *   key = fire_rng_key(seed, FIRE_RNG_DROPOUT, fire_rng_name("drop6"), iteration)
 *
 * Philox 4x32-10 (Salmon et al., 2011); philox.h has the same code for GPUs. */
#ifndef FIRE_BASE_RANDOM_RNG_H
#define FIRE_BASE_RANDOM_RNG_H
#include <fire/api.h>

FIRE_BEGIN_C
typedef struct fire_rng_key {
    uint32_t k[2];
} fire_rng_key_t;

/* What a sequence is for. It is part of the key, so that two uses never share
 * numbers. */
typedef enum fire_rng_use {
    FIRE_RNG_FILL,    /* weight fillers */
    FIRE_RNG_DROPOUT, /* masks */
    FIRE_RNG_CROP,    /* crop offsets and mirror flags */
    FIRE_RNG_SHUFFLE, /* sample order */
    FIRE_RNG_DATA,    /* DummyData */
    FIRE_RNG_POOL,    /* stochastic pooling */
    FIRE_RNG_TEST,
    FIRE_RNG_PLUGIN, /* layers of plug-ins */
} fire_rng_use_t;

/* stream: distinguishes things of one use, e.g. fire_rng_name() of a layer's name.
 * step: the iteration, the epoch, or 0. */
fire_rng_key_t fire_rng_key(uint64_t seed, fire_rng_use_t use, uint64_t stream,
                            uint64_t step);
uint64_t       fire_rng_name(const char *name); /* FNV-1a */
/* The key without the step, for GPU kernels, which add it later (philox.h). */
uint64_t fire_rng_base(uint64_t seed, fire_rng_use_t use, uint64_t stream);

/* The four numbers with indices 4*block ... 4*block+3. */
void     fire_rng_block(fire_rng_key_t key, uint64_t block, uint32_t out[4]);
uint32_t fire_rng_u32(fire_rng_key_t key, uint64_t index);
/* In 0 ... limit-1. */
uint64_t fire_rng_below(fire_rng_key_t key, uint64_t index, uint64_t limit);
float    fire_rng_uniform(fire_rng_key_t key, uint64_t index); /* [0, 1) */
/* Mean 0, standard deviation 1. */
float fire_rng_gaussian(fire_rng_key_t key, uint64_t index);

/* The position-th element of a random permutation of 0 ... n-1, computed without
 * storing the permutation: a Feistel network permutes 0 ... 4^k-1, the next power of
 * four, and is applied again until its result is below n. So every worker can look up
 * just its own samples. */
uint64_t fire_rng_permute(fire_rng_key_t key, uint64_t n, uint64_t position);
FIRE_END_C
#endif
