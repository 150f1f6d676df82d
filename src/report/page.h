/* page.h - makes the report: one HTML file without references to other files. */
#ifndef FIRE_REPORT_PAGE_H
#define FIRE_REPORT_PAGE_H
#include "report/data.h"

/* The page of report/, put together by cmake/embed_page.cmake when the program is
 * built. */
extern const unsigned char fire_page[];
extern const size_t        fire_page_size;

/* Insert JSON data into the page. */
fire_status_t fire_page_fill(const char *data, char **page_p, size_t *n_p);
/* Make the whole page of some runs. End *page_p with fire_free(). */
fire_status_t fire_page_make(const fire_report_t *report, char **page_p, size_t *n_p);
#endif
