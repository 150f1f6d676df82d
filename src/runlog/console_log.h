/* console_log.h - reads the console log of a training, ours or Caffe's, as tables: lines
 * like "Iteration 100, loss = 0.5" and "Train net output #0: loss = 0.5". */
#ifndef FIRE_RUNLOG_CONSOLE_LOG_H
#define FIRE_RUNLOG_CONSOLE_LOG_H
#include "base/error.h"

/* Columns of a row. Outputs of the net follow from FIRE_LOG_OUTPUT on. */
enum {
    FIRE_LOG_ITERATION,
    FIRE_LOG_SECONDS, /* since the line with "Solving" */
    FIRE_LOG_RATE,    /* learning rate */
    FIRE_LOG_OUTPUT,
    FIRE_LOG_COLUMNS = 64
};

typedef struct fire_console_table {
    char  **output; /* [noutput] names, in the order in which the log has them */
    double *cell;   /* (nrow, FIRE_LOG_COLUMNS); NAN: the log has no value */
    int64_t noutput, output_cap, nrow, cell_cap;
} fire_console_table_t;

typedef struct fire_console_log {
    fire_console_table_t train, test; /* a row for each display, for each test */
    fire_console_table_t loss; /* a row for each loss, which is its only output */
    double *seconds; /* [nseconds] since the start, of each line with an iteration */
    int64_t nseconds, seconds_cap;
} fire_console_log_t;

/* End with fire_console_log_fini(). A file without "Solving" is no log of a training. */
fire_status_t fire_console_log_read(const char *path, fire_console_log_t *log_p);
void          fire_console_log_fini(fire_console_log_t *log);

static inline double *fire_console_row(const fire_console_table_t *t, int64_t i)
{
    return t->cell + i * FIRE_LOG_COLUMNS;
}
#endif
