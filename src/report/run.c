/* run.c - reads a run log line by line, also while it is being written. */
#include "report/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/alloc.h"

/* CHUNK: bytes per read. FRESH_SECONDS: a file that grew within them belongs to a
 * running program, if it is on another machine. */
enum { CHUNK = 1 << 20, FRESH_SECONDS = 120 };

/* ---- lines ---- */

/* Count a line that cannot be used. */
static fire_status_t skip_line(fire_run_t *run)
{
    if (run->skipped++ == 0) run->first_skipped = run->line;
    return FIRE_OK;
}

/* Parse one line. Empty lines are written to end a line that was cut off before a
 * restart. */
static fire_status_t parse_line(fire_run_t *run, const char *text, size_t n)
{
    fire_json_t  *json = NULL;
    fire_status_t st;
    bool          kept = false;

    run->line++;
    if (n == 0) return FIRE_OK;
    st = fire_json_parse(text, n, run->path, &json);
    if (st == FIRE_ERR_NOMEM) return st;
    if (st < 0) return skip_line(run);
    st = fire_run_add_line(run, json, &kept);
    if (!kept) fire_json_free(json);
    return st == FIRE_ERR_PARSE ? skip_line(run) : st;
}

/* Parse all complete lines of n bytes; *used_p is their length. */
static fire_status_t parse_lines(fire_run_t *run, const char *text, size_t n,
                                 size_t *used_p)
{
    const char *at = text, *end = text + n, *newline;

    while (at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        FIRE_TRY(parse_line(run, at, (size_t)(newline - at)));
        at = newline + 1;
    }
    *used_p = (size_t)(at - text);
    return FIRE_OK;
}

/* ---- the file ---- */

/* Forget everything that was read. */
static void reset_run(fire_run_t *run)
{
    fire_run_t fresh = {.path = run->path, .name = run->name};

    fire_json_free(run->head);
    fire_json_free(run->net);
    fire_json_free(run->layers);
    fire_json_free(run->timeline);
    for (int64_t i = 0; i < run->nresult; i++)
        fire_json_free(run->result[i]);
    fire_free(run->result);
    fire_points_fini(&run->loss);
    fire_points_fini(&run->smoothed);
    fire_points_fini(&run->lr);
    fire_points_fini(&run->speed);
    for (int64_t i = 0; i < run->ncurve; i++) {
        fire_free(run->curve[i].name);
        fire_points_fini(&run->curve[i].points);
    }
    for (int64_t i = 0; i < run->nsnapshot; i++)
        fire_free(run->snapshot[i].file);
    fire_free(run->curve);
    fire_free(run->times);
    fire_free(run->worker);
    fire_free(run->snapshot);
    fire_free(run->restart);
    fire_free(run->message);
    *run = fresh;
}

static fire_status_t fail_io(const char *what, const char *path)
{
    int err = errno;

    return FIRE_FAIL(FIRE_ERR_IO, "cannot %s \"%s\": %s", what, path, strerror(err));
}

/* Read from run->offset to the end of the file. A line without newline is left for the
 * next poll. */
static fire_status_t read_new_bytes(fire_run_t *run, int fd)
{
    fire_str_t    text = {0};
    fire_status_t st   = FIRE_OK;
    size_t        used;

    for (;;) {
        ssize_t got;

        FIRE_TRY_GOTO(st, fire_grow(&text.text, &text.cap, text.n + CHUNK + 1, 1),
                      done);
        got = pread(fd, text.text + text.n, CHUNK, run->offset + text.n);
        if (got < 0) st = fail_io("read", run->path);
        if (got <= 0) break;
        text.n += got;
        if (memchr(text.text + text.n - got, '\n', (size_t)got) == NULL) continue;
        FIRE_TRY_GOTO(st, parse_lines(run, text.text, (size_t)text.n, &used), done);
        run->offset += (int64_t)used;
        text.n -= (int64_t)used;
        memmove(text.text, text.text + used, (size_t)text.n);
    }
    run->cut_off = text.n > 0;
done:
    fire_str_fini(&text);
    return st;
}

/* The inode tells whether the file was replaced, a smaller size that it was
 * truncated. */
fire_status_t fire_run_poll(fire_run_t *run, bool *news_p)
{
    struct stat   info;
    fire_status_t st;
    int           fd = open(run->path, O_RDONLY | O_CLOEXEC);

    *news_p = false;
    if (fd < 0) return fail_io("open", run->path);
    st = fstat(fd, &info) != 0 ? fail_io("look at", run->path) : FIRE_OK;
    if (st >= 0 && !S_ISREG(info.st_mode)) /* a device may have no end */
        st = FIRE_FAIL(FIRE_ERR_IO, "cannot read \"%s\": it is not a regular file",
                       run->path);
    if (st >= 0) {
        if (run->inode != info.st_ino || info.st_size < run->offset) reset_run(run);
        run->inode = info.st_ino;
        run->changed =
            (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
        *news_p = run->line == 0 || info.st_size > run->offset;
        st      = read_new_bytes(run, fd);
    }
    close(fd);
    return st;
}

/* The name of "runs/lenet-2/run.jsonl" is lenet-2. */
static fire_status_t name_run(fire_run_t *run)
{
    char        real[4096];
    const char *path = realpath(run->path, real) != NULL ? real : run->path;
    const char *end  = strrchr(path, '/'), *begin;

    if (end == NULL || strcmp(end, "/run.jsonl") != 0)
        return fire_strdup(end != NULL ? end + 1 : path, &run->name);
    for (begin = end; begin > path && begin[-1] != '/';)
        begin--;
    return fire_asprintf(&run->name, "%.*s", (int)(end - begin), begin);
}

fire_status_t fire_run_open(const char *path, fire_run_t **run_p)
{
    struct stat   info;
    fire_run_t   *run;
    fire_status_t st;
    bool          news;

    FIRE_TRY(FIRE_NEW(&run, 1));
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        st = fire_asprintf(&run->path, "%s/run.jsonl", path);
    else
        st = fire_strdup(path, &run->path);
    if (st < 0) goto err_run;
    FIRE_TRY_GOTO(st, name_run(run), err_run);
    FIRE_TRY_GOTO(st, fire_run_poll(run, &news), err_run);
    *run_p = run;
    return FIRE_OK;

err_run:
    fire_run_close(run);
    return st;
}

void fire_run_close(fire_run_t *run)
{
    if (run == NULL) return;
    reset_run(run);
    fire_free(run->path);
    fire_free(run->name);
    fire_free(run);
}

/* ---- its state ---- */

/* Is the program that writes the log still running? Its own machine can ask for the
 * process; on others the age of the file decides. */
static bool is_alive(const fire_run_t *run)
{
    char   host[256] = "";
    double pid       = fire_json_number_or(run->head, "pid", 0);

    gethostname(host, sizeof(host) - 1);
    if (strcmp(host, fire_json_string_or(run->head, "host", "")) != 0)
        return (double)time(NULL) - run->changed < FRESH_SECONDS;
    return pid >= 1 && pid <= INT_MAX && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

const char *fire_run_state_text(const fire_run_t *run)
{
    switch (run->state) {
    case FIRE_RUN_DONE:
        return "done";
    case FIRE_RUN_STOPPED:
        return "stopped";
    case FIRE_RUN_FAILED:
        return "failed";
    case FIRE_RUN_SILENT:
        break;
    }
    return run->head == NULL ? "unknown" : is_alive(run) ? "running" : "killed";
}

/* ---- notes ---- */

static void add_note(fire_json_writer_t *w, const fire_run_t *run, const char *format,
                     ...) FIRE_PRINTF(3, 4);

static void add_note(fire_json_writer_t *w, const fire_run_t *run, const char *format,
                     ...)
{
    char    text[512];
    int     n = snprintf(text, sizeof(text), "%s: ", run->path);
    va_list ap;

    if (n < 0 || n >= (int)sizeof(text)) return;
    va_start(ap, format);
    vsnprintf(text + n, sizeof(text) - (size_t)n, format, ap);
    va_end(ap);
    fire_json_add_string(w, NULL, text);
}

void fire_run_write_notes(fire_json_writer_t *w, const fire_run_t *run)
{
    double version = fire_json_number_or(run->head, "version", 1);

    if (run->line == 0)
        add_note(w, run, "the file is empty");
    else if (run->head == NULL)
        add_note(w, run, "this is no run log: no line describes a run");
    if (version > 1)
        add_note(w, run,
                 "written by a newer program (version %g of the format): parts may be "
                 "missing here",
                 version);
    if (run->skipped > 0)
        add_note(w, run, "%lld line%s could not be read, the first is line %lld",
                 (long long)run->skipped, run->skipped > 1 ? "s" : "",
                 (long long)run->first_skipped);
    if (run->cut_off) add_note(w, run, "the last line breaks off in the middle");
}
