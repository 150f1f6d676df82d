/* Areas, overlaps and projections of boxes. */
#include "data/transform/bbox.h"
#include "test.h"

static void is_box(fire_bbox_t got, float xmin, float ymin, float xmax, float ymax)
{
    CHECK_NEAR(got.xmin, xmin, 1e-6);
    CHECK_NEAR(got.ymin, ymin, 1e-6);
    CHECK_NEAR(got.xmax, xmax, 1e-6);
    CHECK_NEAR(got.ymax, ymax, 1e-6);
}

TEST(an_area_is_width_times_height_or_nothing)
{
    CHECK_NEAR(fire_bbox_area((fire_bbox_t){0.1f, 0.2f, 0.6f, 0.4f}), 0.1, 1e-6);
    CHECK_NEAR(fire_bbox_area((fire_bbox_t){0.6f, 0.2f, 0.1f, 0.4f}), 0, 0);
}

TEST(a_box_is_clipped_to_the_image)
{
    is_box(fire_bbox_clip((fire_bbox_t){-0.5f, 0.2f, 0.7f, 1.5f}), 0, 0.2f, 0.7f, 1);
}

/* Halves of the image that share a quarter of it: 1/4 over 3/4. */
TEST(overlap_is_what_is_shared_of_what_both_cover)
{
    fire_bbox_t left = {0, 0, 0.5f, 1}, middle = {0.25f, 0, 0.75f, 1};
    fire_bbox_t right = {0.5f, 0, 1, 1};

    CHECK_NEAR(fire_bbox_overlap(left, middle), 1.0 / 3, 1e-6);
    CHECK_NEAR(fire_bbox_overlap(left, left), 1, 1e-6);
    CHECK_NEAR(fire_bbox_overlap(left, right), 0, 0);
}

TEST(coverage_is_what_is_shared_of_the_first)
{
    fire_bbox_t small = {0, 0, 0.5f, 0.5f}, large = {0, 0, 0.25f, 1};

    CHECK_NEAR(fire_bbox_coverage(small, large), 0.5, 1e-6);
    CHECK_NEAR(fire_bbox_coverage(large, small), 0.5, 1e-6);
    CHECK_NEAR(fire_bbox_coverage(small, (fire_bbox_t){0, 0, 1, 1}), 1, 1e-6);
}

TEST(a_box_is_seen_from_a_window)
{
    fire_bbox_t window = {0.5f, 0.5f, 1, 1};

    is_box(fire_bbox_project(window, (fire_bbox_t){0.75f, 0.5f, 1, 0.75f}), 0.5f, 0, 1,
           0.5f);
    is_box(fire_bbox_project(window, (fire_bbox_t){0, 0, 0.75f, 1}), 0, 0, 0.5f, 1);
}
