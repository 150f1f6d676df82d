/* Filter, BatchReindex, Parameter, Silence, HDF5Output. */
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

TEST(filter_keeps_chosen_items_and_follows_the_selector)
{
    bench_t b = bench("a:3x2 s:3", "y", "type: \"Filter\"", CAFFE__PHASE__TEST);

    bench_shape_is(&b, "y", "3 2 (6)"); /* room for all until there are values */
    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6));
    bench_set(&b, "s", FLOATS(1, 0, 2));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 2 (4)");
    bench_is(&b, "y", FLOATS(1, 2, 5, 6), 0);
    bench_set_diff(&b, "y", FLOATS(10, 20, 50, 60));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(10, 20, 0, 0, 50, 60), 0);
    bench_set(&b, "s", FLOATS(0, 1, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3, 4), 0);
    bench_set(&b, "s", FLOATS(0, 0, 0));
    bench_forward(&b);
    bench_shape_is(&b, "y", "0 2 (0)");
    bench_end(&b);
}

TEST(filter_refuses_selectors_that_do_not_fit)
{
    BENCH_REFUSES("a:3x2 s:2", "y", "type: \"Filter\"",
                  "bottom 0 has 3 items, the selector 2");
    BENCH_REFUSES("a:3x2 s:3x2", "y", "type: \"Filter\"", "one value for each item");
    BENCH_REFUSES("a:3 b:3 s:3", "y", "type: \"Filter\"", "1 tops for 3 bottoms");
}

TEST(batch_reindex_takes_items_in_any_order_and_number)
{
    bench_t b = bench("a:3x2 i:4", "y", "type: \"BatchReindex\"", CAFFE__PHASE__TEST);

    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6));
    bench_set(&b, "i", FLOATS(2, 0, 2, 0));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(5, 6, 1, 2, 5, 6, 1, 2), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2, 10, 20, 100, 200, 1000, 2000));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(1010, 2020, 0, 0, 101, 202), 0);
    bench_set(&b, "i", FLOATS(0, 0, 3, 0));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "layer \"it\" (BatchReindex): index 3 at place 2, of 3 items");
    bench_set(&b, "i", FLOATS(0, NAN, 0, 0));
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID, "index nan");
    bench_end(&b);
    BENCH_REFUSES("a:3x2 i:4x1", "y", "type: \"BatchReindex\"", "must have one axis");
}

TEST(parameter_is_a_blob_that_learns_and_adds_up_gradients_over_passes)
{
    bench_t b =
        bench("", "y", "type: \"Parameter\" parameter_param { shape { dim: 2 } }",
              CAFFE__PHASE__TRAIN);
    fire_layer_t *it = fire_net_find_layer(b.net, "it");

    bench_fill(it->blob[0], FIRE_DATA, FLOATS(3, 4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(3, 4), 0);
    bench_set_diff(&b, "y", FLOATS(1, 2));
    CHECK_OK(fire_net_clear_diffs(b.net));
    CHECK_OK(it->kernel->backward(it));
    CHECK_OK(it->kernel->backward(it));
    bench_compare(it->blob[0], FIRE_DIFF, FLOATS(2, 4), 0);
    bench_end(&b);
    BENCH_REFUSES("", "y", "type: \"Parameter\"", "parameter_param { shape");
}

TEST(silence_swallows_blobs_and_sends_zeros_back)
{
    bench_t b = bench("a:2 b:1", "", "type: \"Silence\"", CAFFE__PHASE__TEST);

    bench_set_diff(&b, "a", FLOATS(7, 8));
    bench_forward(&b);
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(0, 0), 0);
    bench_end(&b);
    BENCH_REFUSES("a:2", "y", "type: \"Silence\"", "(Silence)");
}

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
