/* timing.h - `train --timing`: logs the milliseconds of each layer at intervals,
 * averaged over the iterations since the last table, in the format of Caffe's train.py.
 * */
#ifndef FIRE_TOOLS_VIEW_TIMING_H
#define FIRE_TOOLS_VIEW_TIMING_H
#include "base/error.h"
#include "runlog/measured.h"

typedef struct timing {
    bool    is_due; /* set it to log a table at the next timing_add() */
    int64_t passes, iterations;
    double *forward, *backward; /* [layers] seconds up to the last table */
    double  seconds, exchange;  /* seconds since then, of rank 0 */
} timing_t;

fire_status_t timing_add(timing_t *t, const fire_measured_t *m);
void          timing_fini(timing_t *t);
#endif
