/* Which messages reach the sink. */
#include "base/log.h"

#include <pthread.h>
#include "test.h"

/* The messages that came through, one behind another. */
static char heard[512];

static void listen(void *arg, fire_log_level_t level, const char *file, int line,
                   const char *message)
{
    size_t n = strlen(heard);

    (void)arg;
    CHECK(strstr(file, "test_log.c") != NULL);
    CHECK(line > 0);
    snprintf(heard + n, sizeof(heard) - n, "%d:%s;", level, message);
}

TEST(without_a_sink_nothing_is_wanted)
{
    CHECK(!fire_log_wants(FIRE_ERROR));
    FIRE_LOG(ERROR, "dropped");
}

TEST(messages_below_the_least_level_are_dropped)
{
    fire_log_set_sink(listen, NULL, FIRE_WARNING);
    FIRE_LOG(INFO, "no %d", 1);
    FIRE_LOG(WARNING, "yes %d", 2);
    FIRE_LOG(ERROR, "yes %d", 3);
    CHECK_STR(heard, "2:yes 2;3:yes 3;");
    fire_log_set_sink(NULL, NULL, FIRE_DEBUG);
    FIRE_LOG(ERROR, "dropped");
    CHECK_STR(heard, "2:yes 2;3:yes 3;");
}

static int evaluated(void)
{
    static int times;

    return ++times;
}

TEST(arguments_of_a_dropped_message_are_not_evaluated)
{
    fire_log_set_sink(listen, NULL, FIRE_INFO);
    FIRE_LOG(DEBUG, "%d", evaluated());
    FIRE_LOG(INFO, "%d", evaluated());
    CHECK_STR(heard, "1:1;");
}

TEST(a_thread_may_have_a_prefix_and_a_level_of_its_own)
{
    fire_log_set_sink(listen, NULL, FIRE_DEBUG);
    fire_log_set_context(&(fire_log_context_t){"rank 3", FIRE_WARNING});
    FIRE_LOG(INFO, "quiet");
    FIRE_LOG(WARNING, "loud");
    CHECK_STR(heard, "2:rank 3: loud;");
    CHECK_STR(fire_log_context().name, "rank 3");
}

static void *log_apart(void *arg)
{
    (void)arg;
    CHECK_STR(fire_log_context().name, "");
    FIRE_LOG(INFO, "from a new thread");
    return NULL;
}

TEST(a_new_thread_starts_without_a_prefix)
{
    pthread_t thread;

    fire_log_set_sink(listen, NULL, FIRE_DEBUG);
    fire_log_set_context(&(fire_log_context_t){"rank 3", FIRE_WARNING});
    CHECK(pthread_create(&thread, NULL, log_apart, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_STR(heard, "1:from a new thread;");
}

/* What one object's own sink has heard. */
static void listen_apart(void *arg, fire_log_level_t level, const char *file, int line,
                         const char *message)
{
    size_t n = strlen(arg);

    (void)level, (void)file, (void)line;
    snprintf((char *)arg + n, 256 - n, "%s;", message);
}

TEST(an_object_with_a_sink_of_its_own_hears_what_is_logged_between_enter_and_leave)
{
    char                    own[256] = "";
    const fire_log_target_t to       = {listen_apart, own, FIRE_WARNING};
    fire_log_route_t       *route, *before;

    fire_log_set_sink(listen, NULL, FIRE_DEBUG);
    CHECK_OK(fire_log_route_create(&to, &route));
    before = fire_log_enter(route);
    FIRE_LOG(INFO, "too quiet");
    FIRE_LOG(WARNING, "inside");
    fire_log_leave(fire_log_enter(NULL)); /* an object without a sink, called inside */
    FIRE_LOG(WARNING, "still");
    fire_log_leave(before);
    FIRE_LOG(WARNING, "outside");
    CHECK_STR(own, "inside;still;");
    CHECK_STR(heard, "2:outside;");
    fire_log_route_destroy(route);
}

TEST(a_target_without_a_sink_has_no_route)
{
    fire_log_route_t *route;

    CHECK_OK(fire_log_route_create(&(fire_log_target_t){0}, &route));
    CHECK(route == NULL);
    fire_log_route_destroy(route);
}
