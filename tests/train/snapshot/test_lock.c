/* test_lock.c - two trainings cannot write to one place. */
#include "train/snapshot/lock.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

TEST(a_place_is_held_once_and_can_be_held_again_after_that)
{
    fire_job_lock_t a = {0}, b = {0};

    CHECK_OK(fire_job_lock(test_path("x"), &a));
    CHECK_FAILS(fire_job_lock(test_path("x"), &b), FIRE_ERR_INVALID,
                "another training (process ");
    CHECK_OK(fire_job_lock(test_path("y"), &b));
    fire_job_unlock(&b);
    fire_job_unlock(&a);
    CHECK(access(test_path("x.lock"), F_OK) != 0);
    CHECK_OK(fire_job_lock(test_path("x"), &a));
    fire_job_unlock(&a);
    fire_job_unlock(&a);
}

/* The child says that it holds the lock by ending its half of a pipe. */
static pid_t hold_in_child(const char *path)
{
    int             ready[2];
    char            byte;
    pid_t           pid;
    fire_job_lock_t lock = {0};

    CHECK(pipe(ready) == 0);
    pid = fork();
    if (pid == 0) {
        close(ready[0]);
        if (fire_job_lock(path, &lock) < 0) _exit(1);
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 0);
    close(ready[0]);
    return pid;
}

TEST(the_lock_of_a_killed_process_is_free)
{
    fire_job_lock_t lock  = {0};
    pid_t           pid   = hold_in_child(test_path("x"));
    double          began = fire_clock_now();

    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_OK(fire_job_lock(test_path("x"), &lock)); /* it may still be ending */
    CHECK(fire_clock_now() - began < 4);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
    fire_job_unlock(&lock);
}

TEST(a_link_in_the_place_of_the_lock_is_not_followed)
{
    fire_job_lock_t lock = {0};

    CHECK(symlink(test_path("victim"), test_path("x.lock")) == 0);
    CHECK_OK(fire_job_lock(test_path("x"), &lock));
    CHECK(lock.path == NULL && access(test_path("victim"), F_OK) != 0);
    CHECK_OK(fire_job_lock(test_path("no/such/folder/x"), &lock));
    CHECK(lock.path == NULL);
}
