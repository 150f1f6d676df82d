/* The list of layer types. */
#include "layers/layer.h"
#include "test.h"

TEST(a_layer_is_found_by_its_type)
{
    const fire_layer_ops_t *ops;

    CHECK_OK(fire_layer_find("ReLU", &ops));
    CHECK_STR(ops->type, "ReLU");
}

TEST(a_mistyped_type_gets_the_nearest_one_as_advice)
{
    const fire_layer_ops_t *ops;

    CHECK_FAILS(fire_layer_find("Relu", &ops), FIRE_ERR_UNSUPPORTED,
                "unknown layer type \"Relu\"; did you mean \"ReLU\"?");
    CHECK_FAILS(fire_layer_find("QuantumEntanglement", &ops), FIRE_ERR_UNSUPPORTED,
                "`firecaffe net --coverage`");
}

TEST(a_type_of_a_fork_that_is_unknown_here_is_named_with_the_fork)
{
    const fire_layer_ops_t *ops;

    CHECK_FAILS(fire_layer_find("MultiStageMeanfield", &ops), FIRE_ERR_UNSUPPORTED,
                "layer type \"MultiStageMeanfield\" is of another Caffe (CRF-RNN)");
}

TEST(the_list_of_types_has_an_end_and_no_type_twice)
{
    int n = 0;

    CHECK(fire_layer_at(-1) == NULL);
    while (fire_layer_at(n) != NULL)
        n++;
    CHECK(n > 50);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(fire_layer_at(i)->type, fire_layer_at(k)->type) != 0);
}

/* Layers that read or write something else than blobs have tests of their own. */
static bool needs_no_case(const fire_layer_ops_t *ops)
{
    static const char *const other[] = {"Input", "HDF5Output"};

    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (strcmp(ops->type, other[i]) == 0) return true;
    return (ops->flags & FIRE_LAYER_SOURCE) != 0;
}

TEST(every_layer_type_runs_on_a_gpu_or_is_work_for_the_cpu)
{
#ifdef FIRE_HAVE_CUDA
    int wrong_types = 0;

    for (int i = 0; fire_layer_at(i) != NULL; i++) {
        const fire_layer_ops_t *ops = fire_layer_at(i);
        bool                    gpu = false;

        for (int k = 0; ops->kernels[k] != NULL; k++)
            gpu = gpu || ops->kernels[k]->where == FIRE_GPU;
        if (gpu == !(ops->flags & FIRE_LAYER_HOST)) continue;
        fprintf(stderr, "    %s %s\n", ops->type,
                gpu ? "has a GPU kernel and says it has none" : "has no GPU kernel");
        wrong_types++;
    }
    CHECK_EQ(wrong_types, 0);
#else
    test_skip("built without CUDA");
#endif
}

TEST(every_layer_type_has_a_case)
{
    int missing = 0;

    for (int i = 0; fire_layer_at(i) != NULL; i++) {
        char  path[256];
        FILE *f;

        snprintf(path, sizeof(path), "tests/layers/cases/%s.prototxt",
                 fire_layer_at(i)->type);
        f = fopen(test_source(path), "r");
        if (f == NULL && !needs_no_case(fire_layer_at(i))) {
            fprintf(stderr, "    there is no %s\n", path);
            missing++;
        }
        if (f != NULL) fclose(f);
    }
    CHECK_EQ(missing, 0);
}
