/* runs.h - the runs that a command was given, with what can be found out about them
 * beyond their logs: the picture of the net, filters, mistakes. */
#ifndef FIRE_TOOLS_RUNS_H
#define FIRE_TOOLS_RUNS_H
#include "report/data.h"

/* Run directories, directories of such, or logs. */
fire_status_t runs_open(int n, const char *const *path, fire_report_t *report_p);
void          runs_close(fire_report_t *report);

/* Draw nets that have become known since. */
fire_status_t runs_draw(fire_report_t *report);
/* Filters of the newest snapshot, and its mistakes on the test set, if that is here;
 * what is missing is told and left out. */
fire_status_t runs_look_at_snapshots(fire_report_t *report);
#endif
