/* A launcher that is a script: it sees the command line and exits as the test wants. What
 * a launcher does to a training is tested by tests/mpi/test_kill.c. */
#include <sys/stat.h>
#include "base/alloc.h"
#include "base/file.h"
#include "launch/launch.h"
#include "test.h"

/* Each start adds its arguments as a line of "starts", then does what `script` says. */
static const char *launcher(const char *script)
{
    char text[2048];

    snprintf(text, sizeof(text), "#!/bin/sh\necho \"$*\" >>%s\n%s\n",
             test_path("starts"), script);
    CHECK_OK(fire_file_write(test_path("launcher"), text, strlen(text)));
    CHECK(chmod(test_path("launcher"), 0755) == 0);
    return test_path("launcher");
}

static fire_launch_t make_launch(const char *command)
{
    static const char *const argv[] = {"firecaffe", "train", "--solver", "s.prototxt"};
    static char              prefix[512];

    snprintf(prefix, sizeof(prefix), "%s", test_path("snap"));
    return (fire_launch_t){
        .launcher = command, .workers = 4, .prefix = prefix, .argc = 4, .argv = argv};
}

/* Starts so far, and the last one's arguments. */
static int count_starts(char last[2048])
{
    char  *text, *line, *rest;
    size_t n;
    int    starts = 0;

    CHECK_OK(fire_file_read(test_path("starts"), &text, &n));
    for (line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest), starts++)
        snprintf(last, 2048, "%s", line);
    fire_free(text);
    return starts;
}

TEST(the_launcher_gets_the_number_of_workers_and_the_command_line)
{
    fire_launch_t l = make_launch(launcher("exit 0"));
    char          last[2048];
    bool          reported;

    CHECK_OK(fire_launch_run(&l, &reported));
    CHECK(!reported);
    CHECK_EQ(count_starts(last), 1);
    CHECK(strncmp(last, "-n 4 /", 6) == 0);
    CHECK(strstr(last, " train --solver s.prototxt --launcher= --restarts=0 "
                       "--workers=1") != NULL);
}

TEST(a_run_that_breaks_off_is_restarted_as_often_as_wanted)
{
    fire_launch_t l = make_launch(launcher("exit 75"));
    char          last[2048];
    bool          reported;

    l.restarts = 2;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER,
                "exit status 75) once more than --restarts");
    CHECK_EQ(count_starts(last), 3);
}

TEST(a_mistake_of_the_user_is_not_repeated)
{
    fire_launch_t l = make_launch(launcher("exit 1"));
    char          last[2048];
    bool          reported;

    l.restarts = 5;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_INVALID, "exit status 1");
    CHECK(reported); /* the program that ended so has said why */
    CHECK_EQ(count_starts(last), 1);
}

TEST(workers_are_halved_after_two_failures_but_not_below_the_least)
{
    fire_launch_t l = make_launch(launcher("exit 75"));
    char          last[2048];
    bool          reported;

    l.restarts      = 6;
    l.least_workers = 2;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER, "exit status 75");
    CHECK_EQ(count_starts(last), 7);
    CHECK(strncmp(last, "-n 2 /", 6) == 0);
    CHECK(strstr(last, "--lanes=4") != NULL); /* so that the bits stay the same */
}

TEST(a_launcher_that_is_not_there_is_named)
{
    fire_launch_t l = make_launch("no-such-launcher --fast");
    bool          reported;

    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_INVALID,
                "cannot start no-such-launcher: No such file or directory");
    CHECK(!reported);
}

TEST(negative_numbers_are_refused)
{
    fire_launch_t l = make_launch("");
    bool          reported;

    l.restarts = -1;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_INVALID,
                "must not be negative");
}
