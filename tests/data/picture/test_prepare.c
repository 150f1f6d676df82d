/* Windows of a picture as inputs of a net. Tests src/data/picture/mean_file.c and
 * src/data/picture/window.c too. */
#include "data/picture/prepare.h"

#include "base/file.h"
#include "model/npy.h"
#include "test.h"

enum { SIDE = 10, PAD = 2, POINTS = 6, NUMBERS = 3 * POINTS + 1 };

/* The same picture, mean and scales as in tests/golden/record/windows.py, which computed
 * the numbers below with numpy: 3 channels at 6 points, then a weighted sum of all. */
static fire_picture_t picture(void)
{
    fire_picture_t p;

    CHECK_OK(fire_picture_create(12, 17, 3, &p));
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++)
            for (int c = 0; c < 3; c++)
                fire_picture_at(&p, y, x)[c] =
                    (float)((3 * x * x + 5 * y * x + 7 * y + 11 * c) % 29) / 29.0f;
    return p;
}

static const struct {
    fire_rect_t window;
    int         pad;
    double      want[NUMBERS];
} cases[] = {
    {{3, 4, 9, 12},
     PAD,
     {-0.12069, 37.4547, -9.12608, 51.0442, -2.22414, -18.5237, 12.1347, -9.25862,
      12.6918, 37.0302, -3.48815, 15.2748, 20.8179, -34.0442, 10.2188, -29.7425,
      41.3017, -8.46659, 6202.58}},
    {{0, 0, 5, 6},
     PAD,
     {0, 0, 0, 0, 0, 0, 32.3588, -22.5032, -34.0216, 28.7866, 29.7058, -21.6562, 0, 0,
      0, 42.2511, -12.611, 55.5582, 2619.08}},
    {{6, 9, 12, 17},
     PAD,
     {23.5657, -31.2963, 44.8416, 0, 0, 0, 30.1606, 15.1422, -36.2198, 25.4892,
      -29.3728, 38.7963, 5.15517, 22.0119, -29.3502, 0, 0, 0, 2707.82}},
    {{-2, 5, 4, 20},
     PAD,
     {0, 0, 0, 0, 0, 0, -29.3892, 43.2488, -8.1133, -24.3645, 48.2734, -3.08867,
      29.6502, -6.99754, 50.9261, 0, 0, 0, 1744.12}},
    {{5, 8, 6, 9},
     PAD,
     {-8.73793, -38.9353, -3.15776, 12.8052, -17.3922, -44.0897, -0.780172, -17.3922,
      11.5707, 15.0914, 13.7793, -26.1078, 38.3491, -10.1379, 2.25, 6.34224, -23.8552,
      -50.5526, 1306.87}},
    {{3, 4, 9, 12},
     0,
     {-33.0069, 17.4724, -20.3483, 11.3103, -30.0103, 23.969, -10.6724, 3.31552,
      5.50345, -25.9724, 13.5155, -4.69655, -10.2328, 24.1552, -27.2069, -17.1793,
      -58.5, -4.52069, 1342.3}},
};

static void set_up(fire_prepare_t *p)
{
    float             value[] = {104, 117, 123};
    const fire_mean_t mean    = {{3, 1, 1}, value, value};

    CHECK_OK(fire_prepare_init(p, (fire_extent_t){3, SIDE, SIDE}));
    CHECK_OK(fire_prepare_set_mean(p, &mean, false, "mean"));
    p->input_scale = 0.5f;
}

static void check_numbers(const float *x, const double *want)
{
    static const int at[POINTS][2] = {{0, 0}, {0, 9}, {3, 4}, {5, 5}, {7, 1}, {9, 9}};
    double           sum           = 0;

    for (int k = 0; k < POINTS; k++)
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(x[(c * SIDE + at[k][0]) * SIDE + at[k][1]], want[3 * k + c],
                       1e-3);
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        sum += (double)x[i] * (i % 7);
    CHECK_NEAR(sum, want[NUMBERS - 1], 2e-2);
}

TEST(windows_become_the_input_that_numpy_computes)
{
    fire_picture_t whole = picture(), crop;
    fire_prepare_t p;
    float          x[3 * SIDE * SIDE];

    set_up(&p);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_OK(fire_prepare_window(&p, &whole, cases[i].window, cases[i].pad, &crop));
        CHECK_OK(fire_prepare_run(&p, &crop, x));
        check_numbers(x, cases[i].want);
        fire_picture_fini(&crop);
    }
    fire_prepare_fini(&p);
    fire_picture_fini(&whole);
}

TEST(a_window_without_context_is_cut_at_the_border_of_the_image)
{
    fire_picture_t whole = picture(), crop;
    fire_prepare_t p;

    set_up(&p);
    CHECK_OK(fire_prepare_window(&p, &whole, (fire_rect_t){-5, 10, 4, 99}, 0, &crop));
    CHECK_EQ(crop.height, 4);
    CHECK_EQ(crop.width, 7);
    fire_picture_fini(&crop);
    fire_prepare_fini(&p);
    fire_picture_fini(&whole);
}

TEST(a_window_outside_of_the_image_is_refused)
{
    static const fire_rect_t wrong[] = {
        {12, 0, 14, 5}, {0, 17, 5, 20}, {-5, 0, 0, 5}, {5, 5, 5, 9}, {9, 3, 4, 8}};
    fire_picture_t whole = picture(), crop;
    fire_prepare_t p;

    set_up(&p);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        CHECK_FAILS(fire_prepare_window(&p, &whole, wrong[i], PAD, &crop),
                    FIRE_ERR_INVALID,
                    "holds nothing of the image, 12 high and 17 wide");
    CHECK_FAILS(fire_prepare_window(&p, &whole, (fire_rect_t){0, 0, 5, 5}, 5, &crop),
                FIRE_ERR_INVALID, "a context pad of 5 needs a square input");
    fire_prepare_fini(&p);
    fire_picture_fini(&whole);
}

TEST(hardly_any_of_a_window_may_lie_in_the_image)
{
    fire_picture_t whole = picture(), crop;
    fire_prepare_t p;

    set_up(&p);
    CHECK_OK(
        fire_prepare_window(&p, &whole, (fire_rect_t){-9000, 16, 1, 900}, PAD, &crop));
    CHECK_EQ(crop.height, SIDE);
    fire_picture_fini(&crop);
    fire_prepare_fini(&p);
    fire_picture_fini(&whole);
}

/* ---- means ---- */

static const char *saved(int ndim, const int64_t *dim, const float *value)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/mean.npy", test_tmpdir());
    CHECK_OK(fire_npy_save(path, ndim, dim, value));
    return path;
}

TEST(a_mean_is_read_in_each_of_its_forms)
{
    static const float value[] = {1, 2, 3, 4, 5, 6};
    fire_mean_t        m, again;
    char               path[1024];

    CHECK_OK(fire_mean_load(saved(3, (int64_t[]){3, 1, 2}, value), &m));
    CHECK_NEAR(m.channel[2], 5.5, 0.0);
    snprintf(path, sizeof(path), "%s/mean.binaryproto", test_tmpdir());
    CHECK_OK(fire_mean_save(&m, path));
    CHECK_OK(fire_mean_load(path, &again));
    CHECK(fire_extent_equal(again.extent, m.extent));
    CHECK(memcmp(again.image, m.image, sizeof(value)) == 0);
    fire_mean_fini(&again);
    fire_mean_fini(&m);
    CHECK_OK(fire_mean_load(saved(1, (int64_t[]){3}, value), &m));
    CHECK(fire_extent_equal(m.extent, (fire_extent_t){3, 1, 1}));
    fire_mean_fini(&m);
    CHECK_FAILS(fire_mean_load(saved(4, (int64_t[]){2, 3, 1, 1}, value), &m),
                FIRE_ERR_INVALID, "mean.npy is not a mean");
}

/* num 1, channels 3, height 2^30, width 4, one value */
TEST(a_mean_that_claims_more_than_it_has_is_refused)
{
    static const uint8_t bytes[] = {0x08, 1, 0x10, 3, 0x18, 0x80, 0x80, 0x80, 0x80, 4,
                                    0x20, 4, 0x2a, 4, 0,    0,    0x80, 0x3f};
    char                 path[1024];
    fire_mean_t          m;

    snprintf(path, sizeof(path), "%s/vast.binaryproto", test_tmpdir());
    CHECK_OK(fire_file_write(path, (const char *)bytes, sizeof(bytes)));
    CHECK_FAILS(fire_mean_load(path, &m), FIRE_ERR_PARSE, "more than the file has");
}

TEST(a_mean_image_is_resized_to_the_input_or_averaged)
{
    float             image[] = {0, 10, 20, 30}, channel[] = {15};
    const fire_mean_t mean = {{1, 2, 2}, image, channel};
    fire_prepare_t    p;

    CHECK_OK(fire_prepare_init(&p, (fire_extent_t){1, 1, 1}));
    CHECK_OK(fire_prepare_set_mean(&p, &mean, false, "mean"));
    CHECK_NEAR(p.mean[0], 15.0, 1e-6);
    fire_prepare_fini(&p);
    CHECK_OK(fire_prepare_init(&p, (fire_extent_t){1, 2, 2}));
    CHECK_OK(fire_prepare_set_mean(&p, &mean, false, "mean"));
    CHECK_NEAR(p.mean[1], 10.0, 0.0);
    CHECK_OK(fire_prepare_set_mean(&p, &mean, true, "mean"));
    CHECK_NEAR(p.mean[1], 15.0, 0.0);
    fire_prepare_fini(&p);
    CHECK_OK(fire_prepare_init(&p, (fire_extent_t){3, 2, 2}));
    CHECK_FAILS(fire_prepare_set_mean(&p, &mean, true, "m.npy"), FIRE_ERR_INVALID,
                "m.npy has 1 channels, the net's input 3");
    fire_prepare_fini(&p);
    CHECK_FAILS(fire_prepare_init(&p, (fire_extent_t){2, 2, 2}), FIRE_ERR_INVALID,
                "2 channels");
}
