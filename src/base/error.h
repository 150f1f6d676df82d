/* error.h - how a failure is recorded and passed on. A function that can fail returns a
 * fire_status_t; its result is the last argument (x_p). The message is kept per thread:
 * fire_last_error(). */
#ifndef FIRE_BASE_ERROR_H
#define FIRE_BASE_ERROR_H
#include <fire/status.h>

FIRE_BEGIN_C
/* Record a failure: return FIRE_FAIL(FIRE_ERR_IO, "cannot open \"%s\"", path). The
 * first function that knows the cause calls it, with words for the user: which file,
 * line, layer or rank, and what to do. Callers only pass the status on (FIRE_TRY). The
 * value is the status itself, so that the compiler knows that it is a failure. */
#define FIRE_FAIL(status, ...) \
    (fire_error_set((status), __FILE__, __LINE__, __VA_ARGS__), (status))

/* Return from the calling function if expr fails. */
#define FIRE_TRY(expr)                   \
    do {                                 \
        fire_status_t try_st_ = (expr);  \
        if (try_st_ < 0) return try_st_; \
    } while (0)

/* For functions that must undo work: set st and jump to the label if expr fails. */
#define FIRE_TRY_GOTO(st, expr, label) \
    do {                               \
        (st) = (expr);                 \
        if ((st) < 0) goto label;      \
    } while (0)

fire_status_t fire_error_set(fire_status_t status, const char *file, int line,
                             const char *format, ...) FIRE_PRINTF(4, 5);

/* Put "prefix: " before the recorded message: a caller that knows more about the place
 * (a layer's name, a file) adds that and nothing else. Returns status. */
fire_status_t fire_error_prefix(fire_status_t status, const char *format, ...)
    FIRE_PRINTF(2, 3);

/* How many failures this thread has recorded: tells whether foreign code said why it
 * failed. */
uint64_t fire_error_count(void);

/* "src/file.c:123" where the last failure was recorded, for --verbose and bug
 * reports. */
const char *fire_error_origin(void);
FIRE_END_C
#endif
