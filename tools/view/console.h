/* console.h - what a person sees: log lines as glog writes them, and on a terminal
 * a progress bar below them. All of it goes to stderr; stdout is for results. */
#ifndef FIRE_TOOLS_VIEW_CONSOLE_H
#define FIRE_TOOLS_VIEW_CONSOLE_H
#include "base/text/options.h"

/* glog's flags, as far as they make sense here. */
typedef struct console_flags {
    bool        logtostderr, alsologtostderr, verbose, quiet;
    int64_t     minloglevel, v;
    const char *log_dir;
} console_flags_t;

extern const fire_option_t console_options[];

/* Take GLOG_* from the environment where no flag was given, start the log. */
fire_status_t console_open(console_flags_t *flags, const char *program);
void          console_close(void);

/* Show how far the work is (on a terminal; else nothing). Cheap: call it often.
 * `detail` stands behind the bar, "loss 0.03  812 images/s". */
void console_progress(const char *what, int64_t done, int64_t total,
                      const char *detail);
void console_progress_end(void);

/* The message of a failed command; says nothing after console_mute_error(). */
void console_error(bool with_origin);
void console_mute_error(void);
#endif
