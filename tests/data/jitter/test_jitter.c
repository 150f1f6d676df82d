/* Random parts of images, and the order of changes. Tests src/data/jitter/ and
 * src/data/transform/mix.c. */
#include "bench.h"

TEST(without_settings_images_are_not_touched)
{
    WITH(b, "mirror: true crop_size: 4", CAFFE__PHASE__TRAIN)
    {
        CHECK(!b.jitter.active);
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.step_x, 1);
    }
    close_bench(&b);
}

TEST(augment_param_rests_in_the_test_phase)
{
    WITH(b,
         "crop_size: 4 augment_param { pad: 2 noise: 9 min_area: 0.3 mixup: 1 "
         "classes: 3 cutout: 3 }",
         CAFFE__PHASE__TEST)
    {
        CHECK(!b.jitter.active);
        CHECK_EQ(b.jitter.mix.alpha, 0);
    }
    close_bench(&b);
}

TEST(a_border_is_the_mean_and_the_image_is_in_the_middle)
{
    WITH(b,
         "crop_size: 12 mean_value: 1 mean_value: 2 mean_value: 3.4 "
         "augment_param { pad: 3 }",
         CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.height, H + 6);
        CHECK_EQ(b.pixels.extent.width, W + 6);
        for (int y = 0; y < H + 6; y++)
            for (int x = 0; x < W + 6; x++) {
                bool in = y >= 3 && y < H + 3 && x >= 3 && x < W + 3;

                CHECK_EQ(at(&b, y, x, 0), in ? (x - 3) * 10 : 1);
                CHECK_EQ(at(&b, y, x, 1), in ? (y - 3) * 10 : 2);
                CHECK_EQ(at(&b, y, x, 2), in ? 40 : 3);
            }
    }
    close_bench(&b);
}

TEST(a_border_is_added_after_resizing)
{
    WITH(b,
         "crop_size: 6 mean_value: 9 resize_param { height: 6 width: 8 } "
         "augment_param { pad: 1 }",
         CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.height, 8);
        CHECK_EQ(b.pixels.extent.width, 10);
        CHECK_EQ(at(&b, 0, 4, 2), 9);
        CHECK_EQ(at(&b, 1, 1, 2), 40);
        CHECK_EQ(at(&b, 7, 4, 2), 9);
    }
    close_bench(&b);
}

/* The drawn part of the slope, from the values at its corners: pixels of the source per
 * pixel of the result. */
static double step_of(const bench_t *b, int c)
{
    int last = b->pixels.extent.width - 2;

    return c == 0 ? (at(b, 2, last, 0) - at(b, 2, 1, 0)) / 10.0 / (last - 1)
                  : (at(b, last, 2, 1) - at(b, 1, 2, 1)) / 10.0 / (last - 1);
}

TEST(parts_have_the_areas_and_ratios_that_are_asked_for)
{
    double least = 1, most = 0, wide = 0, tall = 9;

    WITH(b,
         "crop_size: 10 augment_param { min_area: 0.25 max_area: 0.5 min_aspect: 0.75 "
         "max_aspect: 1.3333 }",
         CAFFE__PHASE__TRAIN)
    {
        double w, h;

        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.height, 10);
        CHECK_EQ(b.pixels.extent.width, 10);
        w     = 10 * step_of(&b, 0);
        h     = 10 * step_of(&b, 1);
        least = fmin(least, w * h / AREA);
        most  = fmax(most, w * h / AREA);
        wide  = fmax(wide, w / h);
        tall  = fmin(tall, w / h);
    }
    CHECK(least > 0.2 && least < 0.3);
    CHECK(most < 0.57 && most > 0.45);
    CHECK(wide < 1.5 && wide > 1.2);
    CHECK(tall > 0.65 && tall < 0.85);
    close_bench(&b);
}

TEST(a_quarter_turn_makes_columns_of_rows)
{
    fire_transform_t t = {0};
    bench_t          b;
    fire_cut_t       r = {.width = 12, .height = 12, .out_width = 12, .out_height = 12};

    CHECK_OK(open_bench(&b, "", CAFFE__PHASE__TRAIN));
    b.pixels = fire_pixels_interleaved(slope, (fire_extent_t){3, H, W});
    r.angle  = 1.57079633f;
    CHECK_OK(fire_cut_out(&r, &t, &b.scratch, &b.pixels));
    for (int y = 0; y < 12; y++)
        for (int x = 0; x < 12; x++) {
            CHECK_NEAR(at(&b, y, x, 0), 110 - y * 10, 1);
            CHECK_NEAR(at(&b, y, x, 1), x * 10, 1);
        }
    close_bench(&b);
}

TEST(rotation_shows_the_mean_outside_and_keeps_the_size)
{
    int changed = 0;

    WITH(b, "mean_value: 200 augment_param { rotate: 30 }", CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.height, H);
        CHECK_EQ(b.pixels.extent.width, W);
        CHECK_EQ(at(&b, H / 2, W / 2, 2), 40);
        changed += at(&b, 0, 0, 2) > 60;
    }
    CHECK(changed > 100);
    close_bench(&b);
}

TEST(video_crops_are_corners_and_centre_of_a_few_sizes)
{
    int seen[13] = {0}, places = 0;

    WITH(b, "crop_size: 6 fix_crop: true", CAFFE__PHASE__TRAIN)
    {
        int x, y;

        CHECK_OK(run_sample(&b, sample));
        x = at(&b, 0, 0, 0) / 10;
        y = at(&b, 0, 0, 1) / 10;
        CHECK_EQ(at(&b, 5, 5, 0), (x + 5) * 10);
        CHECK(x % 4 == 0 && y % 2 == 0); /* quarters of 10 are 2, of 6 are 1 */
        seen[x + y / 2]++;
    }
    for (int i = 0; i < 13; i++)
        places += seen[i] > 0;
    CHECK_EQ(places, 5);
    close_bench(&b);
}

TEST(video_scales_differ_by_at_most_max_distort_places)
{
    int squares = 0, others = 0;

    WITH(b,
         "crop_size: 12 multi_scale: true scale_ratios: 1 scale_ratios: 0.5 "
         "max_distort: 0",
         CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.width, 12);
        squares += fabs(step_of(&b, 0) - step_of(&b, 1)) < 0.05;
        others += step_of(&b, 0) < 0.6;
    }
    CHECK_EQ(squares, 200);
    CHECK(others > 60 && others < 140);
    close_bench(&b);
}

TEST(intel_s_random_size_is_that_of_the_shorter_side)
{
    int least = 99, most = 0;

    WITH(b, "crop_size: 8 random_resize_param { min_size: 8 max_size: 20 }",
         CAFFE__PHASE__TRAIN)
    {
        int h;

        CHECK_OK(run_sample(&b, sample));
        h = b.pixels.extent.height;
        CHECK_NEAR(b.pixels.extent.width, h * 16.0 / 12.0, 1);
        least = h < least ? h : least;
        most  = h > most ? h : most;
    }
    CHECK_EQ(least, 8);
    CHECK_EQ(most, 20);
    close_bench(&b);
}

TEST(intel_s_random_aspect_ratio_gives_crop_size)
{
    WITH(b,
         "crop_size: 8 random_aspect_ratio_param { min_area_ratio: 0.3 "
         "max_area_ratio: 0.6 aspect_ratio_change: 0.8 }",
         CAFFE__PHASE__TRAIN)
    {
        double area;

        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.width, 8);
        area = 64 * step_of(&b, 0) * step_of(&b, 1) / AREA;
        CHECK(area > 0.22 && area < 0.7);
    }
    close_bench(&b);
}

TEST(nvidia_s_sizes_and_stretches_are_within_their_bounds)
{
    int wide = 0;

    WITH(b,
         "crop_size: 6 img_rand_resize_lower: 6 img_rand_resize_upper: 9 "
         "horizontal_stretch_lower: 0.5 horizontal_stretch_upper: 1",
         CAFFE__PHASE__TEST)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK(b.pixels.extent.height >= 6 && b.pixels.extent.height <= 9);
        CHECK(b.pixels.extent.width >= 6 && b.pixels.extent.width <= 12);
        wide += b.pixels.extent.width > b.pixels.extent.height;
    }
    CHECK(wide > 20 && wide < 180);
    close_bench(&b);
}

TEST(nvidia_s_images_do_not_grow_unless_allowed)
{
    WITH(b, "crop_size: 6 img_rand_resize_lower: 30 img_rand_resize_upper: 30",
         CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.height, H);
    }
    close_bench(&b);
}

TEST(scale_factors_resize_and_small_images_get_room_to_the_right_and_below)
{
    int half = 0;

    WITH(b, "crop_size: 10 mean_value: 77 scale_factors: 0.5 scale_factors: 1",
         CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK(b.pixels.extent.height >= 10);
        half += b.pixels.extent.height == 10;
        if (b.pixels.extent.height > 10) continue;
        CHECK_EQ(at(&b, 5, 7, 0), 145); /* the last column, between 140 and 150 */
        CHECK_EQ(at(&b, 5, 8, 0), 77);
        CHECK_EQ(at(&b, 6, 7, 0), 77);
    }
    CHECK(half > 60 && half < 140);
    close_bench(&b);
}

TEST(expansion_and_resizing_of_ssd_hold_for_any_image)
{
    int expanded = 0;

    WITH(b,
         "mean_value: 250 expand_param { prob: 0.5 max_expand_ratio: 3 } resize_param "
         "{ height: 9 width: 9 }",
         CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(b.pixels.extent.height, 9);
        CHECK_EQ(b.pixels.extent.width, 9);
        expanded += at(&b, 0, 0, 2) > 100 || at(&b, 8, 8, 2) > 100;
    }
    CHECK(expanded > 60 && expanded < 140);
    close_bench(&b);
}

TEST(a_sample_is_changed_in_the_same_way_whatever_was_before)
{
    const char *text = "crop_size: 8 augment_param { min_area: 0.3 rotate: 20 "
                       "brightness: 0.3 hue: 0.1 noise: 5 blur: 1 cutout: 3 }";
    uint8_t     first[192];
    bench_t     b;

    CHECK_OK(open_bench(&b, text, CAFFE__PHASE__TRAIN));
    CHECK_OK(run_sample(&b, 17));
    memcpy(first, b.pixels.bytes, sizeof(first));
    for (int64_t sample = 0; sample < 30; sample++) {
        CHECK_OK(run_sample(&b, sample));
        CHECK((memcmp(first, b.pixels.bytes, sizeof(first)) == 0) == (sample == 17));
    }
    close_bench(&b);
}

TEST(mixup_pairs_rows_both_ways_and_shares_follow_their_distribution)
{
    fire_mix_rule_t rule = {.alpha = 0.2f, .classes = 3};
    fire_mix_t      mix[7];
    double          extreme = 0;

    for (int64_t step = 0; step < 300; step++) {
        fire_mix_choose(&rule, 5, (fire_slice_t){step * 7, 1, 7}, mix);
        for (int i = 0; i < 7; i++) {
            CHECK_EQ(mix[(int)mix[i].partner].partner, i);
            CHECK(mix[i].share >= 0 && mix[i].share <= 1);
            extreme += mix[i].share < 0.1f || mix[i].share > 0.9f;
        }
    }
    CHECK_NEAR(extreme / 2100, 0.675, 0.05); /* of Beta(0.2, 0.2) */
}

TEST(mixed_rows_keep_their_sum_where_shares_agree)
{
    fire_mix_t mix[2] = {{0.25f, 1}, {0.25f, 0}};
    float      x[]    = {4, 8, 0, 40};

    fire_mix_rows(mix, 2, 2, x);
    CHECK_EQ(x[0], 1);
    CHECK_EQ(x[1], 32);
    CHECK_EQ(x[2], 3);
    CHECK_EQ(x[3], 16);
}
