/* trace.h - a timeline for chrome://tracing or ui.perfetto.dev: a process per worker,
 * in it lanes for data, computation, update and the exchange of each bucket. */
#ifndef FIRE_TRAIN_TRACE_H
#define FIRE_TRAIN_TRACE_H
#include "train/profile.h"

typedef struct fire_trace fire_trace_t;

/* The net tells the names of layers; it must outlive the trace. */
fire_status_t fire_trace_open(const char *path, const fire_net_t *net,
                              fire_trace_t **trace_p);
/* Add the spans of all workers. */
fire_status_t fire_trace_add(fire_trace_t *t, const fire_measured_t *m);
fire_status_t fire_trace_close(fire_trace_t *t); /* NULL is allowed */

/* For all who draw spans. */
typedef enum fire_lane {
    FIRE_LANE_ITERATION,
    FIRE_LANE_DATA,
    FIRE_LANE_COMPUTE,
    FIRE_LANE_WAIT,
    FIRE_LANE_UPDATE,
    FIRE_LANE_EXCHANGE,
    FIRE_NLANE,
} fire_lane_t;

extern const char *const fire_lane_names[FIRE_NLANE];
extern const char *const fire_work_names[]; /* "forward", ... */

fire_lane_t fire_lane_of(const fire_net_t *net, const fire_work_span_t *s);
/* "conv1", "bucket 3"; returns buf. */
const char *fire_span_name(const fire_net_t *net, const fire_work_span_t *s, char *buf,
                           size_t size);
#endif
