/* status.h - what every fire_* call returns. */
#ifndef FIRE_STATUS_H
#define FIRE_STATUS_H
#include <fire/api.h>

FIRE_BEGIN_C
/* Zero: done. Positive: not finished, no error. Negative: failed. */
/* clang-format off */
#define FIRE_STATUS_MAP(X)                                        \
    X(IN_PROGRESS,      1, "in progress")                         \
    X(OK,               0, "success")                             \
    X(ERR_INVALID,     -1, "invalid argument")                    \
    X(ERR_NOMEM,       -2, "out of memory")                       \
    X(ERR_PARSE,       -3, "malformed file")                      \
    X(ERR_IO,          -4, "input/output error")                  \
    X(ERR_UNSUPPORTED, -5, "not supported")                       \
    X(ERR_DEVICE,      -6, "device error")                        \
    X(ERR_COMM,        -7, "communication error")                 \
    X(ERR_PEER,        -8, "another worker failed")               \
    X(ERR_TIMEOUT,     -9, "deadline passed")                     \
    X(ERR_STOPPED,    -10, "stopped on request")
/* clang-format on */

#define X(name, number, text) FIRE_##name = (number),
typedef enum fire_status { FIRE_STATUS_MAP(X) } fire_status_t;
#undef X

FIRE_API const char *fire_status_string(fire_status_t status); /* static text */

/* The message of this thread's last failure: one line, for a person. Valid until its
 * next failure. */
FIRE_API const char *fire_last_error(void);

/* For functions that the library calls (hooks, layers): record why one failed, as printf
 * does, and return `status`: lower case, cause, values, what to do. */
FIRE_API fire_status_t fire_fail(fire_status_t status, const char *format, ...)
    FIRE_PRINTF(2, 3);
FIRE_END_C
#endif
