/* firecaffe report - writes a web page about runs that needs nothing but a browser. */
#include <stdio.h>
#include "base/alloc.h"
#include "base/file.h"
#include "command.h"
#include "report/csv.h"
#include "report/runs.h"
#include "report/page.h"

typedef struct flags {
    const char *o, *csv;
    bool        snapshots, trust;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, o, PATH, "report.html", "FILE", "write the page to FILE"),
    FIRE_OPTION(
        flags_t, csv, PATH, "", "DIR",
        "write tables to DIR instead: RUN.train.csv, RUN.test.csv, RUN.loss.csv"),
    FIRE_OPTION(flags_t, snapshots, BOOL, "true", NULL,
                "show filters and confused classes of the newest snapshot, which runs "
                "the test net; --nosnapshots: leave them out"),
    FIRE_OPTION(flags_t, trust, BOOL, "false", NULL,
                "for that, load the plug-ins and Python layers that the runs name"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

static fire_status_t write_page(const fire_report_t *r)
{
    char         *page;
    size_t        n;
    fire_status_t st;

    FIRE_TRY(fire_page_make(r, &page, &n));
    st = fire_file_write(flags.o, page, n);
    fire_free(page);
    if (st >= 0)
        printf("%s: %d run%s, %.2f MB\n", flags.o, r->nrun, r->nrun == 1 ? "" : "s",
               (double)n / 1e6);
    return st;
}

static fire_status_t write_tables(const fire_report_t *r)
{
    FIRE_TRY(fire_dir_make(flags.csv));
    for (int i = 0; i < r->nrun; i++) {
        char         *base;
        fire_status_t st;

        FIRE_TRY(fire_asprintf(&base, "%s/%s", flags.csv, r->run[i]->name));
        st = fire_csv_write(r->run[i], base);
        fire_free(base);
        FIRE_TRY(st);
        printf("%s/%s.*.csv\n", flags.csv, r->run[i]->name);
    }
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_report_t r;
    fire_status_t st;

    FIRE_TRY(fire_report_open(narg, arg, &r));
    r.trusted = flags.trust;
    if (flags.csv[0] != '\0') {
        st = write_tables(&r);
    } else {
        st = flags.snapshots ? fire_report_read_snapshots(&r) : FIRE_OK;
        if (st >= 0) st = write_page(&r);
    }
    fire_report_close(&r);
    return st;
}

const command_t command_report = {
    .name      = "report",
    .arguments = "RUN_DIR...",
    .summary   = "write a web page about one or several runs",
    .help      = "Writes one HTML file about the runs: loss, accuracy, speed, where\n"
                 "time goes, the net. Several runs share their plots. The page needs\n"
                 "no network; every plot has its data as a table and as CSV.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe report runs/lenet -o lenet.html\n"
                 "  firecaffe report runs/batch256 runs/batch1024 -o batches.html\n"
                 "  firecaffe report runs/lenet --csv tables\n",
    .groups    = groups,
    .min_args  = 1,
    .max_args  = -1,
    .run       = run,
};
