/* workers.c - flags of src/launch/run_workers.h. */
#include "flags/workers.h"

#include "view/console.h"

workers_flags_t workers_flags = {.workers = 1};

const fire_option_t workers_options[] = {
    FIRE_OPTION(
        workers_flags_t, workers, INT, "1", "N",
        "start N workers as threads; under mpirun or srun each process is one worker"),
    FIRE_OPTION(workers_flags_t, ranks_per_node, INT, "0", "N",
                "treat every N workers as one node; 0: use the real nodes"),
    {0},
};

fire_status_t workers_run(fire_workers_t *workers, fire_status_t ready,
                          fire_worker_fn_t work, void *arg)
{
    fire_status_t st;
    bool          reported;

    workers->n = workers_flags.workers;
    st         = fire_workers_run(workers, ready, work, arg, &reported);
    if (reported) console_mute_error();
    return st;
}
