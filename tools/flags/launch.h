/* launch.h - flags that run a training in other processes (src/launch/launch.h). */
#ifndef FIRE_TOOLS_FLAGS_LAUNCH_H
#define FIRE_TOOLS_FLAGS_LAUNCH_H
#include "base/text/options.h"
#include "launch/launch.h"

typedef struct launch_flags {
    const char *launcher;
    const char *elastic, *hosts_from;
    int64_t     restarts, least_workers;
    int64_t attempt; /* of those that --restarts allows, from 0; -1: it allows none */
    bool    supervised;
} launch_flags_t;

extern launch_flags_t      launch_flags;
extern const fire_option_t launch_options[];

/* True if the flags ask for it and this is not one of the processes that were started.
 * */
bool launch_is_wanted(void);

/* Run this program with its own command line, as --workers processes or threads. Of the
 * launch, prefix, lanes, deadline and what signals ask for are set. */
fire_status_t launch_run(fire_launch_t launch);
#endif
