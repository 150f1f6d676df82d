/* Images of a list. Tests src/data/image_list.c too. */
#include "rig.h"

#include "base/file.h"

/* n grey PGM images of height x width, all pixels i, labels 10 + i, in list.txt. */
static void write_images(int n, int height, int width)
{
    char list[4096] = "";

    for (int i = 0; i < n; i++) {
        char file[4096];
        int  at = snprintf(file, sizeof(file), "P5 %d %d 255\n", width, height);

        memset(file + at, i, (size_t)(height * width));
        snprintf(list + strlen(list), 64, "%d.pgm %d\n", i, 10 + i);
        CHECK_OK(fire_file_write(tmp_path(format("%d.pgm", i)), file,
                                 (size_t)(at + height * width)));
    }
    CHECK_OK(fire_file_write(tmp_path("list.txt"), list, strlen(list)));
}

static const char *layer(const char *param, const char *more)
{
    return format("name: 'd' type: 'ImageData' top: 'data' top: 'label' "
                  "image_data_param { source: '%s' root_folder: '%s/' %s } %s",
                  tmp_path("list.txt"), test_tmpdir(), param, more);
}

TEST(images_are_read_in_the_order_of_the_list_and_wrap)
{
    rig_t r;

    write_images(5, 3, 4);
    CHECK_OK(
        rig_open(&r, layer("batch_size: 3 is_color: false", ""), CAFFE__PHASE__TEST));
    CHECK_EQ(fire_blob_dims(r.top[0])[1], 1);
    for (; r.moment.step < 4; r.moment.step++) {
        CHECK_OK(rig_forward(&r));
        for (int i = 0; i < 3; i++) {
            int image = (int)(r.moment.step * 3 + i) % 5;

            CHECK_EQ(rig_top(&r, 0)[i * 12 + 11], image);
            CHECK_EQ(rig_top(&r, 1)[i], 10 + image);
        }
    }
    rig_close(&r);
}

TEST(images_are_resized_and_coloured)
{
    rig_t r;

    write_images(2, 3, 4);
    CHECK_OK(rig_open(&r, layer("batch_size: 2 new_height: 7 new_width: 5", ""),
                      CAFFE__PHASE__TEST));
    CHECK_OK(rig_forward(&r));
    CHECK_EQ(fire_blob_count(r.top[0]), 2 * 3 * 7 * 5);
    CHECK_EQ(rig_top(&r, 0)[2 * 3 * 7 * 5 - 1], 1);
    rig_close(&r);
}

TEST(a_shuffled_list_shows_every_image_once_per_epoch)
{
    rig_t r;
    bool  seen[3][8] = {{false}};

    write_images(8, 1, 1);
    CHECK_OK(
        rig_open(&r, layer("batch_size: 4 shuffle: true", ""), CAFFE__PHASE__TRAIN));
    for (; r.moment.step < 6; r.moment.step++) {
        CHECK_OK(rig_forward(&r));
        for (int i = 0; i < 4; i++) {
            int label = (int)rig_top(&r, 1)[i] - 10;

            CHECK(!seen[r.moment.step / 2][label]);
            seen[r.moment.step / 2][label] = true;
        }
    }
    rig_close(&r);
}

TEST(rand_skip_leaves_out_some_images_at_the_start)
{
    rig_t r;
    int   first;

    write_images(8, 1, 1);
    CHECK_OK(
        rig_open(&r, layer("batch_size: 4 rand_skip: 8", ""), CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_forward(&r));
    first = (int)rig_top(&r, 1)[0] - 10;
    for (int i = 0; i < 4; i++)
        CHECK_EQ(rig_top(&r, 1)[i], 10 + (first + i) % 8);
    rig_close(&r);
    CHECK_FAILS(
        rig_open(&r, layer("batch_size: 4 rand_skip: 9", ""), CAFFE__PHASE__TRAIN),
        FIRE_ERR_INVALID, "rand_skip 9");
    rig_close(&r);
}

TEST(an_image_that_is_missing_or_damaged_is_named)
{
    rig_t r;

    write_images(3, 2, 2);
    CHECK_OK(fire_file_write(tmp_path("2.pgm"), "P5 2 2 255\nabc", 14));
    CHECK_OK(rig_open(&r, layer("batch_size: 3", ""), CAFFE__PHASE__TEST));
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_PARSE,
                "2.pgm: the PGM or PPM file ends early");
    rig_close(&r);
    CHECK_EQ(remove(tmp_path("0.pgm")), 0);
    CHECK_FAILS(rig_open(&r, layer("batch_size: 3", ""), CAFFE__PHASE__TEST),
                FIRE_ERR_IO, "0.pgm");
    rig_close(&r);
}

TEST(image_data_settings_that_cannot_work_are_refused)
{
    rig_t r;

    write_images(2, 2, 2);
    CHECK_FAILS(rig_open(&r, layer("batch_size: 0", ""), CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "batch_size");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, layer("new_height: 3", ""), CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "both new_height and new_width");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, "name: 'd' type: 'ImageData' top: 'a' top: 'b'",
                         CAFFE__PHASE__TEST),
                FIRE_ERR_INVALID, "source");
    rig_close(&r);
    CHECK_FAILS(
        rig_open(&r, layer("", "transform_param { crop_size: 3 }"), CAFFE__PHASE__TEST),
        FIRE_ERR_INVALID, "0.pgm: crop_size 3");
    rig_close(&r);
}
