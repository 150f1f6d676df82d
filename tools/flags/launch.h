/* launch.h - a training as other processes: started by a launcher (mpirun, srun), and
 * started again from its newest snapshot when it ends as it should not. */
#ifndef FIRE_TOOLS_FLAGS_LAUNCH_H
#define FIRE_TOOLS_FLAGS_LAUNCH_H
#include "base/text/options.h"

typedef struct launch_flags {
    const char *launcher;
    int64_t     restarts, least_workers;
} launch_flags_t;

extern launch_flags_t      launch_flags;
extern const fire_option_t launch_options[];

/* Do the flags ask for it, and is this not one of the processes themselves? */
bool launch_is_wanted(void);

/* Run this program with its own command line, --workers of it, until it succeeds, has
 * to be corrected by its user, or --restarts is used up. `prefix` is that of its
 * snapshots; `lanes` what the solver says, or 0. */
fire_status_t launch_run(const char *prefix, int lanes);
#endif
