/* log.h - messages of the library: warnings, progress, debugging. The library never
 * prints; a message goes to the sink that the program has set, and is dropped if there
 * is none. Any thread may log.
 *
 * There is one sink per process, not one per object: set it once, when the program
 * starts. */
#ifndef FIRE_LOG_H
#define FIRE_LOG_H
#include <fire/api.h>

FIRE_BEGIN_C
typedef enum fire_log_level {
    FIRE_DEBUG,
    FIRE_INFO,
    FIRE_WARNING,
    FIRE_ERROR,
} fire_log_level_t;

/* Receives each message. Calls are serialised by a lock and come from the thread that
 * logs; it must not log itself or set a sink. `file` and `line` say where in the
 * library the message was written. The texts are valid until it returns. */
typedef void (*fire_log_sink_t)(void *arg, fire_log_level_t level, const char *file,
                                int line, const char *message);

/* Send messages of level `least` and above to `sink`, with `arg` as its first argument.
 * sink NULL: drop all messages. The caller keeps `arg` valid until it sets another
 * sink. Never fails. */
FIRE_API void fire_log_set_sink(fire_log_sink_t sink, void *arg,
                                fire_log_level_t least);
FIRE_END_C
#endif
