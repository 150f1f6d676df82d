/* log_tables.h - what the console log of a training tells, ours or Caffe's. */
#ifndef FIRE_TOOLS_LOG_TABLES_H
#define FIRE_TOOLS_LOG_TABLES_H
#include "base/error.h"

enum { LOG_ITERATION, LOG_SECONDS, LOG_RATE, LOG_OUTPUT, LOG_COLUMNS = 64 };

/* Outputs appear in the order in which the log names them. What a row lacks is NAN. */
typedef struct log_table {
    char  **output;
    double *cell; /* [nrow][LOG_COLUMNS]; see log_table_row() */
    int64_t noutput, output_cap, nrow, cell_cap;
} log_table_t;

typedef struct log_tables {
    log_table_t train, test; /* a row for each display, for each test */
    log_table_t loss;        /* for each line with the loss, its only output */
    double     *seconds;     /* since the start, of each line that names an iteration */
    int64_t     nseconds, seconds_cap;
} log_tables_t;

fire_status_t log_tables_read(const char *path, log_tables_t *tables_p);
void          log_tables_fini(log_tables_t *t);

static inline double *log_table_row(const log_table_t *t, int64_t i)
{
    return t->cell + i * LOG_COLUMNS;
}
#endif
