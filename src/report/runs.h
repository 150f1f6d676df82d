/* runs.h - opens the runs of a report by path, and adds what their logs do not have: a
 * drawing of the net, filters of the first layer, the confusion matrix. */
#ifndef FIRE_REPORT_RUNS_H
#define FIRE_REPORT_RUNS_H
#include "report/data.h"

/* Each path is a run directory, a directory of run directories (as a sweep leaves it) or a
 * log. Two runs of one name get different names. End with fire_report_close(). */
fire_status_t fire_report_open(int n, const char *const *path, fire_report_t *report_p);
void          fire_report_close(fire_report_t *report);

/* Draw the nets of runs that have no picture yet; a live run's net may come later. */
fire_status_t fire_report_draw_nets(fire_report_t *report);
/* Read the newest snapshot of each run: its filters and, if the test set is on this
 * machine, the classes that it confuses. What is missing is logged and left out. Changes
 * the current directory meanwhile, as paths in nets are relative to that of the run. */
fire_status_t fire_report_read_snapshots(fire_report_t *report);
#endif
