/* run.h - a run as run.jsonl tells it (docs/formats/run.md), read as far as it is
 * readable: whatever cannot be understood becomes a note, never a failure. While the
 * run goes on, poll() takes in what was added. */
#ifndef FIRE_REPORT_RUN_H
#define FIRE_REPORT_RUN_H
#include "report/points.h"

/* A curve with a name: an output of a net. */
typedef struct fire_curve {
    int           net; /* test net, -1: the training net */
    char         *name;
    fire_points_t points;
} fire_curve_t;

/* Times of an iteration, mean over some iterations and all workers. */
enum { FIRE_RUN_PHASES = 5 }; /* data, forward, backward, exposed, update */

typedef struct fire_run_times {
    int64_t iter;
    double  time;
    double  seconds, phase[FIRE_RUN_PHASES], hidden, bytes; /* per iteration */
} fire_run_times_t;

/* The same for one worker over the whole run, summed. */
typedef struct fire_run_worker {
    double seconds, phase[FIRE_RUN_PHASES], hidden, bytes;
} fire_run_worker_t;

typedef struct fire_run_snapshot {
    int64_t iter;
    double  time;
    char   *file;
} fire_run_snapshot_t;

typedef enum fire_run_state {
    FIRE_RUN_SILENT, /* no word of its end: goes on, or was killed */
    FIRE_RUN_DONE,
    FIRE_RUN_STOPPED,
    FIRE_RUN_FAILED,
} fire_run_state_t;

typedef struct fire_run {
    char *path; /* of run.jsonl */
    char *name; /* for people: the directory's last part */

    fire_json_t *head;     /* the newest `run` line; NULL: none was there */
    fire_json_t *net;      /* `net` line */
    fire_json_t *layers;   /* newest `layers` line */
    fire_json_t *timeline; /* newest `timeline` line */

    /* Lines of results, whole: predicted or simulated steps, timed sums. */
    fire_json_t **result;
    int64_t       nresult, result_cap;

    fire_points_t        loss, smoothed, lr, speed;
    fire_curve_t        *curve;
    int64_t              ncurve, curve_cap;
    fire_run_times_t    *times;
    int64_t              ntimes, times_cap;
    fire_run_worker_t   *worker;
    int64_t              nworker, worker_cap;
    int64_t              measured; /* iterations that `worker` sums up */
    fire_run_snapshot_t *snapshot;
    int64_t              nsnapshot, snapshot_cap;
    int64_t             *restart; /* iterations at which it was taken up again */
    int64_t              nrestart, restart_cap;

    fire_run_state_t state;
    char            *message; /* why it failed */
    int64_t          iter;    /* iterations done */
    double           time;    /* of the newest line, seconds since the first head */
    double           changed; /* Unix time at which the file last grew */

    /* How far the file has been read. */
    int64_t  offset, line;
    int64_t  skipped, first_skipped; /* lines that are no JSON or of unknown type */
    uint64_t inode;
    double   time_offset; /* of the present head */
    bool     cut_off;     /* the last line has no end, yet */
} fire_run_t;

/* A run directory, or a run.jsonl itself. That there is no such file is an error. */
fire_status_t fire_run_open(const char *path, fire_run_t **run_p);
/* Read what is new; *news_p tells whether there was any. A file that was replaced is
 * read from its beginning. */
fire_status_t fire_run_poll(fire_run_t *run, bool *news_p);
void          fire_run_close(fire_run_t *run); /* NULL is allowed */

/* "done", "stopped", "failed"; without a word of its end "running" or "killed", by what
 * this machine can see of the program; "unknown" if the log tells of no run. */
const char *fire_run_state_text(const fire_run_t *run);

/* What a person who looks at the run should know of the file: parts that could not be
 * read, an end that is missing. Adds strings to the open array. */
void fire_run_write_notes(fire_json_writer_t *w, const fire_run_t *run);

/* For run.c: take in one line. */
fire_status_t fire_run_add_line(fire_run_t *run, fire_json_t *line, bool *kept_p);
#endif
