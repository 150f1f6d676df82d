/* firecaffe data check - looks through a data set before somebody trains on it. */
#include <signal.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/file.h"
#include "command.h"
#include "data/check/check.h"
#include "stop.h"
#include "view/console.h"

typedef struct flags {
    const char *root, *data, *label, *o;
    int64_t     limit, pictures;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, o, PATH, "", "FILE",
                "write a page with pictures of each class to this .html file"),
    FIRE_OPTION(flags_t, root, STRING, "", "FOLDER/",
                "put before the paths of a list of images"),
    FIRE_OPTION(flags_t, data, STRING, "data", "NAME", "dataset of HDF5 files: images"),
    FIRE_OPTION(flags_t, label, STRING, "label", "NAME",
                "dataset of HDF5 files: labels"),
    FIRE_OPTION(flags_t, limit, INT, "0", "N", "look at N records only; 0: at all"),
    FIRE_OPTION(flags_t, pictures, INT, "8", "N", "show N pictures of each class"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

static fire_status_t show(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    console_progress("Checking", done, total, "");
    if (stop_asked)
        return FIRE_FAIL(FIRE_ERR_STOPPED,
                         "stopped on request after %lld of %lld records",
                         (long long)done, (long long)total);
    return FIRE_OK;
}

static fire_status_t write_page(const fire_check_t *c, const char *title)
{
    fire_str_t    page = {0};
    fire_status_t st   = fire_check_page(c, title, &page);

    if (st >= 0) st = fire_file_write(flags.o, page.text, (size_t)page.n);
    fire_str_fini(&page);
    return st;
}

static fire_status_t report(const fire_check_t *c, const char *path)
{
    fire_str_t    text = {0};
    fire_status_t st   = fire_check_print(c, &text);

    if (st >= 0) fputs(fire_text_make_plain(text.text), stdout);
    fire_str_fini(&text);
    if (st >= 0 && flags.o[0] != '\0') st = write_page(c, path);
    if (st >= 0 && c->broken > 0)
        st = FIRE_FAIL(FIRE_ERR_PARSE, "%s: %lld of %lld records are broken", path,
                       (long long)c->broken, (long long)c->records);
    return st;
}

static fire_status_t check(int narg, const char *const *arg)
{
    fire_check_options_t o = {.items    = {flags.root, flags.data, flags.label},
                              .limit    = flags.limit,
                              .pictures = flags.o[0] != '\0' ? (int)flags.pictures : 0,
                              .progress = show};
    fire_check_t        *c;
    fire_status_t        st;

    (void)narg;
    stop_on(SIGINT, SA_RESTART | (int)SA_RESETHAND);
    stop_on(SIGTERM, SA_RESTART | (int)SA_RESETHAND);
    FIRE_TRY(FIRE_NEW(&c, 1));
    st = fire_check_run(arg[0], &o, c);
    console_progress_end();
    if (st >= 0) st = report(c, arg[0]);
    fire_check_fini(c);
    fire_free(c);
    return st;
}

const command_t command_data_check = {
    .name      = "data check",
    .arguments = "DATA",
    .summary   = "look through a data set: classes, broken records, duplicates",
    .help =
        "Reads every record of an LMDB or LevelDB, of a list of images or of a list "
        "of\n"
        "HDF5 files, and prints records per class, sizes, mean and standard deviation\n"
        "of each channel, broken records with their keys, and records with the same\n"
        "pixels. With -o it also writes a page with pictures of each class. Ends with\n"
        "1 if a record is broken.\n"
        "\n"
        "Examples:\n"
        "  firecaffe data check train_lmdb -o check.html\n"
        "  firecaffe data check train.txt --root photos/\n"
        "  firecaffe data check list_of_h5.txt --data images --label classes\n",
    .groups   = groups,
    .min_args = 1,
    .max_args = 1,
    .run      = check,
};
