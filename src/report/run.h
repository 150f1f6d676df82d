/* run.h - reads a run log, run.jsonl (docs/formats/run.md). Whatever cannot be
 * understood becomes a note for the reader, never an error. While the run continues,
 * fire_run_poll() reads what was added. */
#ifndef FIRE_REPORT_RUN_H
#define FIRE_REPORT_RUN_H
#include "report/points.h"

/* The curve of an output of a net. */
typedef struct fire_curve {
    int           net; /* test net, -1: the training net */
    char         *name;
    fire_points_t points;
} fire_curve_t;

/* Seconds of an iteration, mean over the iterations of one line and all workers. */
enum { FIRE_RUN_PHASES = 5 }; /* data, forward, backward, exposed, update */

typedef struct fire_run_times {
    int64_t iter;
    double  time;
    double  seconds;                /* whole iteration */
    double  phase[FIRE_RUN_PHASES]; /* data, forward, backward, exposed, update */
    double  hidden;                 /* communication during computation */
    double  bytes;                  /* sent */
} fire_run_times_t;

/* The same of one worker, summed over the whole run. */
typedef struct fire_run_worker {
    double seconds, phase[FIRE_RUN_PHASES], hidden, bytes;
} fire_run_worker_t;

typedef struct fire_run_snapshot {
    int64_t iter;
    double  time;
    char   *file;
} fire_run_snapshot_t;

typedef enum fire_run_state {
    FIRE_RUN_SILENT, /* no `end` line: it continues, or was killed */
    FIRE_RUN_DONE,
    FIRE_RUN_STOPPED,
    FIRE_RUN_FAILED,
} fire_run_state_t;

/* A run log, as far as it has been read. */
typedef struct fire_run {
    char *path; /* of run.jsonl */
    char *name; /* for people: the last part of the directory */

    fire_json_t *head;     /* newest `run` line; NULL: none so far */
    fire_json_t *net;      /* `net` line */
    fire_json_t *layers;   /* newest `layers` line */
    fire_json_t *timeline; /* newest `timeline` line */

    /* Lines kept as they are: predicted or simulated steps, measured collectives. */
    fire_json_t **result;
    int64_t       nresult, result_cap;

    fire_points_t        loss, smoothed, lr, speed;
    fire_curve_t        *curve;
    int64_t              ncurve, curve_cap;
    fire_run_times_t    *times;
    int64_t              ntimes, times_cap;
    fire_run_worker_t   *worker;
    int64_t              nworker, worker_cap;
    int64_t              measured; /* iterations that are summed up in `worker` */
    fire_run_snapshot_t *snapshot;
    int64_t              nsnapshot, snapshot_cap;
    int64_t             *restart; /* iterations at which it was resumed */
    int64_t              nrestart, restart_cap;

    fire_run_state_t state;
    char            *message; /* of the `end` line: why it failed */
    int64_t          iter;    /* iterations done */
    double time;    /* of the newest line, in seconds since the first `run` line */
    double changed; /* Unix time at which the file last grew */

    /* How far the file has been read. */
    int64_t offset, line;           /* bytes and lines read */
    int64_t skipped, first_skipped; /* lines that are no JSON or have an unknown type */
    uint64_t inode;                 /* of the file, to notice that it was replaced */
    double   time_offset;           /* time of the newest `run` line */
    bool     cut_off;               /* the last line has no newline yet */
} fire_run_t;

/* Open and read a run: a run directory, or a run.jsonl itself. A missing file is an
 * error. */
fire_status_t fire_run_open(const char *path, fire_run_t **run_p);
/* Read what was added; *news_p tells if anything was. A file that was replaced is read
 * from its beginning. */
fire_status_t fire_run_poll(fire_run_t *run, bool *news_p);
void          fire_run_close(fire_run_t *run); /* NULL is allowed */

/* "done", "stopped" or "failed" by its `end` line; without one "running" or "killed",
 * by whether the process exists (on its own machine) or the file grew in the last two
 * minutes; "unknown" for a log without `run` line. */
const char *fire_run_state_text(const fire_run_t *run);

/* Add notes about the file (unreadable lines, an incomplete end) as strings to the open
 * array. */
void fire_run_write_notes(fire_json_writer_t *w, const fire_run_t *run);

/* For run.c: add one parsed line to the run. *kept_p: the run owns `line` now. */
fire_status_t fire_run_add_line(fire_run_t *run, fire_json_t *line, bool *kept_p);
#endif
