/* mt.c - mt19937 and the ziggurat distributions of Boost.Random, bit for bit. */
#include "base/random/mt.h"

#include <float.h>
#include <math.h>

#include "base/alloc.h"

enum { WORDS = 624, SHIFT = 397, NORMAL_LAYERS = 128, EXPONENTIAL_LAYERS = 256 };

/* A density cut into layers of equal area (Marsaglia, Tsang 2000): layer i is as wide
 * as x[i] and lies between y[i] and y[i + 1]. */
typedef struct ziggurat {
    double x[EXPONENTIAL_LAYERS + 1], y[EXPONENTIAL_LAYERS + 1];
} ziggurat_t;

struct fire_mt {
    uint32_t   word[WORDS];
    int        at; /* next word of the state to return */
    ziggurat_t normal, exponential;
};

/* ---- the twister ---- */

void fire_mt_seed(fire_mt_t *mt, uint32_t seed)
{
    mt->word[0] = seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        uint32_t last = mt->word[i - 1];

        mt->word[i] = 1812433253u * (last ^ (last >> 30)) + i;
    }
    mt->at = WORDS;
}

static void twist(fire_mt_t *mt)
{
    uint32_t *w = mt->word;

    for (int i = 0; i < WORDS; i++) {
        uint32_t y = (w[i] & 0x80000000u) | (w[(i + 1) % WORDS] & 0x7fffffffu);

        w[i] = w[(i + SHIFT) % WORDS] ^ (y >> 1) ^ (y % 2 != 0 ? 0x9908b0dfu : 0);
    }
    mt->at = 0;
}

uint32_t fire_mt_u32(fire_mt_t *mt)
{
    uint32_t y;

    if (mt->at == WORDS) twist(mt);
    y = mt->word[mt->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

/* ---- distributions ---- */

float fire_mt_uniform(fire_mt_t *mt, float low, float high)
{
    float end = nextafterf(high, FLT_MAX), x;

    do
        x = (float)fire_mt_u32(mt) / 0x1p32f * (end - low) + low;
    while (!(x < end) && low < end);
    return x;
}

static float unit(fire_mt_t *mt)
{
    float x;

    do
        x = (float)fire_mt_u32(mt) * 0x1p-32f;
    while (x >= 1);
    return x;
}

bool fire_mt_bernoulli(fire_mt_t *mt, float probability)
{
    if (probability == 0) return false;
    return (float)fire_mt_u32(mt) <= probability * 0x1p32f;
}

uint32_t fire_mt_below(fire_mt_t *mt, uint32_t n)
{
    uint32_t bucket = UINT32_MAX / n + (UINT32_MAX % n == n - 1), x;

    if (n == 1) return 0;
    do
        x = fire_mt_u32(mt) / bucket;
    while (x >= n);
    return x;
}

static double normal_density(double x)
{
    return exp(-x * x / 2);
}

static double normal_inverse(double y)
{
    return sqrt(-2 * log(y));
}

static double exponential_density(double x)
{
    return exp(-x);
}

static double exponential_inverse(double y)
{
    return -log(y);
}

/* Fill the tables. Layer 0 is the base and the tail beyond `tail`; it has the same area
 * as the other layers. */
static void build(ziggurat_t *z, int layers, double tail, double area,
                  double (*density)(double), double (*inverse)(double))
{
    z->x[0] = area / density(tail);
    z->x[1] = tail;
    z->y[0] = 0;
    z->y[1] = density(tail);
    for (int i = 1; i + 1 < layers; i++) {
        z->y[i + 1] = z->y[i] + area / z->x[i];
        z->x[i + 1] = inverse(z->y[i + 1]);
    }
    z->x[layers] = 0;
    z->y[layers] = 1;
}

/* Choose a layer and a position in it, in [0, 1), from one random number. */
static int pick(fire_mt_t *mt, float *place_p)
{
    uint32_t u = fire_mt_u32(mt);

    *place_p = (float)(u >> 8) * 0x1p-24f;
    return (int)(u & 255);
}

/* Is (x, a random height in layer i) below the density? The tangent at knot t and the
 * layer's diagonal bound the density and spare most calls of expf. */
static bool below_curve(fire_mt_t *mt, const ziggurat_t *z, int i, int t, float slope,
                        float x, float (*density)(float))
{
    float part     = unit(mt);
    float y        = (float)z->y[i] + part * (float)(z->y[i + 1] - z->y[i]);
    float diagonal = (float)(z->x[i] - z->x[i + 1]) * part - ((float)z->x[i] - x);
    float tangent =
        y - ((float)z->y[t] + ((float)z->x[t] - x) * (float)z->y[t] * slope);
    bool  convex = z->x[i] >= 1 || t > i; /* else the tangent lies above */
    float upper = convex ? diagonal : tangent, lower = convex ? tangent : diagonal;

    return upper < 0 && (lower < 0 || y < density(x));
}

static float exponential_at(float x)
{
    return expf(-x);
}

static float normal_at(float x)
{
    return expf(-(x * x / 2));
}

/* The tail of an exponential is an exponential again. */
static float exponential(fire_mt_t *mt)
{
    const ziggurat_t *z     = &mt->exponential;
    float             shift = 0, x;

    for (;;) {
        int i = pick(mt, &x);

        x *= (float)z->x[i];
        if (x < (float)z->x[i + 1]) return shift + x;
        if (i == 0)
            shift += (float)z->x[1];
        else if (below_curve(mt, z, i, i + 1, 1, x, exponential_at))
            return x + shift;
    }
}

/* A normal beyond the base: draw an exponential and accept it with the probability that
 * the normal's density is below it. */
static float normal_tail(fire_mt_t *mt)
{
    float start = (float)mt->normal.x[1], x, y;

    do {
        x = exponential(mt) / start;
        y = exponential(mt);
    } while (!(2 * y > x * x));
    return x + start;
}

static float normal(fire_mt_t *mt)
{
    const ziggurat_t *z = &mt->normal;
    float             x;

    for (;;) {
        int   i    = pick(mt, &x);
        float sign = i % 2 != 0 ? 1 : -1;

        i /= 2;
        x *= (float)z->x[i];
        if ((double)x < z->x[i + 1]) return x * sign;
        if (i == 0) return normal_tail(mt) * sign;
        if (below_curve(mt, z, i, i, (float)z->x[i], x, normal_at)) return x * sign;
    }
}

float fire_mt_gaussian(fire_mt_t *mt, float mean, float std)
{
    return normal(mt) * std + mean;
}

fire_status_t fire_mt_create(uint32_t seed, fire_mt_t **mt_p)
{
    const double tail = 3.4426198558966521214, exp_tail = 7.6971174701310497140;
    fire_mt_t   *mt;

    FIRE_TRY(FIRE_NEW(&mt, 1));
    build(&mt->normal, NORMAL_LAYERS, tail,
          tail * normal_density(tail) + sqrt(acos(-1) / 2) * erfc(tail / sqrt(2)),
          normal_density, normal_inverse);
    build(&mt->exponential, EXPONENTIAL_LAYERS, exp_tail,
          (exp_tail + 1) * exponential_density(exp_tail), exponential_density,
          exponential_inverse);
    fire_mt_seed(mt, seed);
    *mt_p = mt;
    return FIRE_OK;
}

void fire_mt_destroy(fire_mt_t *mt)
{
    fire_free(mt);
}
