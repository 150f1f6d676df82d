/* firecaffe watch - shows runs while they go on, in the terminal or in a browser. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "command.h"
#include "report/runs.h"
#include "view/serve.h"
#include "stop.h"
#include "view/watch.h"

typedef struct flags {
    const char *serve, *token;
    bool        once;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, serve, STRING, "", "[ADDR:]PORT",
                "serve a web page there instead of printing; PORT alone: for this "
                "machine only"),
    FIRE_OPTION(flags_t, token, STRING, "", "TEXT",
                "what browsers must send (default: a random text, for this machine "
                "alone none)"),
    FIRE_OPTION(flags_t, once, BOOL, "false", NULL, "print once and exit"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

/* ---- text ---- */

static view_t view_of_terminal(void)
{
    struct winsize size;
    view_t         v = {.columns = 80};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        v.columns = size.ws_col;
    v.colour = isatty(STDOUT_FILENO) && getenv("NO_COLOR") == NULL;
    return v;
}

static fire_status_t print_all(const fire_report_t *r, const char *before,
                               const char *after)
{
    view_t        v   = view_of_terminal();
    fire_str_t    out = {0};
    fire_status_t st  = fire_str_printf(&out, "%s", before);

    for (int i = 0; i < r->nrun && st >= 0; i++) {
        st = view_run(&v, r->run[i], &out);
        if (st >= 0) st = fire_str_printf(&out, "\n");
    }
    if (st >= 0) st = fire_str_printf(&out, "%s", after);
    if (st >= 0) fwrite(out.text, 1, (size_t)out.n, stdout);
    fflush(stdout);
    fire_str_fini(&out);
    return st;
}

/* Draw on the terminal's alternate screen: the normal screen is unchanged afterwards.
 * */
static fire_status_t watch_text(fire_report_t *r)
{
    fire_status_t st = FIRE_OK;
    bool          news;

    printf("\x1b[?1049h\x1b[?25l");
    while (!stop_asked && st >= 0) {
        st = print_all(r, "\x1b[H\x1b[2J", "Ctrl-C ends watching, not the run.\n");
        sleep(1);
        for (int i = 0; i < r->nrun; i++)
            fire_run_poll(r->run[i], &news);
    }
    printf("\x1b[?25h\x1b[?1049l");
    return st < 0 ? st : print_all(r, "", "");
}

static fire_status_t watch_page(fire_report_t *r)
{
#ifdef FIRE_HAVE_MICROHTTPD
    return serve_report(r, &(serve_options_t){flags.serve, flags.token});
#else
    (void)r;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "--serve needs libmicrohttpd, which this program was built "
                     "without; `firecaffe report` writes the page to a file");
#endif
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_report_t r;
    fire_status_t st;

    FIRE_TRY(fire_report_open(narg, arg, &r));
    stop_on(SIGINT, 0);
    stop_on(SIGTERM, 0);
    if (flags.serve[0] != '\0')
        st = watch_page(&r);
    else if (flags.once || !isatty(STDOUT_FILENO))
        st = print_all(&r, "", "");
    else
        st = watch_text(&r);
    fire_report_close(&r);
    return st;
}

const command_t command_watch = {
    .name      = "watch",
    .arguments = "RUN_DIR...",
    .summary   = "follow runs in the terminal or in a browser",
    .help      = "Shows runs while they go on: progress, loss, accuracy, speed, and\n"
                 "how each worker spends its time. With --serve, browsers show the\n"
                 "page of `firecaffe report`, which follows the runs. The page is\n"
                 "read-only; browsers on other machines need the token that is\n"
                 "printed.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe watch runs/lenet\n"
                 "  firecaffe watch runs/lenet --serve 8080\n"
                 "  firecaffe watch runs/* --serve 0.0.0.0:8080\n",
    .groups    = groups,
    .min_args  = 1,
    .max_args  = -1,
    .run       = run,
};
