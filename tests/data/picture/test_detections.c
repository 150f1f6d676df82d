/* Tables of windows, read, and of scores, written. */
#include "data/picture/detections.h"

#include "base/alloc.h"
#include "base/file.h"
#ifdef FIRE_HAVE_HDF5
#    include "model/hdf5_io.h"
#endif
#include "test.h"

static const char *written(const char *text)
{
    const char *path = test_path("windows.csv");

    CHECK_OK(fire_file_write(path, text, strlen(text)));
    return path;
}

TEST(columns_are_found_by_their_names)
{
    fire_detections_t d;

    CHECK_OK(fire_detections_load(
        written("xmin, ymin,note,xmax,ymax,filename\r\n"
                "1,2,x,30,40,a b.jpg\n\n-5,6.0,,7,8,\"c,\"\"d\"\".jpg\""),
        &d));
    CHECK_EQ(d.n, 2);
    CHECK_STR(d.row[0].file, "a b.jpg");
    CHECK_EQ(d.row[0].window.ymin, 2);
    CHECK_EQ(d.row[0].window.xmin, 1);
    CHECK_EQ(d.row[0].window.ymax, 40);
    CHECK_EQ(d.row[0].window.xmax, 30);
    CHECK_STR(d.row[1].file, "c,\"d\".jpg");
    CHECK_EQ(d.row[1].window.xmin, -5);
    CHECK_EQ(d.row[1].window.ymin, 6);
    fire_detections_fini(&d);
}

TEST(a_table_that_lacks_something_is_refused)
{
    fire_detections_t d;
    const char       *head = "filename,ymin,xmin,ymax,xmax\n";
    char              text[128];

    CHECK_FAILS(fire_detections_load(written("filename,ymin,ymax,xmax\n"), &d),
                FIRE_ERR_PARSE, "windows.csv: no column \"xmin\"");
    CHECK_FAILS(fire_detections_load(written(""), &d), FIRE_ERR_PARSE,
                "no column \"filename\"");
    snprintf(text, sizeof(text), "%sa.jpg,1,2,3\n", head);
    CHECK_FAILS(fire_detections_load(written(text), &d), FIRE_ERR_PARSE,
                "windows.csv:2: the column \"xmax\" is missing");
    snprintf(text, sizeof(text), "%sa.jpg,1,two,3,4\n", head);
    CHECK_FAILS(fire_detections_load(written(text), &d), FIRE_ERR_PARSE,
                "windows.csv:2: xmin is \"two\", not a number");
    snprintf(text, sizeof(text), "%sa.jpg,1,nan,3,4\n", head);
    CHECK_FAILS(fire_detections_load(written(text), &d), FIRE_ERR_PARSE, "xmin is");
    CHECK_FAILS(fire_detections_load("missing.csv", &d), FIRE_ERR_IO, "missing.csv");
}

static fire_detection_t  rows[]  = {{"a.jpg", {1, 2, 3, 4}}, {"b,c.jpg", {5, 6, 7, 8}}};
static fire_detections_t two     = {.row = rows, .n = 2};
static const float       score[] = {0.25f, 0.5f, 1, 0.1f};

TEST(scores_are_saved_as_a_table)
{
    const char *path = test_path("out.csv");
    char       *text;
    size_t      n;

    CHECK_OK(fire_detections_save(path, &two, 2, score));
    CHECK_OK(fire_file_read(path, &text, &n));
    CHECK_STR(text, "filename,ymin,xmin,ymax,xmax,class0,class1\n"
                    "a.jpg,1,2,3,4,0.25,0.5\n"
                    "\"b,c.jpg\",5,6,7,8,1,0.1\n");
    fire_free(text);
    CHECK_FAILS(fire_detections_save("out.txt", &two, 2, score), FIRE_ERR_INVALID,
                "out.txt: the name must end in .csv or .h5");
}

TEST(scores_are_saved_as_three_datasets)
{
#ifdef FIRE_HAVE_HDF5
    const char *path = test_path("out.h5");
    float       window[8], prediction[4];
    char        name[2][7];
    int64_t     dim[FIRE_MAX_DIMS], count;
    int         ndim;
    hid_t       file, set, type;

    CHECK_OK(fire_detections_save(path, &two, 2, score));
    fire_hdf5_lock();
    CHECK_OK(fire_hdf5_open(path, &file));
    CHECK_OK(fire_hdf5_read_shape(file, "window", path, &ndim, dim, &count));
    CHECK(ndim == 2 && dim[0] == 2 && dim[1] == 4);
    CHECK_OK(fire_hdf5_read_floats(file, "window", path, window));
    CHECK_NEAR(window[5], 6.0, 0.0);
    CHECK_OK(fire_hdf5_read_floats(file, "prediction", path, prediction));
    CHECK(memcmp(prediction, score, sizeof(score)) == 0);
    set  = H5Dopen2(file, "filename", H5P_DEFAULT);
    type = H5Dget_type(set);
    CHECK_EQ(H5Tget_size(type), 7);
    CHECK(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, name) >= 0);
    CHECK(memcmp(name, "a.jpg\0\0b,c.jpg", 14) == 0);
    H5Tclose(type);
    H5Dclose(set);
    fire_hdf5_close(file);
    fire_hdf5_unlock();
#else
    CHECK_FAILS(fire_detections_save("out.h5", &two, 2, score), FIRE_ERR_UNSUPPORTED,
                "no HDF5");
#endif
}
