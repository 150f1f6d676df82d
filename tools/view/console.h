/* console.h - what a user sees while a command runs: log lines in glog's format and, on
 * a terminal, a progress bar below them. Both go to stderr; stdout is for results. */
#ifndef FIRE_TOOLS_VIEW_CONSOLE_H
#define FIRE_TOOLS_VIEW_CONSOLE_H
#include "base/text/options.h"

/* Our flags and those of glog that have a meaning here. */
typedef struct console_flags {
    bool        logtostderr, alsologtostderr, verbose, quiet;
    int64_t     minloglevel, v;
    const char *log_dir;
} console_flags_t;

extern const fire_option_t console_options[];

/* Read GLOG_* of the environment for flags that were not given, then start the log. */
fire_status_t console_open(console_flags_t *flags, const char *program);
void          console_close(void);

/* Show progress, if stderr is a terminal. Cheap enough for every iteration. `detail`
 * follows the bar, as "loss 0.03  812 images/s". */
void console_progress(const char *what, int64_t done, int64_t total,
                      const char *detail);
void console_progress_end(void);

/* Print the error of a failed command, unless console_mute_error() was called: then
 * another process has printed it. */
void console_error(bool with_origin);
void console_mute_error(void);
#endif
