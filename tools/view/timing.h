/* timing.h - how long each layer takes while it trains, in the log, as Caffe's train.py
 * --timing tells it: now and then, averaged over the iterations since the last time. */
#ifndef FIRE_TOOLS_VIEW_TIMING_H
#define FIRE_TOOLS_VIEW_TIMING_H
#include "base/error.h"
#include "runlog/measured.h"

typedef struct timing {
    bool    is_due; /* set this to see a table with what is measured next */
    int64_t passes, iterations;
    double *forward, *backward; /* sums at the last table */
    double  seconds, exchange;  /* sums since then */
} timing_t;

fire_status_t timing_add(timing_t *t, const fire_measured_t *m);
void          timing_fini(timing_t *t);
#endif
