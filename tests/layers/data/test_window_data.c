/* Windows of images, of foreground and background. Tests src/data/window_list.c too. */
#include "rig.h"

#include "base/file.h"

/* One PPM of 8 x 8 whose blue is 10 * row + column. */
static void write_image(void)
{
    char file[11 + 192] = "P6 8 8 255\n";

    for (int i = 0; i < 64; i++)
        file[11 + 3 * i + 2] = (char)(10 * (i / 8) + i % 8);
    CHECK_OK(fire_file_write(tmp_path("image.ppm"), file, sizeof(file)));
}

static void write_windows(const char *text)
{
    const char *whole = format("# 0\n%s\n3\n8\n8\n%s", tmp_path("image.ppm"), text);

    write_image();
    CHECK_OK(fire_file_write(tmp_path("windows"), whole, strlen(whole)));
}

static const char *layer(const char *param, const char *transform)
{
    return format("name: 'd' type: 'WindowData' top: 'data' top: 'label' "
                  "window_data_param { source: '%s' %s } transform_param { %s }",
                  tmp_path("windows"), param, transform);
}

TEST(a_batch_has_background_first_and_then_its_share_of_foreground)
{
    rig_t r;

    write_windows("3\n5 0.9 2 1 5 4\n7 0.1 0 0 3 3\n1 0.4 0 0 7 7\n");
    CHECK_OK(rig_open(&r,
                      layer("batch_size: 4 fg_fraction: 0.25 bg_threshold: 0.3",
                            "crop_size: 4 mean_value: 1 scale: 2"),
                      CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_forward(&r));
    for (int i = 0; i < 4; i++) {
        const float *blue = rig_top(&r, 0) + i * 48;
        int          y0 = i == 3 ? 1 : 0, x0 = i == 3 ? 2 : 0;

        CHECK_EQ(rig_top(&r, 1)[i], i == 3 ? 5 : 0);
        for (int k = 0; k < 16; k++)
            CHECK_EQ(blue[k], (10 * (y0 + k / 4) + x0 + k % 4 - 1) * 2);
    }
    rig_close(&r);
}

TEST(scale_may_stand_in_window_data_param)
{
    rig_t r;

    write_windows("1\n5 0.9 2 1 5 4\n");
    CHECK_OK(rig_open(&r,
                      layer("batch_size: 1 fg_fraction: 1 scale: 0.5", "crop_size: 4"),
                      CAFFE__PHASE__TEST));
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(rig_top(&r, 0)[0], 6);
    rig_close(&r);
}

TEST(lanes_share_a_batch_of_windows_as_one_lane_makes_it)
{
    float whole[8], parts[8];
    rig_t r;

    write_windows("4\n5 0.9 2 1 5 4\n6 0.8 0 0 3 3\n7 0.1 0 0 3 3\n8 0.1 4 4 7 7\n");
    for (int lanes = 1; lanes <= 4; lanes++) {
        int at = 0;

        for (int lane = 0; lane < lanes; lane++) {
            CHECK_OK(rig_open(
                &r,
                layer("batch_size: 8 fg_fraction: 0.5", "crop_size: 2 mirror: true"),
                CAFFE__PHASE__TRAIN));
            r.moment.lane  = lane;
            r.moment.lanes = lanes;
            r.moment.step  = 9;
            CHECK_OK(rig_forward(&r));
            for (int64_t i = 0; i < fire_blob_count(r.top[1]); i++)
                parts[at++] = 1000 * rig_top(&r, 1)[i] + rig_top(&r, 0)[i * 12];
            rig_close(&r);
        }
        CHECK_EQ(at, 8);
        if (lanes == 1) memcpy(whole, parts, sizeof(whole));
        CHECK(memcmp(whole, parts, sizeof(whole)) == 0);
    }
}

TEST(window_files_with_faults_are_named_by_line)
{
    rig_t r;

    write_windows("1\n5 0.9 2 1 5\n");
    CHECK_FAILS(
        rig_open(&r, layer("batch_size: 1", "crop_size: 2"), CAFFE__PHASE__TEST),
        FIRE_ERR_PARSE, "ends early");
    rig_close(&r);
    write_windows("1\n5 0.9 2 one 5 4\n");
    CHECK_FAILS(
        rig_open(&r, layer("batch_size: 1", "crop_size: 2"), CAFFE__PHASE__TEST),
        FIRE_ERR_PARSE, "windows:7: \"one\"");
    rig_close(&r);
    write_windows("1\n5 0.9 2 1 5 four\n\n");
    CHECK_FAILS(
        rig_open(&r, layer("batch_size: 1", "crop_size: 2"), CAFFE__PHASE__TEST),
        FIRE_ERR_PARSE, "windows:7: \"four\"");
    rig_close(&r);
    write_windows("1\n5 0.1 2 1 5 4\n");
    CHECK_FAILS(
        rig_open(&r, layer("batch_size: 4", "crop_size: 2"), CAFFE__PHASE__TEST),
        FIRE_ERR_INVALID, "no foreground windows");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, layer("batch_size: 4 context_pad: 1", "crop_size: 2"),
                         CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "context_pad");
    rig_close(&r);
}

TEST(a_window_outside_of_its_image_is_refused)
{
    rig_t r;

    write_windows("1\n5 0.1 2 1 9 4\n");
    CHECK_OK(rig_open(&r, layer("batch_size: 1 fg_fraction: 0", "crop_size: 2"),
                      CAFFE__PHASE__TEST));
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID, "image.ppm: window 2 1 9 4");
    rig_close(&r);
}

/* Numbers that a window file may hold, grown ten times: no int holds that. */
TEST(windows_far_outside_or_turned_over_are_refused_with_context_too)
{
    static const char *const window[] = {"999999999 1 999999999 4",
                                         "-999999999 1 -999999990 4", "5 1 3 4"};
    rig_t                    r;

    for (size_t i = 0; i < sizeof(window) / sizeof(window[0]); i++) {
        write_windows(format("1\n5 0.1 %s\n", window[i]));
        CHECK_OK(rig_open(
            &r, layer("batch_size: 1 fg_fraction: 0 context_pad: 9", "crop_size: 20"),
            CAFFE__PHASE__TEST));
        CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID, window[i]);
        rig_close(&r);
    }
    write_windows("1\n5 0.1 -999999999 -999999999 999999999 999999999\n");
    CHECK_OK(rig_open(
        &r, layer("batch_size: 1 fg_fraction: 0 context_pad: 9", "crop_size: 20"),
        CAFFE__PHASE__TEST));
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID, "is not inside of the image");
    rig_close(&r);
}
