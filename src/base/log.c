/* log.c - a sink for the process, others for objects, and one context for each thread,
 * which says which of them its messages go to. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"

struct fire_log_route {
    fire_log_target_t to;
    pthread_mutex_t   lock; /* held during a call of the sink */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the sink */
static fire_log_sink_t sink_fn;
static void           *sink_arg;
static _Atomic int     least_level = FIRE_ERROR + 1; /* nothing until a sink is set */
static _Thread_local fire_log_context_t thread_context;

void fire_log_set_sink(fire_log_sink_t sink, void *arg, fire_log_level_t least)
{
    pthread_mutex_lock(&lock);
    sink_fn  = sink;
    sink_arg = arg;
    atomic_store(&least_level, sink != NULL ? (int)least : FIRE_ERROR + 1);
    pthread_mutex_unlock(&lock);
}

void fire_log_set_context(const fire_log_context_t *context)
{
    thread_context = *context;
}

fire_log_context_t fire_log_context(void)
{
    return thread_context;
}

fire_status_t fire_log_route_create(const fire_log_target_t *target,
                                    fire_log_route_t       **route_p)
{
    fire_log_route_t *r = NULL;

    if (target->sink != NULL) {
        FIRE_TRY(FIRE_NEW(&r, 1));
        r->to = *target;
        pthread_mutex_init(&r->lock, NULL);
    }
    *route_p = r;
    return FIRE_OK;
}

void fire_log_route_destroy(fire_log_route_t *r)
{
    if (r == NULL) return;
    pthread_mutex_destroy(&r->lock);
    fire_free(r);
}

fire_log_route_t *fire_log_enter(fire_log_route_t *route)
{
    fire_log_route_t *before = thread_context.route;

    if (route != NULL) thread_context.route = route;
    return before;
}

void fire_log_leave(fire_log_route_t *before)
{
    thread_context.route = before;
}

bool fire_log_wants(fire_log_level_t level)
{
    const fire_log_route_t *r = thread_context.route;

    if (level < thread_context.least) return false;
    if (r != NULL) return level >= r->to.least;
    return (int)level >= atomic_load_explicit(&least_level, memory_order_relaxed);
}

static void send(fire_log_level_t level, const char *file, int line, const char *text)
{
    fire_log_route_t *r = thread_context.route;

    pthread_mutex_lock(r != NULL ? &r->lock : &lock);
    if (r != NULL)
        r->to.sink(r->to.arg, level, file, line, text);
    else if (sink_fn != NULL)
        sink_fn(sink_arg, level, file, line, text);
    pthread_mutex_unlock(r != NULL ? &r->lock : &lock);
}

void fire_log_write(fire_log_level_t level, const char *file, int line,
                    const char *format, ...)
{
    char    text[4096];
    int     n = 0;
    va_list ap;

    if (thread_context.name[0] != '\0')
        n = snprintf(text, sizeof(text), "%s: ", thread_context.name);
    va_start(ap, format);
    vsnprintf(text + n, sizeof(text) - (size_t)n, format, ap);
    va_end(ap);
    send(level, file, line, text);
}
