/* trace.h - a timeline for chrome://tracing or ui.perfetto.dev: a process per worker,
 * in it lanes for data, computation, update and the exchange of each bucket. */
#ifndef FIRE_RUNLOG_TRACE_H
#define FIRE_RUNLOG_TRACE_H
#include "train/profile.h"

typedef struct fire_trace fire_trace_t;

/* The net tells the names of layers; it must outlive the trace. */
fire_status_t fire_trace_open(const char *path, const fire_net_t *net,
                              fire_trace_t **trace_p);
/* Add the spans of all workers. */
fire_status_t fire_trace_add(fire_trace_t *t, const fire_measured_t *m);
fire_status_t fire_trace_close(fire_trace_t *t); /* NULL is allowed */

/* For all who draw spans. */
typedef enum fire_trace_row {
    FIRE_ROW_ITERATION,
    FIRE_ROW_DATA,
    FIRE_ROW_COMPUTE,
    FIRE_ROW_WAIT,
    FIRE_ROW_UPDATE,
    FIRE_ROW_EXCHANGE,
    FIRE_NROW,
} fire_trace_row_t;

extern const char *const fire_trace_row_names[FIRE_NROW];
extern const char *const fire_activity_names[]; /* "forward", ... */

fire_trace_row_t fire_trace_row_of(const fire_net_t *net, const fire_activity_t *s);
/* "conv1", "bucket 3"; returns buf. */
const char *fire_activity_name(const fire_net_t *net, const fire_activity_t *s,
                               char *buf, size_t size);
#endif
