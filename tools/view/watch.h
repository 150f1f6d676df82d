/* watch.h - a run as a few lines of text: progress, curves as block characters, how
 * each worker spends its time. */
#ifndef FIRE_TOOLS_VIEW_WATCH_H
#define FIRE_TOOLS_VIEW_WATCH_H
#include "report/run.h"

typedef struct view {
    int  columns;
    bool colour;
} view_t;

fire_status_t view_run(const view_t *v, const fire_run_t *run, fire_str_t *out);
#endif
