/* log.h - messages of the library: warnings, progress, debugging. The library never
 * prints; a message goes to a sink that the program has set, and is dropped if there is
 * none.
 *
 * An object can have a sink of its own: the member `log` of its config. It gets the
 * messages of the functions called for that object and of the threads that the object
 * starts. All other messages go to the sink of the process. */
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

/* Receives each message. Calls for one sink are serialised by a lock and come from the
 * thread that logs, which may be one that the library has started; it must not call the
 * library. `file` and `line` say where in the library the message was written. The texts
 * are valid until it returns. */
typedef void (*fire_log_sink_t)(void *arg, fire_log_level_t level, const char *file,
                                int line, const char *message);

/* Send messages of level `least` and above to `sink`, with `arg` as its first argument.
 * sink NULL: drop all messages. The caller keeps `arg` valid until it sets another
 * sink. Never fails. */
FIRE_API void fire_log_set_sink(fire_log_sink_t sink, void *arg,
                                fire_log_level_t least);

/* The sink of one object: messages of level `least` and above go to `sink`, with `arg` as
 * its first argument, which the caller keeps valid until the object is destroyed. sink
 * NULL: the object has none of its own. */
typedef struct fire_log_target {
    fire_log_sink_t  sink;
    void            *arg;
    fire_log_level_t least;
} fire_log_target_t;
FIRE_END_C
#endif
