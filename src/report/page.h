/* page.h - the report as one HTML file that needs nothing else. */
#ifndef FIRE_REPORT_PAGE_H
#define FIRE_REPORT_PAGE_H
#include "report/data.h"

/* The page in report/, put together when the program is built (embed_page.cmake). */
extern const unsigned char fire_page[];
extern const size_t        fire_page_size;

/* Put data that are JSON already into the page. */
fire_status_t fire_page_fill(const char *data, char **page_p, size_t *n_p);
/* The whole page, for reading with a browser; *page_p is ended by fire_free(). */
fire_status_t fire_page_make(const fire_report_t *report, char **page_p, size_t *n_p);
#endif
