/* test_store.c - training data in the memory of the workers. */
#include "run.h"

#define SOLVER                                                                  \
    "net: '%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 "    \
    "max_iter: 25 snapshot_prefix: '%s/snap' random_seed: 7 iter_size: 2 fire " \
    "{ lanes: 8 shuffle: true "

static void prepare(void)
{
    run_data(100, 3, 10);
    run_net("store");
}

/* Twelve epochs, whose ends are inside of batches; records move after each. */
TEST(data_in_the_workers_memory_give_the_same_bits_as_data_in_files)
{
    run_t    file = {.solver = SOLVER "}", .workers = 1};
    uint64_t want;

    prepare();
    want = run_train(&file);
    for (int workers = 1; workers <= 8; workers += workers < 3 ? 1 : 5) {
        run_t memory = {.solver  = SOLVER "data_store: 'memory' lane_weights: 'auto' }",
                        .workers = workers};

        CHECK(run_train(&memory) == want);
    }
}
