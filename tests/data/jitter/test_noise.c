/* Changes of values: colours, noise, blur, holes. Tests src/data/jitter/color.c too. */
#include "bench.h"

#include "data/jitter/noise.h"

TEST(brightness_and_contrast_are_factors)
{
    double least = 9, most = 0;

    WITH(b, "augment_param { brightness: 0.4 }", CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        least = fmin(least, at(&b, 0, 0, 2) / 40.0);
        most  = fmax(most, at(&b, 0, 0, 2) / 40.0);
        CHECK_NEAR(at(&b, 0, 10, 0) / 100.0, at(&b, 0, 0, 2) / 40.0, 0.02);
    }
    CHECK(least > 0.58 && least < 0.65 && most > 1.35 && most < 1.42);
    close_bench(&b);
}

TEST(contrast_moves_values_away_from_the_mean_grey_or_towards_it)
{
    const double mean = 0.114 * 75 + 0.587 * 55 + 0.299 * 40;

    WITH(b, "augment_param { contrast: 0.5 }", CAFFE__PHASE__TRAIN)
    {
        double gain;

        CHECK_OK(run_sample(&b, sample));
        gain = (at(&b, 5, 15, 0) - mean) / (150 - mean);
        CHECK(gain > 0.49 && gain < 1.51);
        CHECK_NEAR(at(&b, 5, 9, 0), mean + gain * (90 - mean), 1.1);
        CHECK_NEAR(at(&b, 5, 9, 2), mean + gain * (40 - mean), 1.1);
    }
    close_bench(&b);
}

TEST(saturation_hue_and_gray_keep_the_grey_of_a_pixel)
{
    int gray = 0;

    WITH(b, "augment_param { saturation: 0.5 hue: 0.1 gray: 0.25 }",
         CAFFE__PHASE__TRAIN)
    {
        double g;

        CHECK_OK(run_sample(&b, sample));
        g = 0.114 * at(&b, 5, 6, 0) + 0.587 * at(&b, 5, 6, 1) + 0.299 * at(&b, 5, 6, 2);
        CHECK_NEAR(g, 0.114 * 60 + 0.587 * 50 + 0.299 * 40, 1.5);
        gray +=
            at(&b, 5, 6, 0) == at(&b, 5, 6, 1) && at(&b, 5, 6, 1) == at(&b, 5, 6, 2);
    }
    CHECK(gray > 25 && gray < 80);
    close_bench(&b);
}

TEST(lighting_adds_the_same_to_every_pixel)
{
    double square = 0;

    WITH(b, "augment_param { lighting: 0.1 }", CAFFE__PHASE__TRAIN)
    {
        int by;

        CHECK_OK(run_sample(&b, sample));
        by = at(&b, 6, 8, 0) - 80;
        CHECK_NEAR(at(&b, 2, 12, 0) - 120, by, 0);
        square += (double)by * by;
    }
    /* 0.1 * 255 * sqrt of the sum of (value * axis)^2 for blue: about 3.3 */
    CHECK_NEAR(sqrt(square / 200), 3.3, 0.7);
    close_bench(&b);
}

TEST(noise_has_its_deviation_and_no_mean)
{
    double square = 0, sum = 0;
    int    n = 200 * AREA;

    WITH(b, "augment_param { noise: 8 }", CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        for (int i = 0; i < AREA; i++) {
            double d = at(&b, i / W, i % W, 2) - 40.0;

            sum += d;
            square += d * d;
        }
    }
    CHECK_NEAR(sum / n, 0, 0.1);
    CHECK_NEAR(square / n, 8 * 8 / 3.0, 5); /* the deviation is uniform in 0 ... 8 */
    close_bench(&b);
}

TEST(blur_keeps_slopes_and_softens_edges)
{
    fire_buffer_t spare    = {0};
    uint8_t       edge[64] = {0};
    fire_pixels_t p        = fire_pixels_interleaved(edge, (fire_extent_t){1, 8, 8});

    for (int i = 0; i < 64; i++)
        edge[i] = i % 8 < 4 ? 0 : 200;
    CHECK_OK(fire_noise_blur(1, &spare, &p));
    CHECK(edge[3] > 40 && edge[3] < 90 && edge[4] > 110 && edge[4] < 160);
    CHECK_NEAR(edge[3] + edge[4], 200, 2);
    CHECK(edge[0] < 5 && edge[7] > 195);
    fire_buffer_fini(&spare);
}

TEST(a_hole_is_square_filled_with_the_mean_and_inside_of_the_crop)
{
    int holes = 0;

    WITH(b,
         "crop_size: 10 mean_value: 201 augment_param { cutout: 4 cutout_prob: 0.5 }",
         CAFFE__PHASE__TRAIN)
    {
        fire_window_t w;
        int           n = 0;

        CHECK_OK(run_sample(&b, sample));
        w = fire_transform_window(&b.transform, b.pixels.extent, 7, sample);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                bool in =
                    y >= w.top && y < w.top + 10 && x >= w.left && x < w.left + 10;

                if (at(&b, y, x, 2) != 201) continue;
                CHECK(in);
                n++;
            }
        CHECK(n == 0 || n == 16 || (n >= 4 && n < 16));
        holes += n > 0;
    }
    CHECK(holes > 60 && holes < 140);
    close_bench(&b);
}

TEST(ssd_s_noise_does_what_its_fields_say)
{
    WITH(b, "noise_param { inverse: true posterize: true }", CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        CHECK_EQ(at(&b, 0, 0, 2), 255 - 32);
        CHECK_EQ(at(&b, 0, 10, 0), 255 - 96);
    }
    close_bench(&b);
}

TEST(ssd_s_noise_comes_with_its_probability)
{
    int gray = 0, salt = 0;

    WITH(b,
         "noise_param { prob: 0.5 decolorize: true saltpepper: true saltpepper_param "
         "{ fraction: 0.1 value: 255 } }",
         CAFFE__PHASE__TRAIN)
    {
        CHECK_OK(run_sample(&b, sample));
        gray += at(&b, 5, 9, 0) == at(&b, 5, 9, 2);
        for (int i = 0; i < AREA; i++)
            salt += at(&b, i / W, i % W, 0) == 255;
    }
    CHECK(gray > 60 && gray < 140);
    CHECK(salt > 60 * 15 && salt < 140 * 19);
    close_bench(&b);
}

TEST(erosion_takes_the_least_neighbour_and_equalization_spreads_greys)
{
    bench_t b;

    CHECK_OK(open_bench(&b, "noise_param { erode: true }", CAFFE__PHASE__TRAIN));
    CHECK_OK(run_sample(&b, 0));
    CHECK_EQ(at(&b, 5, 5, 0), 40);
    CHECK_EQ(at(&b, 5, 0, 0), 0);
    CHECK_EQ(at(&b, 5, 5, 1), 40);
    close_bench(&b);
    CHECK_OK(open_bench(&b, "noise_param { hist_eq: true }", CAFFE__PHASE__TRAIN));
    CHECK_OK(run_sample(&b, 0));
    CHECK(at(&b, H - 1, W - 1, 1) > 200);
    close_bench(&b);
}
