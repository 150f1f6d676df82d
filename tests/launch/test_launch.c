/* A launcher that is a script: it sees the command line and exits as the test wants. What
 * a launcher does to a training is tested by tests/mpi/test_kill.c. Tests src/launch/. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "script.h"
#include "test.h"

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
                       "--supervised --workers=1") != NULL);
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

TEST(after_two_failures_there_is_a_worker_less_but_never_fewer_than_the_least)
{
    fire_launch_t l = make_launch(launcher("exit 75"));
    char          last[2048];
    bool          reported;

    l.restarts      = 2;
    l.least_workers = 2;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER, "exit status 75");
    CHECK_EQ(count_starts(last), 3);
    CHECK(strncmp(last, "-n 3 /", 6) == 0);
    l.restarts = 8;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER, "exit status 75");
    CHECK(strncmp((count_starts(last), last), "-n 2 /", 6) == 0);
    CHECK(strstr(last, "--lanes=4") != NULL); /* so that the bits stay the same */
}

TEST(a_mistake_that_the_program_reports_is_not_repeated)
{
    fire_launch_t l = make_launch(launcher("exit 78"));
    char          last[2048];
    bool          reported;

    l.restarts = 5;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_INVALID, "exit status 78");
    CHECK(reported);
    CHECK_EQ(count_starts(last), 1);
}

/* mpirun that gets a SIGTERM itself ends with 1. */
static const char *begun(const char *before, const char *then)
{
    static char script[2048];

    snprintf(script, sizeof(script), "%s; echo process >%s.lock; sleep 0.1; %s", before,
             test_path("snap"), then);
    return launcher(script);
}

TEST(a_launcher_that_ends_with_1_after_training_began_is_started_again)
{
    fire_launch_t l = make_launch(begun(":", "exit 1"));
    char          last[2048];
    bool          reported;

    l.restarts = 2;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER,
                "exit status 1) once more than --restarts");
    CHECK_EQ(count_starts(last), 3);
}

TEST(failures_in_a_row_are_waited_after)
{
    fire_launch_t l     = make_launch(launcher("exit 75"));
    double        began = fire_clock_now(), took;
    bool          reported;

    l.restarts = 4;
    l.pause    = 0.2; /* 0, 0.2, 0.4, 0.8 */
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER, "exit status 75");
    took = fire_clock_now() - began;
    CHECK(took > 1.4 && took < 30);
}

/* Its processes ignore SIGTERM, and one of them is nobody's child any more. */
TEST(workers_that_do_not_begin_within_the_deadline_are_killed)
{
    fire_launch_t l = make_launch(launcher("trap '' TERM; (setsid sleep 1000 & echo $! "
                                           ">orphan); sleep 1000"));
    double        began = fire_clock_now();
    bool          reported;
    char         *pid, path[64];

    CHECK(chdir(test_tmpdir()) == 0);
    l.deadline = 1;
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER, "exit status 75");
    CHECK(fire_clock_now() - began < 20);
    CHECK_OK(fire_file_read_text(test_path("orphan"), &pid));
    snprintf(path, sizeof(path), "/proc/%d", atoi(pid));
    CHECK(access(path, F_OK) != 0);
    fire_free(pid);
}

TEST(a_launcher_that_is_stopped_or_does_not_end_is_killed)
{
    static const char *const ways[] = {"kill -STOP $$", "rm %s.lock; sleep 1000"};

    for (int i = 0; i < 2; i++) {
        char          script[1200];
        fire_launch_t l;
        double        began = fire_clock_now();
        bool          reported;

        snprintf(script, sizeof(script), ways[i], test_path("snap"));
        l          = make_launch(begun(":", script));
        l.deadline = 1;
        CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_PEER, "exit status 75");
        CHECK(fire_clock_now() - began < 20);
    }
}

static void *send_later(void *number)
{
    usleep(700000);
    fire_launch_signal(*(int *)number);
    return NULL;
}

static fire_status_t run_and_send(const fire_launch_t *l, int number)
{
    pthread_t     thread;
    fire_status_t st;
    bool          reported;

    CHECK_EQ(pthread_create(&thread, NULL, send_later, &number), 0);
    st = fire_launch_run(l, &reported);
    pthread_join(thread, NULL);
    return st;
}

TEST(a_stop_before_training_began_ends_the_launcher)
{
    fire_launch_t l = make_launch(launcher("exec sleep 1000"));

    l.restarts = 3;
    CHECK_FAILS(run_and_send(&l, SIGTERM), FIRE_ERR_PEER, "was stopped before its end");
}

TEST(a_stop_is_not_lost_between_two_attempts)
{
    fire_launch_t l = make_launch(launcher("exit 75"));
    char          last[2048];

    l.restarts = 10;
    l.pause    = 60;
    CHECK_FAILS(run_and_send(&l, SIGTERM), FIRE_ERR_PEER, "was stopped before its end");
    CHECK(count_starts(last) <= 2); /* the second one is waited before for a minute */
}

TEST(a_stop_reaches_a_training_that_has_begun_as_a_wish)
{
    fire_launch_t l = make_launch(
        begun("trap 'echo stop >wish; exit 0' USR2", "while :; do sleep 0.05; done"));

    CHECK(chdir(test_tmpdir()) == 0);
    CHECK_OK(run_and_send(&l, SIGTERM));
    CHECK(access(test_path("wish"), F_OK) == 0);
}

TEST(a_snapshot_that_ctrl_c_asks_for_does_not_end_restarts)
{
    fire_launch_t l = make_launch(begun("trap 'exit 75' USR1",
                                        "i=0; while [ $i -lt 30 ]; do sleep 0.05; "
                                        "i=$((i + 1)); done; exit 0"));
    char          last[2048];

    l.restarts     = 1;
    l.on_interrupt = FIRE_SNAPSHOT;
    CHECK_OK(run_and_send(&l, SIGINT));
    CHECK_EQ(count_starts(last), 2);
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
