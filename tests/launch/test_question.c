/* test_question.c - commands whose output is awaited. */
#include "launch/question.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "test.h"

static void ask(fire_question_t *q, const char *script, double seconds)
{
    char *const argv[] = {"/bin/sh", "-c", (char *)script, NULL};

    CHECK_OK(fire_question_ask(q, argv, seconds));
    while (!fire_question_is_answered(q))
        usleep(2000);
}

TEST(an_answer_is_all_that_the_command_writes)
{
    fire_question_t q = {0};

    ask(&q, "echo a; sleep 0.1; echo b; exit 3", 20);
    CHECK_STR(q.text.text, "a\nb\n");
    CHECK_EQ(q.code, 3);
    ask(&q, "true", 20);
    CHECK(q.text.text == NULL);
    CHECK_EQ(q.code, 0);
    fire_question_fini(&q);
}

TEST(a_command_that_takes_too_long_is_ended_with_all_that_it_started)
{
    fire_question_t q     = {0};
    double          began = fire_clock_now();
    char            script[600], path[64], *pid;

    snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s; sleep 1000",
             test_path("pid"));
    ask(&q, script, 0.5);
    CHECK_EQ(q.code, 124);
    CHECK(fire_clock_now() - began < 20);
    CHECK_OK(fire_file_read_text(test_path("pid"), &pid));
    snprintf(path, sizeof(path), "/proc/%d/stat", atoi(pid));
    for (int i = 0; i < 1000 && access(path, F_OK) == 0; i++)
        usleep(10000); /* until its new parent has taken note */
    CHECK(access(path, F_OK) != 0);
    fire_free(pid);
    fire_question_fini(&q);
}
