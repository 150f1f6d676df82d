/* HDF5Output: what is in its files. Tests src/layers/common/writer_hdf5.c too. */
#include "layers/bench.h"
#ifdef FIRE_HAVE_HDF5
#    include "model/hdf5_io.h"

static void hdf5_holds(const char *path, const char *name, const int64_t want[4],
                       floats_t v)
{
    int64_t dim[FIRE_MAX_DIMS], n;
    float   got[32];
    hid_t   file;
    int     ndim;

    fire_hdf5_lock();
    CHECK_OK(fire_hdf5_open(path, &file));
    CHECK_OK(fire_hdf5_read_shape(file, name, path, &ndim, dim, &n));
    CHECK_EQ(ndim, 4);
    CHECK(memcmp(dim, want, 4 * sizeof(*dim)) == 0);
    CHECK_EQ(n, v.n);
    CHECK_OK(fire_hdf5_read_floats(file, name, path, got));
    CHECK(memcmp(got, v.x, (size_t)n * sizeof(*got)) == 0);
    fire_hdf5_close(file);
    fire_hdf5_unlock();
}
#endif

static char *output_layer(const char *path)
{
    char *layer;

    CHECK_OK(fire_asprintf(
        &layer, "type: \"HDF5Output\" hdf5_output_param { file_name: \"%s\" }", path));
    return layer;
}

TEST(hdf5_output_appends_each_pass)
{
#ifndef FIRE_HAVE_HDF5
    test_skip("built without HDF5");
#else
    char   *path, *layer;
    bench_t b;

    CHECK_OK(fire_asprintf(&path, "%s/out.h5", test_tmpdir()));
    layer = output_layer(path);
    b     = bench("a:2x3 l:2", "", layer, CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6));
    bench_set(&b, "l", FLOATS(0, 1));
    bench_forward(&b);
    bench_forward(&b);
    bench_end(&b);
    hdf5_holds(path, "data", (int64_t[]){4, 3, 1, 1},
               FLOATS(1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6));
    hdf5_holds(path, "label", (int64_t[]){4, 1, 1, 1}, FLOATS(0, 1, 0, 1));
    fire_free(layer);
    fire_free(path);
#endif
}

TEST(hdf5_output_names_the_file_it_cannot_write)
{
#ifndef FIRE_HAVE_HDF5
    test_skip("built without HDF5");
#else
    char   *layer = output_layer("/nowhere/out.h5");
    bench_t b     = bench("a:2 l:2", "", layer, CAFFE__PHASE__TEST);

    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_IO, "/nowhere/out.h5");
    bench_end(&b);
    fire_free(layer);
    BENCH_REFUSES("a:2 l:3", "",
                  "type: \"HDF5Output\" hdf5_output_param { file_name: \"x\" }",
                  "2 data items for 3 labels");
#endif
    BENCH_REFUSES("a:2 l:2", "", "type: \"HDF5Output\"", "hdf5_output_param");
}
