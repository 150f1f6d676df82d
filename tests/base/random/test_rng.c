/* Random numbers as a function: known values, spread, independence of keys. */
#include "base/random/rng.h"
#include "test.h"

TEST(philox_gives_the_published_known_answer)
{
    /* Random123's known-answer vectors for philox4x32-10. */
    uint32_t out[4];

    fire_rng_block((fire_rng_key_t){{0, 0}}, 0, out);
    CHECK(out[0] == 0x6627e8d5u && out[1] == 0xe169c58du);
    CHECK(out[2] == 0xbc57ac4cu && out[3] == 0x9b00dbd8u);
}

TEST(numbers_depend_on_each_part_of_the_key)
{
    uint32_t base = fire_rng_u32(fire_rng_key(1, FIRE_RNG_FILL, 2, 3), 4);

    CHECK(base != fire_rng_u32(fire_rng_key(2, FIRE_RNG_FILL, 2, 3), 4));
    CHECK(base != fire_rng_u32(fire_rng_key(1, FIRE_RNG_CROP, 2, 3), 4));
    CHECK(base != fire_rng_u32(fire_rng_key(1, FIRE_RNG_FILL, 3, 3), 4));
    CHECK(base != fire_rng_u32(fire_rng_key(1, FIRE_RNG_FILL, 2, 4), 4));
    CHECK(base != fire_rng_u32(fire_rng_key(1, FIRE_RNG_FILL, 2, 3), 5));
}

TEST(uniform_and_gaussian_have_their_moments)
{
    fire_rng_key_t key = fire_rng_key(7, FIRE_RNG_TEST, 0, 0);
    double         u = 0, g = 0, gg = 0;
    const int      n = 200000;

    for (int i = 0; i < n; i++) {
        double x = fire_rng_gaussian(key, (uint64_t)i);
        float  y = fire_rng_uniform(key, (uint64_t)i);

        CHECK(y >= 0 && y < 1);
        u += (double)y;
        g += x;
        gg += x * x;
    }
    CHECK_NEAR(u / n, 0.5, 0.005);
    CHECK_NEAR(g / n, 0.0, 0.01);
    CHECK_NEAR(gg / n, 1.0, 0.02);
}

TEST(a_permutation_hits_every_element_once)
{
    static unsigned char seen[5000];

    for (uint64_t n = 1; n < 5000; n = n * 2 + 1) {
        fire_rng_key_t key   = fire_rng_key(3, FIRE_RNG_SHUFFLE, 0, n);
        int            fixed = 0;

        memset(seen, 0, sizeof(seen));
        for (uint64_t i = 0; i < n; i++) {
            uint64_t x = fire_rng_permute(key, n, i);

            CHECK(x < n && !seen[x]);
            seen[x] = 1;
            fixed += x == i;
        }
        CHECK(n < 10 || fixed < 8);
    }
}
