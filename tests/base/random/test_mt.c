/* The mt19937 stream and what Caffe draws from it: known numbers. */
#include "base/random/mt.h"

#include <string.h>

#include "test.h"

/* FNV-1a over the bits of numbers. */
static void add(uint64_t *hash, float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    *hash = (*hash ^ bits) * 1099511628211u;
}

TEST(the_twister_gives_its_published_numbers)
{
    fire_mt_t *mt;
    uint32_t   x = 0;

    CHECK_OK(fire_mt_create(5489, &mt));
    CHECK_EQ(fire_mt_u32(mt), 3499211612u);
    for (int i = 2; i <= 10000; i++)
        x = fire_mt_u32(mt);
    CHECK_EQ(x, 4123659995u); /* as the C++ standard demands of mt19937 */
    fire_mt_destroy(mt);
}

/* The hashes are those of a million numbers from Boost 1.74. */
TEST(distributions_agree_with_boost)
{
    uint64_t   normal = 14695981039346656037u, uniform = normal;
    int64_t    sum = 0;
    fire_mt_t *mt;

    CHECK_OK(fire_mt_create(1701, &mt));
    for (int i = 0; i < 1000000; i++)
        add(&normal, fire_mt_gaussian(mt, 0.5f, 0.25f));
    CHECK_EQ(normal, 0x9e22ef8cbc578c70u);
    fire_mt_seed(mt, 7);
    for (int i = 0; i < 1000000; i++)
        add(&uniform, fire_mt_uniform(mt, -0.3f, 0.3f));
    CHECK_EQ(uniform, 0x0fd8b7a766015e82u);
    fire_mt_seed(mt, 9);
    for (uint32_t i = 1; i < 1000000; i++)
        sum += (int64_t)fire_mt_below(mt, i + 1) * (i % 7);
    CHECK_EQ(sum, 749778457021);
    fire_mt_destroy(mt);
}

TEST(edges_of_distributions_hold)
{
    fire_mt_t *mt;

    CHECK_OK(fire_mt_create(1, &mt));
    CHECK(!fire_mt_bernoulli(mt, 0));
    CHECK(fire_mt_bernoulli(mt, 1));
    CHECK_EQ(fire_mt_below(mt, 1), 0);
    CHECK(fire_mt_uniform(mt, 2, 2) == 2.0f);
    CHECK(fire_mt_gaussian(mt, 3, 0) == 3.0f);
    fire_mt_destroy(mt);
}
