/* test_codec.c - all codecs, alone and in collectives. Tests src/comm/codec/. */
#include "comm/codec/codec.h"
#include "base/half.h"
#include "ranks.h"
#include "test.h"

#include "base/alloc.h"

enum { N = 5000 };

static const char *const names[] = {"fp16", "bf16", "1bit", "threshold=0.3"};

static const fire_codec_t *codec(const char *name, float *arg_p)
{
    const fire_codec_t *c;

    CHECK_OK(fire_codec_find(name, &c, arg_p));
    return c;
}

TEST(every_codec_carries_what_it_has_quantized_without_loss)
{
    static float x[N], y[N];
    static char  wire[N * 8];

    for (int k = 0; k < 4; k++)
        for (size_t n = 0; n <= N; n = n < 70 ? n + 1 : n + 977) {
            float               arg;
            const fire_codec_t *c = codec(names[k], &arg);
            size_t              len;

            contribute(3, x, n);
            c->quantize(arg, x, n);
            len = c->encode(x, n, wire);
            CHECK(len <= c->bound(n));
            CHECK_OK(c->decode(wire, len, y, n));
            CHECK(memcmp(x, y, n * sizeof(float)) == 0);
            CHECK_OK(c->decode_add(wire, len, y, n));
            for (size_t i = 0; i < n; i++)
                CHECK(y[i] == x[i] + x[i]);
        }
}

TEST(sixteen_bits_round_to_the_nearest)
{
    for (int k = 0; k < 2; k++) {
        float               arg, x[N], y[N];
        const fire_codec_t *c    = codec(names[k], &arg);
        double              unit = k == 0 ? 0x1p-11 : 0x1p-8;

        contribute(0, x, N);
        memcpy(y, x, sizeof(y));
        c->quantize(arg, y, N);
        for (size_t i = 0; i < N; i++)
            CHECK_NEAR(y[i], x[i], fabs((double)x[i]) * unit + 0x1p-25);
    }
}

TEST(messages_are_as_short_as_promised)
{
    static float x[1 << 16];
    static char  wire[1 << 19];
    float        arg;
    size_t       n = 1 << 16, floats = n * sizeof(float);

    contribute(1, x, n);
    CHECK_EQ(codec("fp16", &arg)->encode(x, n, wire), floats / 2);
    CHECK_EQ(codec("bf16", &arg)->encode(x, n, wire), floats / 2);
    CHECK_NEAR((double)codec("1bit", &arg)->encode(x, n, wire), (double)floats / 32,
               (double)floats / 32 * 0.07);
    memset(x, 0, sizeof(x));
    for (size_t i = 0; i < n; i += 100)
        x[i] = 1;
    CHECK_EQ(codec("threshold=1", &arg)->encode(x, n, wire), 4 + 8 * ((n + 99) / 100));
}

TEST(one_bit_about_keeps_the_sums_of_both_signs)
{
    float x[100], arg, plus = 0, minus = 0, plus_after = 0, minus_after = 0;

    contribute(5, x, 100);
    for (int i = 0; i < 100; i++)
        *(x[i] < 0 ? &minus : &plus) += x[i];
    codec("1bit", &arg)->quantize(0, x, 100);
    for (int i = 0; i < 100; i++)
        *(x[i] < 0 ? &minus_after : &plus_after) += x[i];
    CHECK_NEAR(plus_after, plus, 0.004 * plus); /* means have 8 bits */
    CHECK_NEAR(minus_after, minus, 0.004 * -minus);
}

TEST(a_threshold_drops_small_elements_only)
{
    float               x[] = {0.5f, -0.1f, 0.1f, -2, 0, NAN}, arg;
    const fire_codec_t *c   = codec("threshold=0.3", &arg);

    CHECK_NEAR(arg, 0.3, 1e-7);
    c->quantize(arg, x, 6);
    CHECK(x[0] == 0.5f && x[1] == 0 && x[2] == 0 && x[3] == -2 && x[4] == 0);
    CHECK(isnan(x[5]));
}

TEST(damaged_messages_are_refused)
{
    float x[100] = {0}, arg;
    char  wire[1000];

    for (int k = 0; k < 4; k++) {
        const fire_codec_t *c   = codec(names[k], &arg);
        size_t              len = c->encode(x, 100, wire);

        CHECK_FAILS(c->decode(wire, len - 1, x, 100), FIRE_ERR_COMM, "bytes");
        CHECK_FAILS(c->decode_add(wire, len + 1, x, 100), FIRE_ERR_COMM, "bytes");
        CHECK(c->decode(wire, 2, x, 100) == FIRE_ERR_COMM);
    }
    memcpy(wire, (uint32_t[]){1, 100, 0}, 12); /* element 100 of 100 */
    CHECK_FAILS(codec("threshold=1", &arg)->decode(wire, 12, x, 100), FIRE_ERR_COMM,
                "element 100 of 100");
}

TEST(names_are_checked)
{
    const fire_codec_t *c;
    float               arg;

    CHECK_OK(fire_codec_find("none", &c, &arg));
    CHECK(c == NULL);
    CHECK_FAILS(fire_codec_find("zip", &c, &arg), FIRE_ERR_INVALID, "known are");
    CHECK_FAILS(fire_codec_find("fp16=3", &c, &arg), FIRE_ERR_INVALID, "fp16=3");
    CHECK_FAILS(fire_codec_find("threshold", &c, &arg), FIRE_ERR_INVALID, "T > 0");
    CHECK_FAILS(fire_codec_find("threshold=-1", &c, &arg), FIRE_ERR_INVALID, "T > 0");
    CHECK_FAILS(fire_codec_find("threshold=x", &c, &arg), FIRE_ERR_INVALID, "T > 0");
}

/* ---- compressed sums ---- */

typedef struct setup {
    const char *algo, *compress;
    double      tolerance;
} setup_t;

static void sum_compressed(fire_comm_t *c, void *arg)
{
    const setup_t            *s = arg;
    fire_collective_options_t o = {.algo = s->algo, .compress = s->compress};
    float                    *x, digest = 0, all[64], codec_arg;
    const fire_codec_t       *code = codec(s->compress, &codec_arg);
    fire_collective_t        *coll;

    CHECK_OK(FIRE_NEW(&x, N));
    o.piece = 4000;
    CHECK_OK(fire_collective_create(c, &o, x, N, &coll));
    contribute(fire_comm_rank(c), x, N);
    code->quantize(codec_arg, x, N);
    CHECK_OK(fire_collective_start(coll));
    CHECK_OK(fire_collective_wait(coll));
    for (size_t i = 0; i < N; i++) {
        digest += x[i] * (float)(i % 7);
        CHECK_NEAR(x[i], exact_sum(fire_comm_size(c), i), s->tolerance);
    }
    CHECK_OK(fire_comm_allgather(c, &digest, sizeof(digest), all));
    for (int r = 0; r < fire_comm_size(c); r++)
        CHECK(all[r] == all[0]);
    fire_collective_destroy(coll);
    fire_free(x);
}

TEST(half_precision_sums_are_near_the_exact_ones_with_every_algorithm)
{
    for (int a = 0; fire_algo_at(a) != NULL; a++)
        for (int size = 1; size <= 9; size += 2) {
            setup_t s = {fire_algo_at(a)->name, "fp16", 0.5};

            if (fire_algo_at(a)->flags & FIRE_ALGO_NATIVE) continue;
            run_ranks(size, &FIRE_COMM_OPTIONS_INIT, sum_compressed, &s);
            s.compress  = "bf16";
            s.tolerance = 4;
            run_ranks(size, &FIRE_COMM_OPTIONS_INIT, sum_compressed, &s);
        }
}

/* Between -1 and 1, as gradients of a trained net are all of one size. */
static double mild(int rank, size_t i)
{
    double x = (double)contribution(rank, i);

    return x / (1 + fabs(x));
}

/* With error feedback at both places the mean over many rounds is right. */
static void feed_back(fire_comm_t *c, void *arg)
{
    enum { COUNT = 300, ROUNDS = 3000 };
    const char               *compress = arg;
    float                     x[COUNT], mine[COUNT] = {0}, rest[COUNT] = {0}, codec_arg;
    double                    mean[COUNT] = {0};
    fire_collective_options_t o           = {
                  .algo = "auto", .compress = compress, .residual = rest};
    const fire_codec_t *code = codec(compress, &codec_arg);
    fire_collective_t  *coll;

    CHECK_OK(fire_collective_create(c, &o, x, COUNT, &coll));
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < COUNT; i++)
            x[i] = mine[i] += (float)mild(fire_comm_rank(c), i);
        code->quantize(codec_arg, x, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            mine[i] -= x[i];
        CHECK_OK(fire_collective_start(coll));
        CHECK_OK(fire_collective_wait(coll));
        for (size_t i = 0; i < COUNT; i++)
            mean[i] += (double)x[i] / ROUNDS;
    }
    CHECK(fire_collective_algo(coll)->flags & FIRE_ALGO_ONE_HOP ||
          strcmp(code->name, "1bit") != 0);
    for (size_t i = 0; i < COUNT; i++) {
        double want = 0;

        for (int r = 0; r < fire_comm_size(c); r++)
            want += mild(r, i);
        CHECK_NEAR(mean[i], want, 0.1);
    }
    fire_collective_destroy(coll);
}

TEST(error_feedback_makes_coarse_codecs_right_in_the_mean)
{
    run_ranks(4, &FIRE_COMM_OPTIONS_INIT, feed_back, "1bit");
    run_ranks(3, &FIRE_COMM_OPTIONS_INIT, feed_back, "threshold=0.3");
}
