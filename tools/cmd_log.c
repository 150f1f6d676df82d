/* firecaffe log - a console log as two tables, as Caffe's parse_log.py makes them:
 * LOG.train and LOG.test with NumIters, Seconds, LearningRate and the outputs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/alloc.h"
#include "base/file.h"
#include "command.h"

typedef struct flags {
    const char *delimiter;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, delimiter, STRING, ",", "TEXT", "between the columns"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

/* One table. Columns appear in the order in which the log names them. */
typedef struct table {
    char  **column;
    double *cell; /* [nrow][MAX_COLUMNS] */
    int64_t ncolumn, column_cap, nrow, cell_cap;
} table_t;

enum { MAX_COLUMNS = 64, ITERATION = 0, SECONDS, RATE, FIRST_OUTPUT };

typedef struct reader {
    table_t train, test;
    double  iteration, rate, seconds, start; /* NAN: not seen yet */
} reader_t;

static void table_fini(table_t *t)
{
    for (int64_t i = 0; i < t->ncolumn; i++)
        fire_free(t->column[i]);
    fire_free(t->column);
    fire_free(t->cell);
}

static fire_status_t column_of(table_t *t, const char *name, size_t n, int64_t *at_p)
{
    for (int64_t i = 0; i < t->ncolumn; i++)
        if (strlen(t->column[i]) == n && strncmp(t->column[i], name, n) == 0) {
            *at_p = FIRST_OUTPUT + i;
            return FIRE_OK;
        }
    if (t->ncolumn + FIRST_OUTPUT == MAX_COLUMNS)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "more than %d outputs in the log",
                         MAX_COLUMNS - FIRST_OUTPUT);
    FIRE_TRY(fire_grow(&t->column, &t->column_cap, t->ncolumn + 1, sizeof(*t->column)));
    FIRE_TRY(fire_asprintf(&t->column[t->ncolumn], "%.*s", (int)n, name));
    *at_p = FIRST_OUTPUT + t->ncolumn++;
    return FIRE_OK;
}

static double *row_at(const table_t *t, int64_t i)
{
    return t->cell + i * MAX_COLUMNS;
}

static fire_status_t add_row(table_t *t, const reader_t *r)
{
    double *row;

    FIRE_TRY(fire_grow(&t->cell, &t->cell_cap, (t->nrow + 1) * MAX_COLUMNS,
                       sizeof(*t->cell)));
    row = row_at(t, t->nrow++);
    for (int i = 0; i < MAX_COLUMNS; i++)
        row[i] = NAN;
    row[ITERATION] = r->iteration;
    row[SECONDS]   = r->seconds - r->start;
    row[RATE]      = r->rate;
    return FIRE_OK;
}

/* ---- reading ---- */

/* "#k: name = value" behind "Train net output " or "Test net output ". */
static fire_status_t read_output(const reader_t *r, table_t *t, const char *text)
{
    char    name[256];
    int     number;
    double  value;
    int64_t column = 0;

    if (sscanf(text, "#%d: %255s = %lf", &number, name, &value) != 3) return FIRE_OK;
    if (number == 0 || t->nrow == 0) FIRE_TRY(add_row(t, r));
    FIRE_TRY(column_of(t, name, strlen(name), &column));
    row_at(t, t->nrow - 1)[column] = value;
    return FIRE_OK;
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

static void read_numbers(reader_t *r, const char *line)
{
    const double year = 365 * 86400.0;
    const char  *at;

    if (read_time(line, &r->seconds)) {
        if (isnan(r->start) && strstr(line, "Solving") != NULL) r->start = r->seconds;
        if (r->seconds < r->start) r->seconds += year; /* trained over New Year */
    }
    if ((at = strstr(line, "Iteration ")) != NULL)
        sscanf(at, "Iteration %lf", &r->iteration);
    if ((at = strstr(line, "lr = ")) != NULL) sscanf(at, "lr = %lf", &r->rate);
}

static fire_status_t read_line(reader_t *r, const char *line)
{
    static const char train[] = "Train net output ", test[] = "Test net output ";
    const char       *at;

    read_numbers(r, line);
    if (isnan(r->iteration)) return FIRE_OK;
    if ((at = strstr(line, train)) != NULL)
        return read_output(r, &r->train, at + sizeof(train) - 1);
    if ((at = strstr(line, test)) != NULL)
        return read_output(r, &r->test, at + sizeof(test) - 1);
    return FIRE_OK;
}

/* The first test comes before the first "lr =": it gets the rate that follows. */
static void fill_first_rate(table_t *t)
{
    if (t->nrow > 1 && isnan(t->cell[RATE])) t->cell[RATE] = row_at(t, 1)[RATE];
}

static fire_status_t read_log(reader_t *r, const char *path)
{
    char  *text, *line, *rest;
    size_t n;

    FIRE_TRY(fire_file_read(path, &text, &n));
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        fire_status_t st = read_line(r, line);

        if (st < 0) {
            fire_free(text);
            return st;
        }
    }
    fire_free(text);
    if (isnan(r->start))
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: no line with \"Solving\": not the log of a training",
                         path);
    fill_first_rate(&r->train);
    fill_first_rate(&r->test);
    return FIRE_OK;
}

/* ---- writing ---- */

static fire_status_t print_table(const table_t *t, fire_str_t *out)
{
    FIRE_TRY(fire_str_printf(out, "NumIters%sSeconds%sLearningRate", flags.delimiter,
                             flags.delimiter));
    for (int64_t i = 0; i < t->ncolumn; i++)
        FIRE_TRY(fire_str_printf(out, "%s%s", flags.delimiter, t->column[i]));
    for (int64_t i = 0; i < t->nrow; i++)
        for (int64_t k = 0; k < FIRST_OUTPUT + t->ncolumn; k++) {
            char number[FIRE_NUMBER_MAX];

            fire_number_print(row_at(t, i)[k], number);
            FIRE_TRY(
                fire_str_printf(out, "%s%s", k == 0 ? "\n" : flags.delimiter, number));
        }
    return fire_str_add(out, "\n", 1);
}

static fire_status_t write_table(const table_t *t, const char *log, const char *dir,
                                 const char *kind)
{
    const char   *slash = strrchr(log, '/');
    fire_str_t    text  = {0};
    char         *path;
    fire_status_t st;

    FIRE_TRY(
        fire_asprintf(&path, "%s/%s.%s", dir, slash != NULL ? slash + 1 : log, kind));
    FIRE_TRY_GOTO(st, print_table(t, &text), done);
    FIRE_TRY_GOTO(st, fire_file_write(path, text.text, (size_t)text.n), done);
    printf("%s: %lld rows\n", path, (long long)t->nrow);
done:
    fire_str_fini(&text);
    fire_free(path);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    const char   *dir = narg > 1 ? arg[1] : ".";
    reader_t      r   = {.iteration = NAN, .rate = NAN, .seconds = NAN, .start = NAN};
    fire_status_t st;

    FIRE_TRY_GOTO(st, read_log(&r, arg[0]), done);
    FIRE_TRY_GOTO(st, write_table(&r.train, arg[0], dir, "train"), done);
    st = write_table(&r.test, arg[0], dir, "test");
done:
    table_fini(&r.train);
    table_fini(&r.test);
    return st;
}

const command_t command_log = {
    .name      = "log",
    .arguments = "LOG [DIR]",
    .summary   = "turn a training's console log into CSV tables",
    .help =
        "Writes DIR/LOG.train and DIR/LOG.test: iteration, seconds since the start,\n"
        "learning rate and every net output, a line per display or test. The logs of\n"
        "Caffe itself are read as well. DIR is the current directory if left out.\n"
        "\n"
        "Examples:\n"
        "  firecaffe train --solver solver.prototxt 2>&1 | tee run.log\n"
        "  firecaffe log run.log\n"
        "  firecaffe log --delimiter=';' run.log tables/\n",
    .groups   = groups,
    .min_args = 1,
    .max_args = 2,
    .run      = run,
};
