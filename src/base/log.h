/* log.h (internal) - how the library logs; the program receives messages by the sink of
 * <fire/log.h>. Any thread may log. */
#ifndef FIRE_BASE_LOG_H
#define FIRE_BASE_LOG_H
#include <fire/log.h>

FIRE_BEGIN_C
/* Settings of one thread's messages: a prefix, and the least level that is passed on.
 * In a job of many workers rank 0 logs everything; the others log only warnings and
 * errors, with their rank as prefix. A new thread starts with an empty context, so a
 * worker copies its own to the threads it starts. */
typedef struct fire_log_context {
    char             name[80]; /* prefix, printed as "name: "; "" for none */
    fire_log_level_t least;
} fire_log_context_t;

/* Of the calling thread. */
void               fire_log_set_context(const fire_log_context_t *context);
fire_log_context_t fire_log_context(void);

/* Would a message of this level be passed to the sink? */
bool fire_log_wants(fire_log_level_t level);
void fire_log_write(fire_log_level_t level, const char *file, int line,
                    const char *format, ...) FIRE_PRINTF(4, 5);

/* FIRE_LOG(INFO, "read %d records", n). The arguments are evaluated only if the message
 * is wanted. */
#define FIRE_LOG(level, ...)                                               \
    do {                                                                   \
        if (fire_log_wants(FIRE_##level))                                  \
            fire_log_write(FIRE_##level, __FILE__, __LINE__, __VA_ARGS__); \
    } while (0)
FIRE_END_C
#endif
