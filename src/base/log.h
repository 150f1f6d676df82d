/* log.h - what the library has to say while it works. It never prints: a
 * message goes to the sink that the program set; without one it is dropped. */
#ifndef FIRE_BASE_LOG_H
#define FIRE_BASE_LOG_H
#include <fire/api.h>

FIRE_BEGIN_C
typedef enum fire_log_level {
    FIRE_DEBUG,
    FIRE_INFO,
    FIRE_WARNING,
    FIRE_ERROR,
} fire_log_level_t;

/* Called by one thread at a time. */
typedef void (*fire_log_sink_t)(void *arg, fire_log_level_t level, const char *file,
                                int line, const char *message);

void fire_log_set_sink(fire_log_sink_t sink, void *arg, fire_log_level_t least);

/* Whose words this thread's messages are. Of many workers one tells what happens; the
 * others say only what is wrong, with their name before it. A worker hands its voice on
 * to the threads it starts. */
typedef struct fire_log_voice {
    char             name[80]; /* "" for none */
    fire_log_level_t least;
} fire_log_voice_t;

void             fire_log_set_voice(const fire_log_voice_t *voice);
fire_log_voice_t fire_log_voice(void);

bool fire_log_wants(fire_log_level_t level);
void fire_log_write(fire_log_level_t level, const char *file, int line,
                    const char *format, ...) FIRE_PRINTF(4, 5);

/* FIRE_LOG(INFO, "read %d records", n); arguments are evaluated only if wanted. */
#define FIRE_LOG(level, ...)                                               \
    do {                                                                   \
        if (fire_log_wants(FIRE_##level))                                  \
            fire_log_write(FIRE_##level, __FILE__, __LINE__, __VA_ARGS__); \
    } while (0)
FIRE_END_C
#endif
