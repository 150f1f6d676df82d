/* log.h (internal) - how the library logs; the program receives messages by the sink of
 * <fire/log.h>. Any thread may log. */
#ifndef FIRE_BASE_LOG_H
#define FIRE_BASE_LOG_H
#include <fire/log.h>
#include <fire/status.h>

FIRE_BEGIN_C
typedef struct fire_log_route fire_log_route_t; /* an object's own sink, and its lock */

/* Settings of one thread's messages: a prefix, the least level that is passed on, and
 * the sink. In a job of many workers rank 0 logs everything; the others log only
 * warnings and errors, with their rank as prefix. A new thread starts with an empty
 * context, so whoever starts one copies its own to it. */
typedef struct fire_log_context {
    char              name[80]; /* prefix, printed as "name: "; "" for none */
    fire_log_level_t  least;
    fire_log_route_t *route; /* of the object that the thread works for; NULL: the
                                sink of the process */
} fire_log_context_t;

/* Of the calling thread. */
void               fire_log_set_context(const fire_log_context_t *context);
fire_log_context_t fire_log_context(void);

/* An object's own sink; *route_p is NULL if the target has none. It must outlive the
 * threads that the object starts. */
fire_status_t fire_log_route_create(const fire_log_target_t *target,
                                    fire_log_route_t       **route_p);
void          fire_log_route_destroy(fire_log_route_t *route); /* NULL is allowed */

/* A public function of an object begins with enter() and ends with leave(), which takes
 * what enter() has returned. Objects without a route change nothing. */
fire_log_route_t *fire_log_enter(fire_log_route_t *route);
void              fire_log_leave(fire_log_route_t *before);

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
