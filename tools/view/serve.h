/* serve.h - serves a report as a web page that follows its runs. Read-only. */
#ifndef FIRE_TOOLS_VIEW_SERVE_H
#define FIRE_TOOLS_VIEW_SERVE_H
#include "report/data.h"

typedef struct serve_options {
    const char *address; /* "[ADDR:]PORT"; 127.0.0.1 if left out */
    const char *token; /* browsers must send it; "": make a random one, or none if only
                            this machine is served */
} serve_options_t;

/* Print the address to open, then serve until stop_asked. */
fire_status_t serve_report(fire_report_t *report, const serve_options_t *options);
#endif
