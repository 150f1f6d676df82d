/* trace.h - a timeline for chrome://tracing or ui.perfetto.dev: a process per worker,
 * and in it a row each for data, computation, waiting, update and exchanged buckets.
 *
 * The file is an array of "trace events", one per line (Google's Trace Event Format).
 * It may end without its closing bracket, so the trace of a killed run can be
 * opened. */
#ifndef FIRE_RUNLOG_TRACE_H
#define FIRE_RUNLOG_TRACE_H
#include "base/error.h"
#include "runlog/measured.h"

typedef struct fire_trace fire_trace_t;

fire_status_t fire_trace_open(const char *path, fire_trace_t **trace_p);
/* Add the activities of all workers and flush. */
fire_status_t fire_trace_add(fire_trace_t *t, const fire_measured_t *m);
fire_status_t fire_trace_close(fire_trace_t *t); /* NULL is allowed */
#endif
