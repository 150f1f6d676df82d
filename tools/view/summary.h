/* summary.h - the table at the end of a training: how each worker spent its time. */
#ifndef FIRE_TOOLS_VIEW_SUMMARY_H
#define FIRE_TOOLS_VIEW_SUMMARY_H
#include "comm/comm.h"
#include "runlog/measured.h"

typedef struct summary {
    int64_t       iterations;
    int           nworker;
    fire_times_t *times; /* [nworker] */
} summary_t;

void summary_add(summary_t *s, const fire_measured_t *m);
/* Log the table, with the hosts of `comm` (or NULL). Logs nothing if nothing was
 * measured. */
void summary_log(const summary_t *s, const fire_comm_t *comm);
void summary_fini(summary_t *s);
#endif
