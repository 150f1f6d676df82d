/* firecaffe log - converts a console log to two tables, LOG.train and LOG.test, as
 * Caffe's parse_log.py or parse_log.sh does; firecaffe seconds - lists its times alone,
 * as extract_seconds.py. */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/text/text.h"
#include "command.h"
#include "runlog/console_log.h"

typedef struct flags {
    const char *delimiter;
    bool        plain;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, delimiter, STRING, ",", "TEXT", "text between columns"),
    FIRE_OPTION(flags_t, plain, BOOL, "false", NULL,
                "separate columns by blanks, as parse_log.sh: loss and rate, accuracy "
                "and loss"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

/* ---- with delimiters ---- */

static fire_status_t print_csv(const fire_console_table_t *t, fire_str_t *out)
{
    FIRE_TRY(fire_str_printf(out, "NumIters%sSeconds%sLearningRate", flags.delimiter,
                             flags.delimiter));
    for (int64_t i = 0; i < t->noutput; i++)
        FIRE_TRY(fire_str_printf(out, "%s%s", flags.delimiter, t->output[i]));
    for (int64_t i = 0; i < t->nrow; i++)
        for (int64_t k = 0; k < FIRE_LOG_OUTPUT + t->noutput; k++) {
            char number[FIRE_NUMBER_MAX];

            fire_number_print(fire_console_row(t, i)[k], number);
            FIRE_TRY(
                fire_str_printf(out, "%s%s", k == 0 ? "\n" : flags.delimiter, number));
        }
    return fire_str_add(out, "\n", 1);
}

/* ---- with blanks ---- */

enum { PLAIN_COLUMNS = 4 };

/* Each column is as wide as its longest number plus two blanks, as `column -t` does it.
 * */
static fire_status_t print_row(const double *row, const int *column, const int *width,
                               fire_str_t *out)
{
    for (int k = 0; k < PLAIN_COLUMNS; k++) {
        char number[FIRE_NUMBER_MAX];
        bool last = k + 1 == PLAIN_COLUMNS;

        fire_number_print_rounded(row[column[k]], 9, number);
        FIRE_TRY(fire_str_printf(out, "%-*s%s", last ? 0 : width[k], number,
                                 last ? "\n" : "  "));
    }
    return FIRE_OK;
}

static fire_status_t print_plain(const fire_console_table_t *t, const char *head,
                                 const int column[PLAIN_COLUMNS], fire_str_t *out)
{
    int width[PLAIN_COLUMNS] = {0};

    for (int64_t i = 0; i < t->nrow; i++)
        for (int k = 0; k < PLAIN_COLUMNS; k++) {
            char number[FIRE_NUMBER_MAX];

            fire_number_print_rounded(fire_console_row(t, i)[column[k]], 9, number);
            if ((int)strlen(number) > width[k]) width[k] = (int)strlen(number);
        }
    FIRE_TRY(fire_str_printf(out, "%s\n", head));
    for (int64_t i = 0; i < t->nrow; i++)
        FIRE_TRY(print_row(fire_console_row(t, i), column, width, out));
    return FIRE_OK;
}

/* ---- files ---- */

static fire_status_t print_table(const fire_console_log_t *t, bool train,
                                 fire_str_t *out)
{
    static const int loss[] = {FIRE_LOG_ITERATION, FIRE_LOG_SECONDS, FIRE_LOG_OUTPUT,
                               FIRE_LOG_RATE};
    static const int test[] = {FIRE_LOG_ITERATION, FIRE_LOG_SECONDS, FIRE_LOG_OUTPUT,
                               FIRE_LOG_OUTPUT + 1};

    if (!flags.plain) return print_csv(train ? &t->train : &t->test, out);
    if (train)
        return print_plain(&t->loss, "#Iters Seconds TrainingLoss LearningRate", loss,
                           out);
    return print_plain(&t->test, "#Iters Seconds TestAccuracy TestLoss", test, out);
}

static fire_status_t write_table(const fire_console_log_t *t, bool train,
                                 const char *log, const char *dir)
{
    const char   *slash = strrchr(log, '/'), *kind = train ? "train" : "test";
    fire_str_t    text = {0};
    char         *path;
    fire_status_t st;

    FIRE_TRY(
        fire_asprintf(&path, "%s/%s.%s", dir, slash != NULL ? slash + 1 : log, kind));
    FIRE_TRY_GOTO(st, print_table(t, train, &text), done);
    FIRE_TRY_GOTO(st, fire_file_write(path, text.text, (size_t)text.n), done);
    printf("%s: %lld rows\n", path,
           (long long)(!train        ? t->test.nrow
                       : flags.plain ? t->loss.nrow
                                     : t->train.nrow));
done:
    fire_str_fini(&text);
    fire_free(path);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    const char        *dir = narg > 1 ? arg[1] : ".";
    fire_console_log_t t;
    fire_status_t      st;

    FIRE_TRY(fire_console_log_read(arg[0], &t));
    st = write_table(&t, true, arg[0], dir);
    if (st >= 0) st = write_table(&t, false, arg[0], dir);
    fire_console_log_fini(&t);
    return st;
}

const command_t command_log = {
    .name      = "log",
    .arguments = "LOG [DIR]",
    .summary   = "convert a training's console log to CSV tables",
    .help      = "Writes DIR/LOG.train and DIR/LOG.test, a line per display or test:\n"
                 "iteration, seconds since the start, learning rate and every output\n"
                 "of the net. Logs of Caffe work too. DIR must exist; without it, the\n"
                 "tables go to the current directory.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe train --solver solver.prototxt 2>&1 | tee run.log\n"
                 "  firecaffe log run.log\n"
                 "  firecaffe log --delimiter=';' run.log tables/\n"
                 "  firecaffe log --plain run.log\n",
    .groups    = groups,
    .min_args  = 1,
    .max_args  = 2,
    .run       = run,
};

/* ---- seconds ---- */

static fire_status_t run_seconds(int narg, const char *const *arg)
{
    fire_str_t         out = {0};
    fire_console_log_t t;
    fire_status_t      st;

    (void)narg;
    FIRE_TRY(fire_console_log_read(arg[0], &t));
    st = fire_str_add(&out, "", 0);
    for (int64_t i = 0; i < t.nseconds && st >= 0; i++)
        st = fire_str_printf(&out, "%f\n", t.seconds[i]);
    if (st >= 0) st = fire_file_write(arg[1], out.text, (size_t)out.n);
    fire_str_fini(&out);
    fire_console_log_fini(&t);
    return st;
}

const command_t command_seconds = {
    .name      = "seconds",
    .arguments = "LOG OUT",
    .summary   = "list the times in a log, as Caffe's extract_seconds.py",
    .help      = "Writes the seconds since the start of the training, one line for\n"
                 "each line of LOG that names an iteration.\n"
                 "\n"
                 "Example:\n"
                 "  firecaffe seconds run.log seconds.txt\n",
    .min_args  = 2,
    .max_args  = 2,
    .run       = run_seconds,
};
