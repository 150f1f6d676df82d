/* Layers in Python. Tests src/layers/python/python.c too. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "layers/bench.h"
#include "layers/python/python.h"

#define PYTHON(layer)                                            \
    "type: \"Python\" python_param { module: \"python_layers\" " \
    "layer: \"" layer "\" param_str: \"2.5\" }"

/* The interpreter reads this when it starts. */
__attribute__((constructor)) static void find_our_module(void)
{
    setenv("PYTHONPATH", FIRE_SOURCE_DIR "/tests/layers", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
}

static void need_python(void)
{
    if (!fire_python_is_here()) test_skip("there is no libpython3 here");
}

TEST(python_layers_say_what_to_install)
{
    fire_net_t *net;

    setenv("FIRE_PYTHON", "/nowhere/libpython3.so", 1);
    CHECK_FAILS(bench_try("a:2", "y", PYTHON("Scale"), CAFFE__PHASE__TEST, &net),
                FIRE_ERR_UNSUPPORTED, "or name the file in FIRE_PYTHON");
}

TEST(python_layers_compute_forward_and_backward)
{
    bench_t b;

    need_python();
    b = bench("a:2x3", "y", PYTHON("Scale"), CAFFE__PHASE__TEST);
    bench_set(&b, "a", FLOATS(1, 2, 3, 4, 5, 6));
    bench_forward(&b);
    bench_shape_is(&b, "y", "2 3 (6)");
    bench_is(&b, "y", FLOATS(2.5f, 5, 7.5f, 10, 12.5f, 15), 0);
    bench_set_diff(&b, "y", FLOATS(1, 1, 1, 2, 2, 2));
    bench_backward(&b);
    bench_diff_is(&b, "a", FLOATS(2.5f, 2.5f, 2.5f, 5, 5, 5), 0);
    CHECK_OK(fire_blob_reshape(bench_blob(&b, "a"), 1, (int64_t[]){1}));
    bench_set(&b, "a", FLOATS(4));
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(10), 0);
    bench_end(&b);
}

TEST(python_layers_may_have_parameters_and_know_the_phase)
{
    bench_t       b;
    fire_layer_t *it;

    need_python();
    b  = bench("a:1", "y", PYTHON("Parameter"), CAFFE__PHASE__TRAIN);
    it = fire_net_find_layer(b.net, "it");
    CHECK_EQ(it->nblob, 1);
    bench_compare(it->blob[0], FIRE_DATA, FLOATS(7, 7), 0);
    bench_forward(&b);
    bench_is(&b, "y", FLOATS(0), 0); /* caffe.TRAIN */
    bench_end(&b);
}

/* As Caffe does: FCN's data layer loads its next image in reshape(). */
TEST(python_layers_are_reshaped_before_every_forward)
{
    bench_t      b;
    const float *y;

    need_python();
    b = bench("a:1", "y", PYTHON("Loader"), CAFFE__PHASE__TRAIN);
    for (int i = 2; i <= 4; i++) {
        bench_forward(&b);
        CHECK_EQ(bench_blob(&b, "y")->dim[0], i);
        CHECK_OK(fire_blob_read(bench_blob(&b, "y"), FIRE_DATA, FIRE_CPU, &y));
        CHECK_EQ(y[0], i);
    }
    bench_end(&b);
}

TEST(python_layers_know_their_settings_by_the_names_that_published_ones_use)
{
    need_python();
    for (int phase = 0; phase < 2; phase++) {
        bench_t b = bench("a:1", "y", PYTHON("Names"), (Caffe__Phase)phase);

        bench_forward(&b);
        bench_is(&b, "y", FLOATS(2.5f, (float)(phase + 1)), 0);
        bench_end(&b);
    }
}

TEST(python_2_is_named_with_what_converts_it)
{
    static const char old[] = "import caffe\nprint 'loaded'\n";
    char              path[512];
    fire_net_t       *net;

    need_python();
    CHECK_FAILS(bench_try("a:2", "y", PYTHON("Old"), CAFFE__PHASE__TEST, &net),
                FIRE_ERR_INVALID, "convert it: 2to3 -w ");
    snprintf(path, sizeof(path), "%s/old_layers.py", test_tmpdir());
    CHECK_OK(fire_file_write(path, old, strlen(old)));
    CHECK_EQ(chdir(test_tmpdir()), 0); /* modules are looked for here */
    CHECK_FAILS(bench_try("a:2", "y",
                          "type: \"Python\" python_param { module: \"old_layers\" "
                          "layer: \"L\" }",
                          CAFFE__PHASE__TEST, &net),
                FIRE_ERR_INVALID, "SyntaxError");
    CHECK(strstr(fire_last_error(), "2to3 -w ") != NULL);
    CHECK(strstr(fire_last_error(), "old_layers.py") != NULL);
}

TEST(python_exceptions_become_errors_with_their_place)
{
    bench_t     b;
    fire_net_t *net;

    need_python();
    b = bench("a:2", "y", PYTHON("Broken"), CAFFE__PHASE__TEST);
    CHECK_FAILS(fire_net_forward(b.net, 0, -1, NULL), FIRE_ERR_INVALID,
                "layer \"it\" (Python): Python: ValueError: not today (");
    bench_end(&b);
    CHECK_FAILS(bench_try("a:2", "y", PYTHON("Missing"), CAFFE__PHASE__TEST, &net),
                FIRE_ERR_INVALID, "AttributeError");
    CHECK_FAILS(bench_try("a:2", "y", PYTHON("BadShape"), CAFFE__PHASE__TEST, &net),
                FIRE_ERR_INVALID, "Python: RuntimeError: ");
    CHECK_FAILS(bench_try("a:2", "y",
                          "type: \"Python\" python_param { module: \"nowhere\" "
                          "layer: \"L\" }",
                          CAFFE__PHASE__TEST, &net),
                FIRE_ERR_INVALID, "No module named 'nowhere'");
    BENCH_REFUSES("a:2", "y", "type: \"Python\"", "python_param");
}

/* A net of its own in each of several threads, all in the one interpreter. */
static void *scale_often(void *result)
{
    bench_t      b = bench("a:2", "y", PYTHON("Scale"), CAFFE__PHASE__TEST);
    const float *y;

    for (int i = 0; i < 50; i++) {
        bench_set(&b, "a", FLOATS((float)i, 1));
        bench_forward(&b);
        CHECK_OK(fire_blob_read(bench_blob(&b, "y"), FIRE_DATA, FIRE_CPU, &y));
        *(float *)result += y[0];
    }
    bench_end(&b);
    return NULL;
}

TEST(python_layers_of_several_threads_share_the_interpreter)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    float     sum[THREADS] = {0};

    need_python();
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&thread[i], NULL, scale_often, &sum[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(pthread_join(thread[i], NULL), 0);
        CHECK_NEAR(sum[i], 2.5 * 49 * 50 / 2, 0);
    }
}
