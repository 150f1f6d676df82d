/* launch.h - flags that run a training in other processes (src/launch/launch.h). */
#ifndef FIRE_TOOLS_FLAGS_LAUNCH_H
#define FIRE_TOOLS_FLAGS_LAUNCH_H
#include "base/text/options.h"

typedef struct launch_flags {
    const char *launcher;
    int64_t     restarts, least_workers;
} launch_flags_t;

extern launch_flags_t      launch_flags;
extern const fire_option_t launch_options[];

/* True if the flags ask for it and this is not one of the processes that were started.
 * */
bool launch_is_wanted(void);

/* Run this program with its own command line, as --workers processes or threads.
 * `prefix` is that of its snapshots; `lanes` what the solver file says, or 0. */
fire_status_t launch_run(const char *prefix, int lanes);
#endif
