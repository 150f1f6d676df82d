/* test_lr_find.c - rates that rise, what is read from the losses, and the page. Tests
 * src/sweep/lr_find.c and src/sweep/lr_page.c. */
#include "sweep/lr_find.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "test.h"

/* Losses that are 2, fall between rates 1e-3 and 1e-1, and explode above. */
static double loss_at(double rate)
{
    double x = log10(rate);

    return x < -3 ? 2 : x < -1 ? 2 - 0.75 * (x + 3) : 0.5 + 5 * (x + 1);
}

static fire_lr_find_t curve(void)
{
    fire_lr_find_t f = {.from = 1e-5, .to = 1, .iterations = 51};

    CHECK_OK(FIRE_NEW(&f.point, f.iterations));
    for (int i = 0; i < 51; i++) {
        double rate = pow(10, -5 + i / 10.0);

        f.point[i] = (fire_lr_point_t){rate, loss_at(rate), loss_at(rate)};
        if (f.point[i].smooth < f.point[f.least].smooth) f.least = i;
        f.npoint++;
    }
    return f;
}

TEST(the_suggestion_is_where_the_loss_falls_fastest)
{
    fire_lr_find_t f = curve();

    fire_lr_find_judge(&f);
    CHECK(f.steepest >= 22 && f.steepest <= 38);
    CHECK_NEAR(log10(f.point[f.least].rate), -1, 0.05);
    fire_lr_find_fini(&f);
}

TEST(losses_that_only_rise_give_no_suggestion)
{
    fire_lr_find_t f = curve();

    for (int i = 0; i < 51; i++)
        f.point[i].smooth = 1 + i;
    f.least = 0;
    fire_lr_find_judge(&f);
    CHECK_EQ(f.steepest, -1);
    fire_lr_find_fini(&f);
}

TEST(the_page_shows_curve_and_numbers)
{
    fire_lr_find_t f = curve();
    fire_str_t     s = {0};

    fire_lr_find_judge(&f);
    f.point[50].smooth = NAN; /* it had diverged */
    CHECK_OK(fire_lr_find_page(&f, "a<b.prototxt", &s));
    CHECK(strstr(s.text, "Learning rates of a&lt;b.prototxt") != NULL);
    CHECK(strstr(s.text, "<polyline class='mean' points='") != NULL);
    CHECK(strstr(s.text, "<circle ") != NULL);
    CHECK(strstr(s.text, ">1e-3</text>") != NULL);
    CHECK(strstr(s.text, "<tr><td>0.1<td>0.5<td>0.5\n") != NULL);
    fire_str_fini(&s);
    fire_lr_find_fini(&f);
}

TEST(rates_that_do_not_rise_are_refused)
{
    fire_lr_find_t f = {.from = 1, .to = 0.1, .iterations = 50};

    CHECK_FAILS(fire_lr_find_check(&f), FIRE_ERR_INVALID, "not from 1 to 0.1");
    f = (fire_lr_find_t){.from = 0, .to = 1, .iterations = 50};
    CHECK_FAILS(fire_lr_find_check(&f), FIRE_ERR_INVALID, "not from 0 to 1");
    f = (fire_lr_find_t){.from = 0.1, .to = 1, .iterations = 3};
    CHECK_FAILS(fire_lr_find_check(&f), FIRE_ERR_INVALID, "iterations must be 10");
}
