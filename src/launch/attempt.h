/* attempt.h - one run of the program among several, inside of src/launch/. */
#ifndef FIRE_LAUNCH_ATTEMPT_H
#define FIRE_LAUNCH_ATTEMPT_H
#include <signal.h>
#include <sys/types.h>
#include "launch/launch.h"

typedef struct fire_hosts fire_hosts_t;

typedef struct fire_attempt {
    const fire_launch_t *launch;
    fire_hosts_t        *hosts; /* NULL: those that the launcher's words name */
    int                  workers;
    int64_t              most;     /* workers, if there were hosts for them */
    int                  lanes;    /* 0: as the solver says */
    const char          *snapshot; /* to resume from; NULL: as the command line says */
    int64_t              number;   /* attempts before this one */
    bool                 watched;  /* PREFIX.lock tells when training begins */
    double               patience; /* seconds until it must have begun; 0: any time */
} fire_attempt_t;

/* A command line. */
typedef struct fire_words {
    char  **word; /* [n], then NULL */
    int64_t n, cap;
} fire_words_t;

fire_status_t fire_words_add(fire_words_t *w, const char *word);
fire_status_t fire_attempt_command(const fire_attempt_t *a, fire_words_t *w);
void          fire_words_fini(fire_words_t *w);

/* What signals have asked for; set by handlers at any time, looked at by run() and
 * between runs. */
typedef struct fire_wishes {
    volatile sig_atomic_t stops, snapshots; /* how often */
} fire_wishes_t;

extern fire_wishes_t fire_launch_wishes;

enum { FIRE_NOT_STARTED = 127, FIRE_HUNG = 75, FIRE_MISTAKE = 78 };

typedef struct fire_ended {
    int  code;  /* exit status as a shell gives it: 128 + the number of a signal */
    bool began; /* training had begun */
    bool slow;  /* it had not, and was ended for that */
    bool moved; /* it was asked to stop, to go on with other hosts */
} fire_ended_t;

/* Start it, pass wishes on, wait until it has ended; ask it to stop when other hosts
 * are there. If training has not begun in time,
 * if the launcher is stopped or does not end when training has, or if it does not stop
 * when it is asked to, it is ended by force. Nothing of it is
 * left on this machine then (attempt.c). */
fire_status_t fire_attempt_run(const fire_attempt_t *a, fire_ended_t *ended_p);

/* Kill all processes that descend from this one (leftovers.c). */
void fire_leftovers_kill(void);
/* Remove files in shared memory that were made at or after `since` (Unix) and that no
 * process has open, as MPI libraries leave them when they are killed; and the folder of
 * the mpirun `pid`. */
void fire_leftovers_remove(double since, pid_t pid);
#endif
