/* console.c - log lines and progress bar. Log lines may come from any thread, the bar
 * from the main thread: both are written under console.lock. */
#include "view/console.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "base/log.h"

const fire_option_t console_options[] = {
    FIRE_OPTION(console_flags_t, verbose, BOOL, "false", NULL,
                "log more; with an error, where in the source it arose"),
    FIRE_OPTION(console_flags_t, quiet, BOOL, "false", NULL,
                "log warnings and errors only"),
    FIRE_OPTION(console_flags_t, log_dir, STRING, NULL, "DIR",
                "write the log to a file in DIR too (or set GLOG_log_dir)"),
    FIRE_OPTION(
        console_flags_t, minloglevel, INT, "0", "N",
        "log from this level on: 0 info, 1 warning, 2 error (or set GLOG_minloglevel)"),
    FIRE_OPTION(console_flags_t, v, INT, "0", "N", "1: as --verbose (or set GLOG_v)"),
    FIRE_OPTION(console_flags_t, logtostderr, BOOL, "false", NULL,
                "write no log file, whatever --log_dir says (or set GLOG_logtostderr)"),
    FIRE_OPTION(console_flags_t, alsologtostderr, BOOL, "true", NULL,
                "accepted for scripts; the log goes to stderr always"),
    {0},
};

enum { BAR_WIDTH = 16, REDRAW_MS = 100 };

static struct {
    pthread_mutex_t lock;
    FILE           *file; /* the log in log_dir, or NULL */
    bool            terminal, colour, drawn;
    int64_t         drawn_ms, began_ms;
    const char     *what;
} console = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- log lines ---- */

/* Lmmdd hh:mm:ss.uuuuuu tid file:line] */
static int prefix(char *out, size_t n, char letter, const char *file, int line)
{
    const char     *slash = strrchr(file, '/');
    struct timespec t;
    struct tm       tm;

    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &tm);
    return snprintf(out, n, "%c%02d%02d %02d:%02d:%02d.%06ld %5ld %s:%d] ", letter,
                    tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
                    t.tv_nsec / 1000, syscall(SYS_gettid),
                    slash != NULL ? slash + 1 : file, line);
}

static void erase_bar(void)
{
    if (console.drawn) fputs("\r\033[K", stderr);
    console.drawn = false;
}

/* Messages repeat names from files, which must not control the terminal. */
static void sink(void *arg, fire_log_level_t level, const char *file, int line,
                 const char *text)
{
    static const char        letters[] = "IIWE";
    static const char *const colours[] = {"\033[2m", "", "\033[33m", "\033[31m"};
    char                     head[256], message[4096];

    (void)arg;
    snprintf(message, sizeof(message), "%s", text);
    fire_text_make_plain(message);
    prefix(head, sizeof(head), letters[level], file, line);
    pthread_mutex_lock(&console.lock);
    erase_bar();
    if (console.colour && colours[level][0] != '\0')
        fprintf(stderr, "%s%s%s\033[0m\n", colours[level], head, message);
    else
        fprintf(stderr, "%s%s\n", head, message);
    if (console.file != NULL) {
        fprintf(console.file, "%s%s\n", head, message);
        fflush(console.file);
    }
    pthread_mutex_unlock(&console.lock);
}

/* ---- the log file ---- */

static const char *user_name(void)
{
    const char *user = getenv("USER");

    return user != NULL && user[0] != '\0' ? user : "unknown";
}

/* DIR/PROGRAM.INFO is a link to the newest file, as glog makes it. */
static void link_newest(const char *dir, const char *program, const char *path)
{
    char link[1024];

    snprintf(link, sizeof(link), "%s/%s.INFO", dir, program);
    unlink(link);
    if (symlink(strrchr(path, '/') + 1, link) != 0)
        FIRE_LOG(WARNING, "cannot link %s: %s", link, strerror(errno));
}

static fire_status_t open_file(const char *dir, const char *program)
{
    char      path[1024], host[128] = "", when[32];
    time_t    t = time(NULL);
    struct tm tm;

    localtime_r(&t, &tm);
    gethostname(host, sizeof(host) - 1);
    strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
    snprintf(path, sizeof(path), "%s/%s.%s.%s.log.INFO.%s.%d", dir, program, host,
             user_name(), when, (int)getpid());
    console.file = fopen(path, "w");
    if (console.file == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot write the log %s: %s", path,
                         strerror(errno));
    strftime(when, sizeof(when), "%Y/%m/%d %H:%M:%S", &tm);
    fprintf(console.file,
            "Log file created at: %s\nRunning on machine: %s\n"
            "Log line format: [IWE]mmdd hh:mm:ss.uuuuuu threadid file:line] msg\n",
            when, host);
    link_newest(dir, program, path);
    return FIRE_OK;
}

/* ---- start and end ---- */

static bool env_true(const char *name)
{
    const char *text = getenv(name);

    return text != NULL && strchr("1tTyY", text[0]) != NULL && text[0] != '\0';
}

static int64_t env_int(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

static fire_log_level_t least_level(const console_flags_t *f)
{
    if (f->minloglevel >= 2) return FIRE_ERROR;
    if (f->minloglevel == 1 || f->quiet) return FIRE_WARNING;
    return f->verbose ? FIRE_DEBUG : FIRE_INFO;
}

fire_status_t console_open(console_flags_t *f, const char *program)
{
    const char *no_colour = getenv("NO_COLOR");

    if (f->minloglevel == 0) f->minloglevel = env_int("GLOG_minloglevel", 0);
    if (f->log_dir == NULL) f->log_dir = getenv("GLOG_log_dir");
    f->verbose       = f->verbose || f->v > 0 || env_int("GLOG_v", 0) > 0;
    f->logtostderr   = f->logtostderr || env_true("GLOG_logtostderr");
    console.terminal = isatty(STDERR_FILENO);
    console.colour   = console.terminal && (no_colour == NULL || no_colour[0] == '\0');
    fire_log_set_sink(sink, NULL, least_level(f));
    if (f->log_dir != NULL && f->log_dir[0] != '\0' && !f->logtostderr)
        return open_file(f->log_dir, program);
    return FIRE_OK;
}

void console_close(void)
{
    console_progress_end();
    fire_log_set_sink(NULL, NULL, FIRE_INFO);
    if (console.file != NULL) fclose(console.file);
    console.file = NULL;
}

static bool error_is_told;

void console_mute_error(void)
{
    error_is_told = true;
}

void console_error(bool with_origin)
{
    char text[4096];

    if (error_is_told) return;
    snprintf(text, sizeof(text), "%s", fire_last_error());
    fprintf(stderr, "firecaffe: error: %s\n", fire_text_make_plain(text));
    if (with_origin) fprintf(stderr, "  at %s\n", fire_error_origin());
}

/* ---- progress ---- */

static int columns(void)
{
    struct winsize w;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static void print_time(char *out, size_t n, int64_t seconds)
{
    if (seconds >= 3600)
        snprintf(out, n, "%d:%02d:%02d", (int)(seconds / 3600),
                 (int)(seconds / 60 % 60), (int)(seconds % 60));
    else
        snprintf(out, n, "%d:%02d", (int)(seconds / 60), (int)(seconds % 60));
}

static void draw(int64_t done, int64_t total, int64_t ms, const char *detail)
{
    char    line[512], bar[BAR_WIDTH + 1], left[32] = "?";
    int     fill = (int)(done * BAR_WIDTH / total);
    int64_t gone = ms - console.began_ms;

    memset(bar, '.', BAR_WIDTH);
    memset(bar, '=', (size_t)fill);
    bar[BAR_WIDTH] = '\0';
    if (done > 0)
        print_time(
            left, sizeof(left),
            (int64_t)((double)gone / (double)done * (double)(total - done) / 1000));
    snprintf(line, sizeof(line), "%s [%s] %d%% %lld/%lld  ETA %s  %s", console.what,
             bar, (int)(done * 100 / total), (long long)done, (long long)total, left,
             detail);
    fprintf(stderr, "\r%.*s\033[K", columns() - 1, line);
    fflush(stderr);
}

void console_progress(const char *what, int64_t done, int64_t total, const char *detail)
{
    int64_t ms;

    if (!console.terminal || total <= 0) return;
    ms = now_ms();
    if (console.what == NULL || strcmp(console.what, what) != 0) {
        console.what     = what;
        console.began_ms = ms;
    } else if (ms - console.drawn_ms < REDRAW_MS && done < total) {
        return;
    }
    pthread_mutex_lock(&console.lock);
    draw(done < total ? done : total, total, ms, detail);
    console.drawn    = true;
    console.drawn_ms = ms;
    pthread_mutex_unlock(&console.lock);
}

void console_progress_end(void)
{
    pthread_mutex_lock(&console.lock);
    erase_bar();
    console.what = NULL;
    pthread_mutex_unlock(&console.lock);
}
