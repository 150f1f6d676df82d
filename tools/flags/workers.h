/* workers.h - the flags that say which workers a command has. */
#ifndef FIRE_TOOLS_FLAGS_WORKERS_H
#define FIRE_TOOLS_FLAGS_WORKERS_H
#include "base/text/options.h"
#include "launch/run_workers.h"

typedef struct workers_flags {
    int64_t workers, ranks_per_node;
} workers_flags_t;

extern workers_flags_t     workers_flags;
extern const fire_option_t workers_options[];

/* fire_workers_run() with --workers workers; workers->n is set here. An error that
 * another process reports is not printed by this one. */
fire_status_t workers_run(fire_workers_t *workers, fire_status_t ready,
                          fire_worker_fn_t work, void *arg);
#endif
