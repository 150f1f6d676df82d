/* Average precision of detections, by hand. */
#include "train/average_precision.h"

#include "test.h"

/* Two objects of class 1, found first and third; one of class 2, never found. */
static const float rows[] = {-1, 1, 2,    -1, -1, -1, 2, 1,    -1, -1, /* objects */
                             0,  1, 0.9f, 1,  0,  0,  1, 0.8f, 0,  1,
                             0,  1, 0.7f, 1,  0,  0,  1, 0.6f, 0,  0};

static double mean(const char *version)
{
    fire_precision_t          how;
    fire_average_precision_t *d;
    double                    x;

    CHECK_OK(fire_precision_find(version, &how));
    CHECK_OK(fire_average_precision_create(how, &d));
    CHECK_OK(fire_average_precision_add(d, 10, rows)); /* in two batches */
    CHECK_OK(
        fire_average_precision_add(d, sizeof(rows) / sizeof(rows[0]) - 10, rows + 10));
    CHECK_OK(fire_average_precision_mean(d, &x));
    fire_average_precision_destroy(d);
    return x;
}

TEST(average_precision_follows_its_definitions)
{
    /* Class 1: recall 1/2, 1/2, 1 at precision 1, 1/2, 2/3; class 2 counts as 0. */
    CHECK_NEAR(mean("Integral"), (0.5 * 1 + 0.5 * 2 / 3) / 2, 1e-9);
    CHECK_NEAR(mean("MaxIntegral"), (0.5 * 1 + 0.5 * 2 / 3) / 2, 1e-9);
    CHECK_NEAR(mean("11point"), (6 * 1 + 5 * 2.0 / 3) / 11 / 2, 1e-9);
}

TEST(nothing_to_find_is_no_precision)
{
    fire_average_precision_t *d;
    double                    x;

    CHECK_OK(fire_average_precision_create(FIRE_PRECISION_11POINT, &d));
    CHECK_OK(fire_average_precision_mean(d, &x));
    CHECK_NEAR(x, 0, 0);
    fire_average_precision_destroy(d);
}

TEST(an_unknown_average_or_label_is_refused)
{
    const float               bad[] = {0, -3, 1, 1, 0};
    fire_precision_t          how;
    fire_average_precision_t *d;

    CHECK_FAILS(fire_precision_find("12point", &how), FIRE_ERR_INVALID, "12point");
    CHECK_OK(fire_average_precision_create(FIRE_PRECISION_11POINT, &d));
    CHECK_FAILS(fire_average_precision_add(d, 5, bad), FIRE_ERR_INVALID, "no label");
    fire_average_precision_destroy(d);
}
