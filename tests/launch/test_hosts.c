/* test_hosts.c - a job that goes on with the hosts that are there. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "script.h"
#include "test.h"

static void write_text(const char *name, const char *text)
{
    CHECK_OK(fire_file_write(test_path(name), text, strlen(text)));
}

/* The hosts of start i. */
static bool start_has(int i, const char *words)
{
    char *text, *line, *rest;
    bool  has = false;

    CHECK_OK(fire_file_read_text(test_path("starts"), &text));
    line = strtok_r(text, "\n", &rest);
    for (int k = 0; k < i && line != NULL; k++)
        line = strtok_r(NULL, "\n", &rest);
    if (line != NULL) has = strstr(line, words) != NULL;
    if (!has) fprintf(stderr, "start %d: %s\n", i, line != NULL ? line : "none");
    fire_free(text);
    return has;
}

static fire_launch_t elastic(const char *command, int64_t least)
{
    fire_launch_t l = make_launch(command);

    l.restarts      = 2;
    l.least_workers = least;
    l.elastic       = true;
    return l;
}

/* Host b does not even run `true`. */
#define B_IS_DOWN "case \"$*\" in *b:*) exit 75;; *' true') exit 0;; esac; "

TEST(a_host_that_does_not_answer_is_left_out)
{
    fire_launch_t l = elastic(launcher(B_IS_DOWN "exit 0"), 2);
    char          command[1200];
    bool          reported;

    snprintf(command, sizeof(command), "%s --host a:2,b:2 -x", l.launcher);
    l.launcher = command;
    CHECK_OK(fire_launch_run(&l, &reported));
    CHECK(start_has(0, "-x --host a:2,b:2 -n 4 /"));
    CHECK(start_has(3, "-x --host a:2 -n 2 /")); /* after one trial of each host */
    CHECK(start_has(3, "--lanes=4"));
}

TEST(hosts_that_are_named_once_share_the_workers)
{
    fire_launch_t l = elastic(launcher(B_IS_DOWN "exit 0"), 2);
    char          command[1200];
    bool          reported;

    write_text("hosts", "a\nb\n");
    snprintf(command, sizeof(command), "%s --hostfile %s", l.launcher,
             test_path("hosts"));
    l.launcher = command;
    CHECK_OK(fire_launch_run(&l, &reported));
    CHECK(start_has(0, "--host a:2,b:2 -n 4 /"));
    CHECK(start_has(3, "--host a:2 -n 2 /"));
}

/* It has a host the second time that it is asked. */
TEST(hosts_come_from_a_command_and_are_waited_for)
{
    fire_launch_t l = elastic(launcher("exit 0"), 2);
    char          command[1200];
    bool          reported;

    snprintf(command, sizeof(command),
             "cd %s; if test -e asked; then echo a slots=3; fi; touch asked",
             test_tmpdir());
    l.hosts_from = command;
    CHECK_OK(fire_launch_run(&l, &reported));
    CHECK(start_has(0, "--host a:3 -n 3 /"));
}

/* The launcher trains until it is asked to stop; the list grows, then loses a host. */
#define TRAIN_UNTIL_STOPPED                                                          \
    "trap 'exit 0' USR2; test $(wc -l <%s) -lt 3 || exit 0; echo process >%s.lock; " \
    "sleep 0.3; echo \"$NEXT\" | cut -d/ -f $(wc -l <%s) >%s; "                      \
    "while :; do sleep 0.02; done"

TEST(training_changes_over_when_hosts_come_and_go)
{
    char          script[1600], hosts[512], starts[512], command[1200];
    fire_launch_t l;
    bool          reported;

    snprintf(hosts, sizeof(hosts), "%s", test_path("hosts"));
    snprintf(starts, sizeof(starts), "%s", test_path("starts"));
    setenv("NEXT", "a:2,b:2/b:2,c:1", 1);
    snprintf(script, sizeof(script), TRAIN_UNTIL_STOPPED, starts, test_path("snap"),
             starts, hosts);
    l = elastic(launcher(script), 1);
    write_text("hosts", "a:2\n");
    snprintf(command, sizeof(command), "cat %s", hosts);
    l.hosts_from = command;
    CHECK_OK(fire_launch_run(&l, &reported));
    CHECK(start_has(0, "--host a:2 -n 2 /"));
    CHECK(start_has(1, "--host a:2,b:2 -n 4 /"));
    CHECK(start_has(2, "--host b:2,c:1 -n 3 /"));
}

TEST(a_command_that_fails_ends_the_job_only_at_its_start)
{
    fire_launch_t l = elastic(launcher("exit 0"), 1);
    bool          reported;

    l.hosts_from = "exit 3";
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_IO,
                "--hosts_from: the command ended with status 3");
    l.hosts_from = "echo 'a;b'";
    CHECK_FAILS(fire_launch_run(&l, &reported), FIRE_ERR_INVALID,
                "--hosts_from: \"a;b\" is no host");
}

TEST(other_launchers_get_hosts_in_their_own_words)
{
    static const char *const names[] = {"srun", "mpiexec.hydra"};
    static const char *const want[]  = {"--nodelist a,b --nodes=2 -n 4 /",
                                        "-hosts a:2,b:2 -n 4 /"};

    for (int i = 0; i < 2; i++) {
        char          path[512], command[1200];
        fire_launch_t l = elastic(launcher("exit 0"), 1);
        bool          reported;

        snprintf(path, sizeof(path), "%s", test_path(names[i]));
        CHECK(rename(test_path("launcher"), path) == 0);
        unlink(test_path("starts"));
        snprintf(command, sizeof(command), "%s %s=a:2,b:2", path,
                 i == 0 ? "--nodelist" : "-hosts");
        l.launcher = command;
        CHECK_OK(fire_launch_run(&l, &reported));
        CHECK(start_has(0, want[i]));
    }
}
