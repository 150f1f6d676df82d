/* Every allocation of these fails once: the call says so, and nothing is left behind (the
 * leak checker of a sanitized build looks on). Tests src/data/convert/ and
 * src/layers/data/. */
#include "rig.h"

#include <unistd.h>

#include "base/file.h"
#include "data/convert/convert.h"
#include "data/image/image.h"
#include "data/picture/mean.h"

typedef fire_status_t (*try_t)(void);

static void fail_each_allocation(try_t once)
{
    fire_status_t st = FIRE_ERR_NOMEM;

    for (int n = 1; st != FIRE_OK; n++) {
        CHECK(n < 2000);
        fire_alloc_fail_at(n);
        st = once();
        fire_alloc_fail_at(0);
        if (st != FIRE_OK) {
            CHECK_EQ(st, FIRE_ERR_NOMEM);
            CHECK(strstr(fire_last_error(), "out of memory") != NULL);
        }
    }
}

static void write_images(void)
{
    const char *list = "a.ppm 1\nb.ppm 2\n";

    CHECK_OK(fire_file_write(tmp_path("a.ppm"), "P6 2 1 255\nabcdef", 17));
    CHECK_OK(fire_file_write(tmp_path("b.ppm"), "P6 2 1 255\nghijkl", 17));
    CHECK_OK(fire_file_write(tmp_path("list"), list, strlen(list)));
}

static fire_status_t convert_images(void)
{
    fire_imageset_options_t o    = FIRE_IMAGESET_OPTIONS_INIT;
    const char             *root = format("%s/", test_tmpdir());
    fire_status_t           st;

    o.root   = root;
    o.height = o.width = 3;
    st = fire_convert_imageset(&o, tmp_path("list"), tmp_path("db"), "lmdb", NULL);
    CHECK((access(tmp_path("db"), F_OK) == 0) == (st == FIRE_OK));
    return st;
}

TEST(converting_images_survives_any_failed_allocation)
{
    write_images();
    fail_each_allocation(convert_images);
}

static fire_status_t compute_mean(void)
{
    fire_mean_t   m;
    fire_status_t st = fire_mean_compute(tmp_path("db"), "lmdb", NULL, &m);

    if (st == FIRE_OK) fire_mean_fini(&m);
    return st;
}

TEST(computing_a_mean_survives_any_failed_allocation)
{
    make_db("lmdb", "db", 5, 3, 4, 4);
    fail_each_allocation(compute_mean);
}

static fire_status_t run_layer(const char *text)
{
    rig_t         r;
    fire_status_t st = rig_open(&r, text, CAFFE__PHASE__TRAIN);

    if (st == FIRE_OK) st = rig_forward(&r);
    rig_close(&r);
    return st;
}

static fire_status_t run_image_data(void)
{
    return run_layer(format("name: 'd' type: 'ImageData' top: 'a' top: 'b' "
                            "image_data_param { source: '%s' root_folder: '%s/' "
                            "batch_size: 2 new_height: 4 new_width: 4 }",
                            tmp_path("list"), test_tmpdir()));
}

TEST(image_data_survives_any_failed_allocation)
{
    write_images();
    fail_each_allocation(run_image_data);
}

static fire_status_t run_window_data(void)
{
    return run_layer(format("name: 'd' type: 'WindowData' top: 'a' top: 'b' "
                            "window_data_param { source: '%s' batch_size: 2 "
                            "fg_fraction: 0.5 } transform_param { crop_size: 2 }",
                            tmp_path("windows")));
}

TEST(window_data_survives_any_failed_allocation)
{
    const char *text = format("# 0\n%s\n3\n1\n2\n2\n1 0.9 0 0 1 0\n2 0.1 0 0 0 0\n",
                              tmp_path("a.ppm"));

    write_images();
    CHECK_OK(fire_file_write(tmp_path("windows"), text, strlen(text)));
    fail_each_allocation(run_window_data);
}

static fire_status_t run_dummy_data(void)
{
    return run_layer("name: 'd' type: 'DummyData' top: 'a' dummy_data_param { shape { "
                     "dim: 3 dim: 4 } data_filler { type: 'gaussian' } }");
}

TEST(dummy_data_survives_any_failed_allocation)
{
    fail_each_allocation(run_dummy_data);
}
