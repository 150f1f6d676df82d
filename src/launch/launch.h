/* launch.h - a training in other processes: this program again, started by a launcher
 * (mpirun, srun) or by itself, and started again from its newest snapshot when it breaks
 * off. One launch at a time in a process. */
#ifndef FIRE_LAUNCH_LAUNCH_H
#define FIRE_LAUNCH_LAUNCH_H
#include <fire/trainer.h>
#include "base/error.h"

typedef struct fire_launch {
    const char *launcher; /* "mpirun --host a,b"; "": no launcher */
    int         workers;  /* processes of the launcher, threads without one */
    int         lanes;    /* of the solver file, 0: not set */
    int64_t     restarts; /* how often to start again without a new snapshot between */
    double      pause;    /* seconds before the second restart in a row; it doubles */
    double      deadline; /* seconds for the workers to find each other; 0: any time */
    int64_t     least_workers; /* go on with fewer workers, down to these; 0: never */
    bool        elastic;       /* and with more again, up to `workers` */
    const char *hosts_from; /* shell command that lists hosts; NULL: the launcher's */
    const char *prefix;     /* of the training's snapshots */
    fire_action_t      on_interrupt, on_hangup; /* what SIGINT and SIGHUP ask for */
    int                argc;                    /* the command line to repeat */
    const char *const *argv;
} fire_launch_t;

/* Run this program with that command line until it succeeds, ends with a mistake that
 * its user must correct, is asked to stop, or `restarts` is used up. Kills what is left
 * of each run: all descendants of this process. *reported_p: the process that failed has
 * reported why. */
fire_status_t fire_launch_run(const fire_launch_t *launch, bool *reported_p);

/* Ask the training for a snapshot (SIGUSR1), to stop (SIGTERM, SIGUSR2), or what the
 * launch says. Asked to stop a second time it is ended by force. For signal handlers:
 * async-signal-safe. */
void fire_launch_signal(int number);
#endif
