/* Windows that may hold an object. Tests src/data/picture/segment.c too. */
#include "data/picture/proposals.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "data/picture/segment.h"
#include "test.h"

enum { HEIGHT = 120, WIDTH = 160, MIN_SIDE = 16 };

static const fire_rect_t shapes[] = {
    {10, 10, 50, 60}, {20, 80, 100, 110}, {70, 20, 110, 60}, {80, 125, 110, 150}};
static const float colours[][3] = {
    {0.9f, 0.1f, 0.1f}, {0.1f, 0.8f, 0.2f}, {0.1f, 0.2f, 0.9f}, {0.9f, 0.9f, 0.1f}};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* Rectangles of one colour each on grey. */
static fire_picture_t picture(void)
{
    fire_picture_t p;

    CHECK_OK(fire_picture_create(HEIGHT, WIDTH, 3, &p));
    for (int64_t i = 0; i < fire_picture_count(&p); i++)
        p.value[i] = 0.5f;
    for (int k = 0; k < SHAPES; k++)
        for (int y = shapes[k].ymin; y < shapes[k].ymax; y++)
            for (int x = shapes[k].xmin; x < shapes[k].xmax; x++)
                memcpy(fire_picture_at(&p, y, x), colours[k], sizeof(colours[k]));
    return p;
}

static bool is_near(fire_rect_t a, fire_rect_t b, int by)
{
    return abs(a.ymin - b.ymin) <= by && abs(a.xmin - b.xmin) <= by &&
           abs(a.ymax - b.ymax) <= by && abs(a.xmax - b.xmax) <= by;
}

static bool has(const fire_rect_t *r, int64_t n, fire_rect_t want, int by)
{
    for (int64_t i = 0; i < n; i++)
        if (is_near(r[i], want, by)) return true;
    return false;
}

/* What smoothing makes of edges is small and joins one side or the other. */
TEST(regions_of_one_colour_get_one_label)
{
    fire_picture_t p = picture();
    static int     label[HEIGHT * WIDTH];
    int            n;

    CHECK_OK(fire_segment(&p, 100, 500, label, &n));
    CHECK_EQ(n, SHAPES + 1);
    CHECK_EQ(label[0], 0);
    for (int k = 0; k < SHAPES; k++) {
        int middle = label[(shapes[k].ymin + 15) * WIDTH + shapes[k].xmin + 15];

        CHECK(middle > 0);
        CHECK_EQ(label[(shapes[k].ymin + 4) * WIDTH + shapes[k].xmin + 4], middle);
    }
    fire_picture_fini(&p);
}

TEST(every_rectangle_of_a_picture_is_proposed)
{
    fire_picture_t p = picture();
    fire_rect_t   *r;
    int64_t        n;

    CHECK_OK(fire_proposals_find(&p, MIN_SIDE, &r, &n));
    CHECK(has(r, 1, (fire_rect_t){0, 0, HEIGHT, WIDTH}, 0)); /* all of it comes first */
    for (int k = 0; k < SHAPES; k++)
        CHECK(has(r, n, shapes[k], 2)); /* smoothing moves an edge a little */
    fire_free(r);
    fire_picture_fini(&p);
}

TEST(no_window_comes_twice_or_is_too_small)
{
    fire_picture_t p = picture();
    fire_rect_t   *r;
    int64_t        n;

    CHECK_OK(fire_proposals_find(&p, 32, &r, &n));
    for (int64_t i = 0; i < n; i++) {
        CHECK(r[i].ymax - r[i].ymin >= 32 && r[i].xmax - r[i].xmin >= 32);
        CHECK(r[i].ymin >= 0 && r[i].ymax <= HEIGHT && r[i].xmin >= 0 &&
              r[i].xmax <= WIDTH);
        CHECK(!has(r, i, r[i], 0));
    }
    CHECK(!has(r, n, shapes[3], 2)); /* 30 x 25 */
    fire_free(r);
    fire_picture_fini(&p);
}

TEST(a_picture_gives_the_same_windows_every_time)
{
    fire_picture_t p = picture();
    fire_rect_t   *a, *b;
    int64_t        na, nb;

    CHECK_OK(fire_proposals_find(&p, MIN_SIDE, &a, &na));
    CHECK_OK(fire_proposals_find(&p, MIN_SIDE, &b, &nb));
    CHECK_EQ(na, nb);
    CHECK(memcmp(a, b, (size_t)na * sizeof(*a)) == 0);
    fire_free(a);
    fire_free(b);
    fire_picture_fini(&p);
}

TEST(a_large_picture_is_searched_at_less_and_answered_in_its_own_size)
{
    fire_picture_t small = picture(), p;
    fire_rect_t   *r;
    int64_t        n;

    CHECK_OK(fire_picture_resize(&small, HEIGHT * 5, WIDTH * 5, &p));
    CHECK_OK(fire_proposals_find(&p, MIN_SIDE, &r, &n));
    CHECK(has(r, 1, (fire_rect_t){0, 0, HEIGHT * 5, WIDTH * 5}, 0));
    for (int k = 0; k < SHAPES; k++) {
        fire_rect_t want = {shapes[k].ymin * 5, shapes[k].xmin * 5, shapes[k].ymax * 5,
                            shapes[k].xmax * 5};

        CHECK(has(r, n, want, 10));
    }
    fire_free(r);
    fire_picture_fini(&p);
    fire_picture_fini(&small);
}

TEST(a_picture_of_one_colour_or_one_pixel_has_itself_for_a_window)
{
    fire_picture_t p;
    fire_rect_t   *r;
    int64_t        n;

    CHECK_OK(fire_picture_create(40, 30, 1, &p));
    CHECK_OK(fire_proposals_find(&p, MIN_SIDE, &r, &n));
    CHECK_EQ(n, 1);
    CHECK(has(r, n, (fire_rect_t){0, 0, 40, 30}, 0));
    fire_free(r);
    fire_picture_fini(&p);
    CHECK_OK(fire_picture_create(1, 1, 3, &p));
    CHECK_OK(fire_proposals_find(&p, 1, &r, &n));
    CHECK_EQ(n, 1);
    fire_free(r);
    CHECK_OK(fire_proposals_find(&p, 2, &r, &n));
    CHECK_EQ(n, 0);
    fire_free(r);
    fire_picture_fini(&p);
}
