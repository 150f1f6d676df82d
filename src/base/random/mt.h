/* mt.h - Caffe's random numbers, for comparing a run with one of Caffe: the Mersenne
 * Twister mt19937 (Matsumoto, Nishimura 1998) and the float distributions of Boost 1.56
 * and later on top of it. Everything else uses rng.h.
 *
 * A generator has state: what it returns depends on the calls before. One thread at a
 * time. */
#ifndef FIRE_BASE_RANDOM_MT_H
#define FIRE_BASE_RANDOM_MT_H
#include "base/error.h"

FIRE_BEGIN_C
typedef struct fire_mt fire_mt_t;

fire_status_t fire_mt_create(uint32_t seed, fire_mt_t **mt_p);
void          fire_mt_destroy(fire_mt_t *mt); /* NULL is allowed */
void          fire_mt_seed(fire_mt_t *mt, uint32_t seed);

uint32_t fire_mt_u32(fire_mt_t *mt);
/* In [low, high]; Caffe widens the range by one float, so high is possible. */
float fire_mt_uniform(fire_mt_t *mt, float low, float high);
float fire_mt_gaussian(fire_mt_t *mt, float mean, float std);
bool  fire_mt_bernoulli(fire_mt_t *mt, float probability);
/* In 0 ... n-1, without bias; n > 0. (Caffe's crops are fire_mt_u32() % n.) */
uint32_t fire_mt_below(fire_mt_t *mt, uint32_t n);
FIRE_END_C
#endif
