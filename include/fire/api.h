/* api.h - how the library marks what it exports. */
#ifndef FIRE_API_H
#define FIRE_API_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#    define FIRE_API              __attribute__((visibility("default")))
#    define FIRE_NODISCARD        __attribute__((warn_unused_result))
#    define FIRE_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#else
#    define FIRE_API
#    define FIRE_NODISCARD
#    define FIRE_PRINTF(fmt, arg)
#endif

#ifdef __cplusplus
#    define FIRE_BEGIN_C extern "C" {
#    define FIRE_END_C   }
#else
#    define FIRE_BEGIN_C
#    define FIRE_END_C
#endif

/* An exported function whose status the caller must not ignore. */
#define FIRE_CALL FIRE_API FIRE_NODISCARD fire_status_t
#endif
