/* results.h - opens the log that --run_dir asks for, with this program's command line. */
#ifndef FIRE_TOOLS_FLAGS_RESULTS_H
#define FIRE_TOOLS_FLAGS_RESULTS_H
#include "runlog/results.h"

/* As fire_results_open(); command line and machine are added to `head`. */
fire_status_t results_open(const char *run_dir, const fire_results_head_t *head,
                           fire_results_t **results_p);
#endif
