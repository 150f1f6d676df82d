/* Rows of HDF5 files. Tests src/data/rows_hdf5.c and src/data/hdf5_rows.c too. */
#ifdef FIRE_HAVE_HDF5
#    include "rig.h"

#    include "base/file.h"
#    include "model/hdf5_io.h"

/* A file with n rows: a (n x 2) is {row, -row}, b (n) is the row, from `first` on. */
static void write_file(const char *name, int n, int first, int bn)
{
    float         a[64], b[32];
    const int64_t adim[] = {n, 2}, bdim[] = {bn};
    hid_t         file;

    for (int i = 0; i < n; i++) {
        a[2 * i]     = (float)(first + i);
        a[2 * i + 1] = -(float)(first + i);
        b[i]         = (float)(first + i);
    }
    fire_hdf5_lock();
    CHECK_OK(fire_hdf5_create(&file));
    CHECK_OK(fire_hdf5_write_floats(file, "a", name, 2, adim, a));
    CHECK_OK(fire_hdf5_write_floats(file, "b", name, 1, bdim, b));
    CHECK_OK(fire_hdf5_commit(file, tmp_path(name), false));
    fire_hdf5_unlock();
}

static const char *two_files(const char *param)
{
    const char *list;

    write_file("x.h5", 5, 0, 5);
    write_file("y.h5", 3, 5, 3);
    list = format("%s\n%s\n", tmp_path("x.h5"), tmp_path("y.h5"));
    CHECK_OK(fire_file_write(tmp_path("list"), list, strlen(list)));
    return format("name: 'd' type: 'HDF5Data' top: 'b' top: 'a' "
                  "hdf5_data_param { source: '%s' %s }",
                  tmp_path("list"), param);
}

TEST(rows_come_file_after_file_and_wrap)
{
    rig_t r;

    CHECK_OK(rig_open(&r, two_files("batch_size: 3"), CAFFE__PHASE__TRAIN));
    CHECK_EQ(fire_blob_ndim(r.top[0]), 1);
    CHECK_EQ(fire_blob_count(r.top[1]), 6);
    for (; r.moment.step < 6; r.moment.step++) {
        CHECK_OK(rig_forward(&r));
        for (int i = 0; i < 3; i++) {
            int row = (int)(r.moment.step * 3 + i) % 8;

            CHECK_EQ(rig_top(&r, 0)[i], row);
            CHECK_EQ(rig_top(&r, 1)[2 * i + 1], -row);
        }
    }
    rig_close(&r);
}

TEST(shuffled_rows_are_all_there_and_each_epoch_differs)
{
    rig_t r;
    float order[4][8];

    CHECK_OK(
        rig_open(&r, two_files("batch_size: 8 shuffle: true"), CAFFE__PHASE__TRAIN));
    for (; r.moment.step < 4; r.moment.step++) {
        unsigned seen = 0;

        CHECK_OK(rig_forward(&r));
        memcpy(order[r.moment.step], rig_top(&r, 0), sizeof(order[0]));
        for (int i = 0; i < 8; i++)
            seen |= 1u << (int)order[r.moment.step][i];
        CHECK_EQ(seen, 255);
    }
    CHECK(memcmp(order[0], order[1], sizeof(order[0])) != 0);
    CHECK(memcmp(order[1], order[2], sizeof(order[0])) != 0);
    rig_close(&r);
}

TEST(a_file_that_grows_while_it_is_used_is_refused)
{
    rig_t r;

    CHECK_OK(rig_open(&r, two_files("batch_size: 5"), CAFFE__PHASE__TRAIN));
    CHECK_OK(rig_forward(&r));
    write_file("y.h5", 20, 5, 20);
    r.moment.step = 1;
    CHECK_FAILS(rig_forward(&r), FIRE_ERR_INVALID,
                "dataset \"b\" held 3 numbers at the start and now holds 20");
    rig_close(&r);
}

TEST(hdf5_inputs_that_cannot_work_are_refused_with_their_names)
{
    rig_t       r;
    const char *text = two_files("batch_size: 2");

    CHECK_FAILS(rig_open(&r, format("%s transform_param { scale: 2 }", text),
                         CAFFE__PHASE__TRAIN),
                FIRE_ERR_INVALID, "does not transform");
    rig_close(&r);
    CHECK_FAILS(rig_open(&r, format("%s top: 'c'", text), CAFFE__PHASE__TRAIN),
                FIRE_ERR_IO, "x.h5");
    rig_close(&r);
    write_file("y.h5", 3, 5, 2);
    CHECK_FAILS(rig_open(&r, text, CAFFE__PHASE__TRAIN), FIRE_ERR_INVALID,
                "has 3 rows, \"b\" has 2");
    rig_close(&r);
    CHECK_OK(fire_file_write(tmp_path("y.h5"), "nonsense", 8));
    CHECK_FAILS(rig_open(&r, text, CAFFE__PHASE__TRAIN), FIRE_ERR_PARSE, "y.h5");
    rig_close(&r);
    CHECK_OK(fire_file_write(tmp_path("list"), "\n", 1));
    CHECK_FAILS(rig_open(&r, text, CAFFE__PHASE__TRAIN), FIRE_ERR_INVALID,
                "lists no HDF5 files");
    rig_close(&r);
}
#endif
