/* error.h - how a failure is recorded and passed on. */
#ifndef FIRE_BASE_ERROR_H
#define FIRE_BASE_ERROR_H
#include <fire/status.h>

FIRE_BEGIN_C
/* The first function that knows the cause says it, once, in words for the user:
 * which file, line, layer or rank, and what to do. Those above only pass the
 * status on. The status itself is the value, so that the compiler sees a failure. */
#define FIRE_FAIL(status, ...) \
    (fire_error_set((status), __FILE__, __LINE__, __VA_ARGS__), (status))

#define FIRE_TRY(expr)                   \
    do {                                 \
        fire_status_t try_st_ = (expr);  \
        if (try_st_ < 0) return try_st_; \
    } while (0)

/* For functions that must undo work: sets st and jumps to the label. */
#define FIRE_TRY_GOTO(st, expr, label) \
    do {                               \
        (st) = (expr);                 \
        if ((st) < 0) goto label;      \
    } while (0)

fire_status_t fire_error_set(fire_status_t status, const char *file, int line,
                             const char *format, ...) FIRE_PRINTF(4, 5);

/* Put "prefix: " before the recorded cause: a caller that knows where the
 * failing thing came from (a layer's name, a file) adds that, nothing more. */
fire_status_t fire_error_prefix(fire_status_t status, const char *format, ...)
    FIRE_PRINTF(2, 3);

/* Where the recorded cause was detected, for --verbose and bug reports. */
const char *fire_error_origin(void);
FIRE_END_C
#endif
