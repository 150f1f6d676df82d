/* test_alloc.c - once a training runs, an iteration takes no memory. Tests
 * src/train/iterate.c. */
#include "run.h"

#include <stdatomic.h>

#include "base/alloc.h"

enum { WARM = 15, LAST = 40 };

static _Atomic int64_t taken_at[LAST];

/* No worker is more than one iteration behind another. */
static fire_status_t note(fire_trainer_t *t)
{
    if (fire_trainer_rank(t) == 0) taken_at[t->solver->iter] = fire_alloc_count();
    return FIRE_OK;
}

static void prepare(void)
{
    run_data(96, 3, 10);
    run_net("alloc");
}

static void check(const char *fire, int workers)
{
    char solver[1024];

    snprintf(
        solver, sizeof(solver),
        "net: '%%s/net.prototxt' base_lr: 0.01 lr_policy: 'fixed' momentum: 0.9 "
        "max_iter: 40 snapshot_prefix: '%%s/snap' fire { bucket_mb: 0.002 lanes: 4 "
        "%s }",
        fire);
    run_train(&(run_t){.solver = solver, .workers = workers, .before = note});
    if (taken_at[LAST - 2] != taken_at[WARM])
        test_fail(__FILE__, __LINE__, "%s: %lld allocations in %d iterations", fire,
                  (long long)(taken_at[LAST - 2] - taken_at[WARM]), LAST - 2 - WARM);
}

TEST(one_worker_takes_no_memory_once_it_runs)
{
    prepare();
    check("", 1);
}

TEST(workers_take_no_memory_once_they_run)
{
    prepare();
    check("comm: 'tree' overlap: 'thread'", 2);
    check("comm: 'rhd' overlap: 'poll'", 4);
    check("comm: 'rhd' overlap: 'off' update: 'sharded'", 2);
    check("comm: 'direct' overlap: 'thread' compress: '1bit' compress_from: 0", 4);
}
