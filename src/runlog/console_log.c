/* console_log.c - one pass over the lines of a log; what a line names is put into the
 * row of its iteration. */
#include "runlog/console_log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/alloc.h"
#include "base/file.h"

typedef struct reader {
    fire_console_log_t t;
    double             iteration, rate, seconds, start; /* NAN: not seen yet */
} reader_t;

/* ---- tables ---- */

static void table_fini(fire_console_table_t *t)
{
    for (int64_t i = 0; i < t->noutput; i++)
        fire_free(t->output[i]);
    fire_free(t->output);
    fire_free(t->cell);
}

void fire_console_log_fini(fire_console_log_t *t)
{
    table_fini(&t->train);
    table_fini(&t->test);
    table_fini(&t->loss);
    fire_free(t->seconds);
}

static fire_status_t column_of(fire_console_table_t *t, const char *name, int64_t *at_p)
{
    for (int64_t i = 0; i < t->noutput; i++)
        if (strcmp(t->output[i], name) == 0) {
            *at_p = FIRE_LOG_OUTPUT + i;
            return FIRE_OK;
        }
    if (t->noutput + FIRE_LOG_OUTPUT == FIRE_LOG_COLUMNS)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "more than %d outputs in the log",
                         FIRE_LOG_COLUMNS - FIRE_LOG_OUTPUT);
    FIRE_TRY(fire_grow(&t->output, &t->output_cap, t->noutput + 1, sizeof(*t->output)));
    FIRE_TRY(fire_strdup(name, &t->output[t->noutput]));
    *at_p = FIRE_LOG_OUTPUT + t->noutput++;
    return FIRE_OK;
}

static fire_status_t add_row(const reader_t *r, fire_console_table_t *t)
{
    double *row;

    FIRE_TRY(fire_grow(&t->cell, &t->cell_cap, (t->nrow + 1) * FIRE_LOG_COLUMNS,
                       sizeof(*t->cell)));
    row = fire_console_row(t, t->nrow++);
    for (int i = 0; i < FIRE_LOG_COLUMNS; i++)
        row[i] = NAN;
    row[FIRE_LOG_ITERATION] = r->iteration;
    row[FIRE_LOG_SECONDS]   = r->seconds - r->start;
    row[FIRE_LOG_RATE]      = r->rate;
    return FIRE_OK;
}

static fire_status_t set_output(const reader_t *r, fire_console_table_t *t,
                                bool new_row, const char *name, double value)
{
    int64_t column = 0;

    if (new_row || t->nrow == 0) FIRE_TRY(add_row(r, t));
    FIRE_TRY(column_of(t, name, &column));
    fire_console_row(t, t->nrow - 1)[column] = value;
    return FIRE_OK;
}

/* ---- lines ---- */

/* "#k: name = value" behind "Train net output " or "Test net output ". */
static fire_status_t read_output(const reader_t *r, fire_console_table_t *t,
                                 const char *text)
{
    char   name[256];
    int    number;
    double value;

    if (sscanf(text, "#%d: %255s = %lf", &number, name, &value) != 3) return FIRE_OK;
    return set_output(r, t, number == 0, name, value);
}

/* Lmmdd hh:mm:ss.uuuuuu; the year is not in the log, 2001 does for differences. */
static bool read_time(const char *line, double *seconds_p)
{
    struct tm tm = {.tm_year = 101};
    double    seconds;

    if (strchr("IWEF", line[0]) == NULL ||
        sscanf(line + 1, "%2d%2d %d:%d:%lf", &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &seconds) != 5)
        return false;
    tm.tm_mon--;
    *seconds_p = (double)timegm(&tm) + seconds;
    return true;
}

static void note_time(reader_t *r, const char *line)
{
    const double year = 365 * 86400.0;

    if (!read_time(line, &r->seconds)) return;
    if (isnan(r->start) && strstr(line, "Solving") != NULL) r->start = r->seconds;
    if (r->seconds < r->start) r->seconds += year; /* trained over New Year */
}

/* "Iteration 100 (50 iter/s, 2s/100 iters), loss = 0.5" or "Iteration 100, lr = 0.01";
 * the rate comes behind the loss of its iteration. */
static fire_status_t read_iteration(reader_t *r, const char *line)
{
    static const char loss[] = ", loss = ", rate[] = "lr = ";
    const char       *at = strstr(line, "Iteration ");

    if (at != NULL && sscanf(at, "Iteration %lf", &r->iteration) == 1 &&
        !isnan(r->start)) {
        FIRE_TRY(fire_grow(&r->t.seconds, &r->t.seconds_cap, r->t.nseconds + 1,
                           sizeof(*r->t.seconds)));
        r->t.seconds[r->t.nseconds++] = r->seconds - r->start;
    }
    if (at != NULL && (at = strstr(at, loss)) != NULL)
        FIRE_TRY(set_output(r, &r->t.loss, true, "loss",
                            strtod(at + sizeof(loss) - 1, NULL)));
    if ((at = strstr(line, rate)) == NULL) return FIRE_OK;
    r->rate = strtod(at + sizeof(rate) - 1, NULL);
    if (r->t.loss.nrow > 0)
        fire_console_row(&r->t.loss, r->t.loss.nrow - 1)[FIRE_LOG_RATE] = r->rate;
    return FIRE_OK;
}

static fire_status_t read_line(reader_t *r, const char *line)
{
    static const char train[] = "Train net output ", test[] = "Test net output ";
    const char       *at;

    note_time(r, line);
    FIRE_TRY(read_iteration(r, line));
    if (isnan(r->iteration)) return FIRE_OK;
    if ((at = strstr(line, train)) != NULL)
        return read_output(r, &r->t.train, at + sizeof(train) - 1);
    if ((at = strstr(line, test)) != NULL)
        return read_output(r, &r->t.test, at + sizeof(test) - 1);
    return FIRE_OK;
}

/* The first test comes before the first "lr =": it gets the rate that follows. */
static void fill_first_rate(fire_console_table_t *t)
{
    if (t->nrow > 1 && isnan(t->cell[FIRE_LOG_RATE]))
        t->cell[FIRE_LOG_RATE] = fire_console_row(t, 1)[FIRE_LOG_RATE];
}

static fire_status_t read_lines(reader_t *r, char *text)
{
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line       = strtok_r(NULL, "\n", &rest))
        FIRE_TRY(read_line(r, line));
    return FIRE_OK;
}

fire_status_t fire_console_log_read(const char *path, fire_console_log_t *log_p)
{
    reader_t      r = {.iteration = NAN, .rate = NAN, .seconds = NAN, .start = NAN};
    char         *text;
    size_t        n;
    fire_status_t st;

    FIRE_TRY(fire_file_read(path, &text, &n));
    st = read_lines(&r, text);
    fire_free(text);
    if (st >= 0 && isnan(r.start))
        st = FIRE_FAIL(FIRE_ERR_PARSE,
                       "%s: no line with \"Solving\": not the log of a training", path);
    if (st < 0) {
        fire_console_log_fini(&r.t);
        return st;
    }
    fill_first_rate(&r.t.train);
    fill_first_rate(&r.t.test);
    *log_p = r.t;
    return FIRE_OK;
}
