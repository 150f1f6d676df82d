/* log.c - one sink for the process, one context for each thread. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

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

bool fire_log_wants(fire_log_level_t level)
{
    return level >= thread_context.least &&
           (int)level >= atomic_load_explicit(&least_level, memory_order_relaxed);
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
    pthread_mutex_lock(&lock);
    if (sink_fn != NULL) sink_fn(sink_arg, level, file, line, text);
    pthread_mutex_unlock(&lock);
}
