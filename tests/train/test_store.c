#include "run.h"

static const char net[] =
    "layer { name: 'data' type: 'Data' top: 'data' top: 'label' data_param { source: "
    "'%s/data' backend: LMDB batch_size: 24 } transform_param { scale: 0.00390625 "
    "crop_size: 8 mirror: true } }"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' "
    "inner_product_param { num_output: 10 weight_filler { type: 'xavier' } } }"
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' top: "
    "'loss' }";

#define SOLVER                                                                  \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 "    \
    "max_iter: 25 snapshot_prefix: '%s/snap' random_seed: 7 iter_size: 2 fire " \
    "{ lanes: 8 shuffle: true "

static void prepare(void)
{
    char text[4096];

    run_data(100, 3, 10);
    snprintf(text, sizeof(text), net, test_tmpdir());
    run_file("net.prototxt", text);
}

/* Twelve epochs that begin in the midst of batches: records move after each. */
TEST(data_in_the_workers_memory_give_the_same_bits_as_data_in_files)
{
    run_t    file = {.solver = SOLVER "}", .workers = 1};
    uint64_t want;

    prepare();
    want = run_train(&file);
    for (int workers = 1; workers <= 8; workers *= 2) {
        run_t memory = {.solver = SOLVER "data_store: 'memory' }", .workers = workers};

        CHECK(run_train(&memory) == want);
    }
}
