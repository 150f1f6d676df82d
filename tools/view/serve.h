/* serve.h - a report as a page that follows its runs, for browsers. Read-only. */
#ifndef FIRE_TOOLS_VIEW_SERVE_H
#define FIRE_TOOLS_VIEW_SERVE_H
#include "report/data.h"

typedef struct serve_options {
    const char *address; /* "[ADDR:]PORT"; 127.0.0.1 if left out */
    const char *token;   /* asked for unless the address is this machine's own; "": a
                            random one is made */
} serve_options_t;

/* Prints the address to open, then serves until stop_asked. */
fire_status_t serve_report(fire_report_t *report, const serve_options_t *options);
#endif
