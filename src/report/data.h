/* data.h - turns runs into the JSON that the report page (report/) draws. Its size is
 * bounded: long curves become at most 1500 points. */
#ifndef FIRE_REPORT_DATA_H
#define FIRE_REPORT_DATA_H
#include "report/run.h"

/* What is known about a run beyond its log, as JSON texts (graph: SVG); owned by the
 * caller. Each may be NULL. */
typedef struct fire_run_extra {
    char *filters, *confusion, *graph;
} fire_run_extra_t;

/* The runs of a page. */
typedef struct fire_report {
    int               nrun;
    fire_run_t      **run;
    fire_run_extra_t *extra; /* [nrun]; NULL: none */
    int64_t           run_cap, extra_cap;
    bool              live;    /* the page is served and will ask for updates */
    bool              trusted; /* plug-ins and Python layers of the runs may be run */
} fire_report_t;

/* Write the whole JSON value. */
void fire_report_write(fire_json_writer_t *w, const fire_report_t *report);
#endif
