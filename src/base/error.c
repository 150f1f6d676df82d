/* error.c - the last failure of each thread. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char     last_error[2048];
static _Thread_local char     last_origin[128];
static _Thread_local uint64_t failures;

const char *fire_last_error(void)
{
    return last_error;
}

const char *fire_error_origin(void)
{
    return last_origin;
}

uint64_t fire_error_count(void)
{
    return failures;
}

const char *fire_status_string(fire_status_t status)
{
#define X(name, number, text) \
    case FIRE_##name:         \
        return text;
    switch (status) {
        FIRE_STATUS_MAP(X)
    }
#undef X
    return "unknown status";
}

/* __FILE__ without what precedes src/. */
static const char *from_src(const char *file)
{
    const char *at = strstr(file, "src/");

    return at != NULL ? at : file;
}

fire_status_t fire_error_set(fire_status_t status, const char *file, int line,
                             const char *format, ...)
{
    va_list ap;

    failures++;
    va_start(ap, format);
    vsnprintf(last_error, sizeof(last_error), format, ap);
    va_end(ap);
    snprintf(last_origin, sizeof(last_origin), "%s:%d", from_src(file), line);
    return status;
}

fire_status_t fire_fail(fire_status_t status, const char *format, ...)
{
    va_list ap;

    failures++;
    va_start(ap, format);
    vsnprintf(last_error, sizeof(last_error), format, ap);
    va_end(ap);
    snprintf(last_origin, sizeof(last_origin), "a function of the caller's");
    return status;
}

fire_status_t fire_error_prefix(fire_status_t status, const char *format, ...)
{
    char    whole[sizeof(last_error)];
    va_list ap;
    int     n;

    va_start(ap, format);
    n = vsnprintf(whole, sizeof(whole), format, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof(whole)) return status;
    snprintf(whole + n, sizeof(whole) - (size_t)n, ": %s", last_error);
    memcpy(last_error, whole, sizeof(whole));
    return status;
}
