/* Mean, scale, crop and mirror. */
#include "data/transform/transform.h"

#include "base/file.h"
#include "data/picture/mean.h"
#include "rig.h"

static uint8_t       image[2 * 5 * 6]; /* pixel k is k */
static fire_pixels_t pixels;

static void setup(void)
{
    for (int k = 0; k < 60; k++)
        image[k] = (uint8_t)k;
    pixels = fire_pixels_planar(image, NULL, (fire_extent_t){2, 5, 6});
}

static fire_status_t run(Caffe__TransformationParameter *p, Caffe__Phase phase,
                         int64_t sample, float *out, fire_extent_t *extent)
{
    fire_transform_t t;
    fire_status_t    st = fire_transform_init(&t, p, phase, "layer");

    if (st == FIRE_OK) st = fire_transform_extent(&t, pixels.extent, extent);
    if (st == FIRE_OK) fire_transform_apply(&t, &pixels, 1, sample, out);
    fire_transform_fini(&t);
    return st;
}

TEST(the_mean_is_subtracted_before_scaling)
{
    Caffe__TransformationParameter p       = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    float                          value[] = {10, 20}, out[60];
    fire_extent_t                  e;

    setup();
    p.scale        = 0.5f;
    p.mean_value   = value;
    p.n_mean_value = 2;
    CHECK_OK(run(&p, CAFFE__PHASE__TEST, 0, out, &e));
    for (int k = 0; k < 60; k++)
        CHECK_NEAR(out[k], (k - (k < 30 ? 10 : 20)) * 0.5, 0);
}

TEST(in_the_test_phase_the_crop_is_the_centre_rounded_down)
{
    Caffe__TransformationParameter p = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    float                          out[60];
    fire_extent_t                  e;

    setup();
    p.crop_size = 3;
    CHECK_OK(run(&p, CAFFE__PHASE__TEST, 0, out, &e));
    CHECK(e.channels == 2 && e.height == 3 && e.width == 3);
    CHECK_EQ(out[0], 1 * 6 + 1);
    CHECK_EQ(out[17], 30 + 3 * 6 + 3);
}

TEST(in_training_crops_and_mirrors_differ_and_all_occur)
{
    Caffe__TransformationParameter p = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    int                            seen[3][4][2] = {0};

    setup();
    p.crop_size = 3;
    p.mirror    = true;
    for (int64_t sample = 0; sample < 600; sample++) {
        float         out[18], again[18];
        fire_extent_t e;
        bool          mirrored;
        int           corner;

        CHECK_OK(run(&p, CAFFE__PHASE__TRAIN, sample, out, &e));
        CHECK_OK(run(&p, CAFFE__PHASE__TRAIN, sample, again, &e));
        CHECK(memcmp(out, again, sizeof(out)) == 0);
        mirrored = out[1] < out[0];
        corner   = (int)(mirrored ? out[2] : out[0]);
        CHECK(corner / 6 <= 2 && corner % 6 <= 3);
        for (int k = 0; k < 18; k++) {
            int c = k / 9, y = k / 3 % 3, x = mirrored ? 2 - k % 3 : k % 3;

            CHECK_EQ(out[k], corner + c * 30 + y * 6 + x);
        }
        seen[corner / 6][corner % 6][mirrored]++;
    }
    for (int i = 0; i < 24; i++)
        CHECK(((int *)seen)[i] > 5);
}

static const char *save_mean(int channels, int height, int width)
{
    static float values[60];
    const char  *path = tmp_path("mean.binaryproto");
    fire_mean_t  mean = {.extent = {channels, height, width}, .image = values};

    for (int k = 0; k < 60; k++)
        values[k] = (float)k / 2;
    CHECK_OK(fire_mean_save(&mean, path));
    return path;
}

TEST(a_mean_file_is_taken_at_the_cropped_position)
{
    Caffe__TransformationParameter p = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    float                          out[60];
    fire_extent_t                  e;

    setup();
    p.mean_file = (char *)save_mean(2, 5, 6);
    p.crop_size = 3;
    CHECK_OK(run(&p, CAFFE__PHASE__TRAIN, 3, out, &e));
    CHECK_NEAR(out[1] - out[0], 0.5, 0);
    CHECK_NEAR(out[9] - out[0], 15, 0);
}

TEST(interleaved_and_planar_pixels_give_the_same)
{
    Caffe__TransformationParameter p = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    uint8_t                        mixed[60];
    float                          a[60], b[60];
    fire_extent_t                  e;

    setup();
    for (int k = 0; k < 60; k++)
        mixed[k % 30 * 2 + k / 30] = image[k];
    p.mirror    = true;
    p.mean_file = (char *)save_mean(2, 5, 6);
    CHECK_OK(run(&p, CAFFE__PHASE__TRAIN, 1, a, &e));
    pixels = fire_pixels_interleaved(mixed, pixels.extent);
    CHECK_OK(run(&p, CAFFE__PHASE__TRAIN, 1, b, &e));
    CHECK(memcmp(a, b, sizeof(a)) == 0);
}

TEST(contradictions_and_wrong_sizes_are_refused)
{
    Caffe__TransformationParameter p       = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    float                          value[] = {1, 2, 3}, out[60];
    fire_extent_t                  e;

    setup();
    p.crop_size = 6;
    CHECK_FAILS(run(&p, CAFFE__PHASE__TEST, 0, out, &e), FIRE_ERR_INVALID,
                "larger than the image");
    p.crop_size    = 0;
    p.mean_value   = value;
    p.n_mean_value = 3;
    CHECK_FAILS(run(&p, CAFFE__PHASE__TEST, 0, out, &e), FIRE_ERR_INVALID,
                "3 mean_values");
    p.mean_file = (char *)save_mean(2, 6, 5);
    CHECK_FAILS(run(&p, CAFFE__PHASE__TEST, 0, out, &e), FIRE_ERR_INVALID, "keep one");
    p.n_mean_value = 0;
    CHECK_FAILS(run(&p, CAFFE__PHASE__TEST, 0, out, &e), FIRE_ERR_INVALID,
                "is for images of 2 x 6 x 5");
    p.mean_file   = NULL;
    p.force_color = p.force_gray = true;
    CHECK_FAILS(run(&p, CAFFE__PHASE__TEST, 0, out, &e), FIRE_ERR_INVALID,
                "force_gray");
}

TEST(a_mean_file_that_is_damaged_is_named)
{
    Caffe__TransformationParameter p    = CAFFE__TRANSFORMATION_PARAMETER__INIT;
    const char                    *path = tmp_path("bad.binaryproto");
    float                          out[60];
    fire_extent_t                  e;

    CHECK_OK(fire_file_write(path, "nonsense", 8));
    p.mean_file = (char *)path;
    CHECK_FAILS(run(&p, CAFFE__PHASE__TEST, 0, out, &e), FIRE_ERR_PARSE,
                "bad.binaryproto");
}
