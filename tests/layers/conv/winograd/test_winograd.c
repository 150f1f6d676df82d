/* Winograd's algorithm gives what `ref` gives. Tests src/layers/conv/winograd/ and
 * src/layers/conv/conv_winograd.c. */
#include "device/cpu/convert.h"
#include "device/cpu/parallel.h"
#include "device/cpu/precision.h"
#include "layers/conv/winograd/winograd.h"
#include "twins.h"

#define FILL                                         \
    "weight_filler { type: \"gaussian\" std: 0.1 } " \
    "bias_filler { type: \"gaussian\" std: 0.1 } "
#define CONV(settings)                                                       \
    "layer { name: \"it\" type: \"Convolution\" bottom: \"in\" top: \"it\" " \
    "convolution_param { " FILL settings " } }\n"
#define RELU(slope)                                                     \
    "layer { name: \"relu\" type: \"ReLU\" bottom: \"it\" top: \"it\" " \
    "relu_param { negative_slope: " slope " } }\n"

/* Errors are measured against the largest value: 2e-5 of a typical one is less. */
static const double WINOGRAD = 3e-5;

static void check(const char *in, const char *settings)
{
    char layers[512];

    if (!fire_winograd_works()) return;
    snprintf(layers, sizeof(layers), CONV("%s"), settings);
    twins_check(in, layers, "winograd", WINOGRAD);
}

TEST(five_by_five_agrees_with_ref_in_all_directions)
{
    check("2 16 8 8", "num_output: 16 kernel_size: 5");
    check("3 32 9 14", "num_output: 48 kernel_size: 5 pad: 2");
    check("2 20 12 12", "num_output: 50 kernel_size: 5");
    check("2 37 7 6", "num_output: 19 kernel_size: 5 pad_h: 4 pad_w: 1");
    check("1 16 8 8", "num_output: 16 kernel_size: 5 bias_term: false");
}

/* There nothing is counted in float64. */
TEST(five_by_five_agrees_with_ref_in_a_test_net)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    if (!fire_winograd_works()) return;
    t = twins_make("2 37 9 14", CONV("num_output: 19 kernel_size: 5 pad: 2") RELU("0"),
                   CAFFE__PHASE__TEST, &ctx);
    twins_kernel_is(&t, "it", "winograd");
    twins_agree(&t, WINOGRAD);
    twins_end(&t);
}

/* In large tiles and in small ones. */
TEST(three_by_three_agrees_with_ref_in_all_directions)
{
    check("2 16 28 30", "num_output: 16 kernel_size: 3 pad: 1");
    check("3 37 31 33", "num_output: 19 kernel_size: 3 bias_term: false");
    check("8 32 7 7", "num_output: 48 kernel_size: 3 pad: 1");
    check("5 37 8 12", "num_output: 19 kernel_size: 3 pad: 2");
}

TEST(groups_that_fill_blocks_agree_with_ref)
{
    check("4 64 13 13", "num_output: 32 kernel_size: 3 pad: 1 group: 2");
    check("2 96 9 9", "num_output: 64 kernel_size: 5 pad: 2 group: 2");
    check("2 32 9 9", "num_output: 32 kernel_size: 5 pad: 2 group: 2");
}

/* More tiles than go through at once. */
TEST(many_tiles_agree_with_ref)
{
    check("9 32 31 33", "num_output: 32 kernel_size: 5 pad: 2");
}

TEST(a_relu_in_place_is_done_as_well)
{
    if (!fire_winograd_works()) return;
    twins_check("2 20 8 8", CONV("num_output: 20 kernel_size: 5 pad: 2") RELU("0"),
                "winograd", WINOGRAD);
    twins_check("2 20 8 8", CONV("num_output: 20 kernel_size: 5 pad: 2") RELU("0.1"),
                "winograd", WINOGRAD);
}

static void check_bf16(const char *in, const char *layers)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;
    twins_t    t;

    ctx.precision = FIRE_BF16;
    t             = twins_make(in, layers, CAFFE__PHASE__TRAIN, &ctx);
    twins_kernel_is(&t, "it", "winograd");
    twins_agree(&t, 2e-2);
    twins_end(&t);
}

TEST(five_by_five_in_bf16_agrees_within_its_rounding)
{
    if (fire_cpu_check_precision(FIRE_BF16) < 0) return;
    check_bf16("2 32 29 31", CONV("num_output: 32 kernel_size: 5 pad: 2"));
}

/* Whole tiles and parts of them, channels that fill blocks and others, an odd number of
 * tiles, more of them than go through at once. */
TEST(three_by_three_in_bf16_agrees_within_its_rounding)
{
    if (!fire_winograd_works_bf16()) return;
    check_bf16("2 32 14 14", CONV("num_output: 48 kernel_size: 3 pad: 1"));
    check_bf16("13 37 5 9", CONV("num_output: 19 kernel_size: 3"));
    check_bf16("7 16 7 7", CONV("num_output: 16 kernel_size: 3 pad: 2"));
    check_bf16("2 64 13 13", CONV("num_output: 32 kernel_size: 3 pad: 1 group: 2"));
    check_bf16("9 24 29 31", CONV("num_output: 40 kernel_size: 3 pad: 1"));
}

TEST(exact_and_shapes_it_is_not_for_keep_it_out)
{
    static const char *const others[] = {"num_output: 16 kernel_size: 5 stride: 2",
                                         "num_output: 16 kernel_size: 7",
                                         "num_output: 8 kernel_size: 5",
                                         "num_output: 16 kernel_size: 5 dilation: 2",
                                         "num_output: 16 kernel_size: 5 pad: 5",
                                         "num_output: 24 kernel_size: 5 group: 4"};
    char                     layers[512];

    for (int i = 0; i < 7; i++) {
        fire_ctx_t ctx = FIRE_CTX_INIT;
        twins_t    t;

        ctx.exact = i == 6;
        snprintf(layers, sizeof(layers), CONV("%s"),
                 i < 6 ? others[i] : "num_output: 16 kernel_size: 5");
        t = twins_make("1 24 12 12", layers, CAFFE__PHASE__TRAIN, &ctx);
        CHECK(strcmp(fire_net_find_layer(t.fast, "it")->kernel->name, "winograd") != 0);
        twins_end(&t);
    }
}

static void store(float v, fire_dtype_t dtype, int64_t i, void *array)
{
    if (dtype == FIRE_BF16)
        ((uint16_t *)array)[i] = fire_to_bf16(v);
    else
        ((float *)array)[i] = v;
}

/* Threads share the work, not the sums. */
static void check_threads(fire_dtype_t dtype, int taps, bool wide)
{
    enum { N = 2 * 32 * 13 * 13, W = 32 * 32 * 25 };
    static float    w[W], dw[2][W];
    static float    x[N], y[2][N]; /* enough for either type */
    int64_t         pad   = taps / 2;
    size_t          bytes = N * fire_dtype_size(dtype);
    fire_winograd_t c     = {.dtype        = dtype,
                             .taps         = taps,
                             .wide         = wide,
                             .group        = 1,
                             .num          = 2,
                             .in_channels  = 32,
                             .out_channels = 32,
                             .in           = {13, 13},
                             .out          = {13, 13},
                             .pad          = {pad, pad}};
    fire_pool_t    *pool;
    int             before = fire_threads();

    CHECK_OK(fire_pool_create(&pool));
    for (int i = 0; i < N; i++)
        store((float)(i * 37 % 101) - 50, dtype, i, x);
    for (int i = 0; i < W; i++)
        w[i] = (float)(i * 53 % 97) - 48;
    memset(dw, 0, sizeof(dw));
    for (int i = 0; i < 2; i++) {
        fire_threads_set(i == 0 ? 1 : 3);
        CHECK_OK(fire_winograd_forward(&c, x, w, NULL, 1, y[i], pool));
        CHECK_OK(fire_winograd_backward_weights(&c, x, y[i], dw[i], pool));
    }
    fire_threads_set(before);
    CHECK(memcmp(y[0], y[1], bytes) == 0);
    CHECK(memcmp(dw[0], dw[1], sizeof(dw[0])) == 0);
    fire_pool_release(pool);
}

TEST(the_number_of_threads_does_not_change_a_bit)
{
    if (fire_winograd_works()) check_threads(FIRE_F32, 5, false);
    if (fire_winograd_works()) check_threads(FIRE_F32, 5, true);
    if (fire_winograd_works()) check_threads(FIRE_F32, 3, false);
    if (fire_winograd_works_bf16()) check_threads(FIRE_BF16, 3, false);
}

/* Output (k, i, j) of one image of 16 channels, side x side places, no padding. */
static double sum_of(const float *x, const float *w, int side, int k, int i, int j)
{
    double sum = 0;

    for (int c = 0; c < 16; c++)
        for (int a = 0; a < 25; a++)
            sum += (double)w[(k * 16 + c) * 25 + a] *
                   x[((i + a / 5) * side + j + a % 5) * 16 + c];
    return sum;
}

TEST(wide_sums_are_rounded_once)
{
    enum { SIDE = 11, OUT = SIDE - 4 };
    static float    x[16 * SIDE * SIDE], y[16 * OUT * OUT], w[16 * 16 * 25];
    fire_winograd_t c = {.dtype        = FIRE_F32,
                         .taps         = 5,
                         .wide         = true,
                         .group        = 1,
                         .num          = 1,
                         .in_channels  = 16,
                         .out_channels = 16,
                         .in           = {SIDE, SIDE},
                         .out          = {OUT, OUT}};
    fire_pool_t    *pool;

    if (!fire_winograd_works()) return;
    CHECK_OK(fire_pool_create(&pool));
    for (int i = 0; i < 16 * SIDE * SIDE; i++)
        x[i] = (float)(i * 37 % 101) / 7 - 5;
    for (int i = 0; i < 16 * 16 * 25; i++)
        w[i] = (float)(i * 53 % 97) / 13 - 4;
    CHECK_OK(fire_winograd_forward(&c, x, w, NULL, 1, y, pool));
    for (int i = 0; i < 16 * OUT * OUT; i++) {
        int    place = i / 16;
        double sum   = sum_of(x, w, SIDE, i % 16, place / OUT, place % OUT);

        CHECK_NEAR(y[i], sum, 6e-8 * fabs(sum) + 1e-11);
    }
    fire_pool_release(pool);
}

/* Small whole numbers are exact in bf16, and so are their sums here. */
TEST(three_by_three_of_ones_counts_places)
{
    enum { SIDE = 14, N = 16 * SIDE * SIDE };
    static uint16_t x[N], y[N], dx[N];
    static float    w[16 * 16 * 9], bias[16] = {-100};
    fire_winograd_t c = {.dtype        = FIRE_BF16,
                         .taps         = 3,
                         .group        = 1,
                         .num          = 1,
                         .in_channels  = 16,
                         .out_channels = 16,
                         .in           = {SIDE, SIDE},
                         .out          = {SIDE, SIDE},
                         .pad          = {1, 1}};
    fire_pool_t    *pool;

    if (!fire_winograd_works_bf16()) return;
    CHECK_OK(fire_pool_create(&pool));
    for (int i = 0; i < N; i++)
        x[i] = fire_to_bf16(1);
    for (int i = 0; i < 16 * 16 * 9; i++)
        w[i] = 1;
    CHECK_OK(fire_winograd_forward(&c, x, w, NULL, 1, y, pool));
    CHECK_NEAR(fire_from_bf16(y[0]), 16 * 4, 0);
    CHECK_NEAR(fire_from_bf16(y[16]), 16 * 6, 0);
    CHECK_NEAR(fire_from_bf16(y[(SIDE + 1) * 16]), 16 * 9, 0);
    CHECK_OK(fire_winograd_backward_data(&c, y, w, dx, pool));
    CHECK_NEAR(fire_from_bf16(dx[0]), 16 * 16 * (4 + 6 + 6 + 9), 0);
    CHECK_OK(fire_winograd_forward(&c, x, w, bias, 0.5f, y, pool));
    CHECK_NEAR(fire_from_bf16(y[0]), 0.5 * (16 * 4 - 100), 0);
    CHECK_NEAR(fire_from_bf16(y[(SIDE + 1) * 16]), 16 * 9 - 100, 0);
    fire_pool_release(pool);
}
