/* launch.c - flags of src/launch/launch.h, and the signals that are passed on. */
#include "flags/launch.h"

#include <signal.h>
#include <stdio.h>
#include "command.h"
#include "comm/comm.h"
#include "flags/workers.h"
#include "launch/launch.h"
#include "view/console.h"

launch_flags_t launch_flags;

const fire_option_t launch_options[] = {
    FIRE_OPTION(launch_flags_t, launcher, STRING, "", "COMMAND",
                "start --workers processes by this command, as \"mpirun --host a,b\" "
                "or \"srun\""),
    FIRE_OPTION(launch_flags_t, restarts, INT, "0", "N",
                "resume from the newest snapshot if training breaks off, up to N times "
                "without a new one"),
    FIRE_OPTION(
        launch_flags_t, least_workers, INT, "0", "N",
        "go on with fewer workers, down to N: without hosts that do not answer, "
        "or if training breaks off twice at the same place; 0: never"),
    FIRE_OPTION(launch_flags_t, elastic, STRING, NULL, "MIN:MAX",
                "train with as many workers as there are hosts for, and change over "
                "when hosts come and go; restarts as with --restarts 10"),
    FIRE_OPTION(launch_flags_t, hosts_from, STRING, NULL, "COMMAND",
                "shell command that lists the hosts, as a hostfile does; it is asked "
                "again (default: those that --launcher names)"),
    FIRE_OPTION(launch_flags_t, attempt, INT, "-1", "N",
                "for processes that --restarts started: how often it did before"),
    FIRE_OPTION(launch_flags_t, supervised, BOOL, "false", NULL,
                "for processes that --launcher or --restarts started: given by them"),
    {0},
};

bool launch_is_wanted(void)
{
    return (launch_flags.launcher[0] != '\0' || launch_flags.restarts > 0 ||
            launch_flags.elastic != NULL) &&
           !launch_flags.supervised && !fire_cluster_launched();
}

/* --elastic MIN:MAX */
static fire_status_t read_elastic(fire_launch_t *l)
{
    const int64_t restarts = 10;
    long long     least, most;
    char          after;

    if (launch_flags.hosts_from != NULL && launch_flags.launcher[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--hosts_from needs a --launcher that starts "
                         "workers on the hosts");
    if (launch_flags.hosts_from != NULL && launch_flags.elastic == NULL &&
        launch_flags.least_workers == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--hosts_from needs --elastic MIN:MAX or --least_workers");
    if (launch_flags.elastic == NULL) return FIRE_OK;
    if (sscanf(launch_flags.elastic, "%lld:%lld%c", &least, &most, &after) != 2 ||
        least < 1 || most < least || most > 1 << 20)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--elastic \"%s\": the least and the most workers are "
                         "expected, as 2:8",
                         launch_flags.elastic);
    if (l->lanes > 0 && most > l->lanes) most = l->lanes;
    if (least > most)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--elastic \"%s\": %d lanes are for %d workers at most",
                         launch_flags.elastic, l->lanes, l->lanes);
    l->elastic       = true;
    l->least_workers = least;
    l->workers       = (int)most;
    if (l->restarts == 0) l->restarts = restarts;
    return FIRE_OK;
}

/* The processes are in a group of their own: the terminal's signals reach this process
 * only, which passes them on. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2};
    struct sigaction act = {.sa_handler = fire_launch_signal, .sa_flags = SA_RESTART};

    sigfillset(&act.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &act, NULL);
}

fire_status_t launch_run(fire_launch_t l)
{
    fire_status_t st;
    bool          reported;

    l.launcher      = launch_flags.launcher;
    l.workers       = (int)workers_flags.workers;
    l.restarts      = launch_flags.restarts;
    l.pause         = 1;
    l.least_workers = launch_flags.least_workers;
    l.hosts_from    = launch_flags.hosts_from;
    FIRE_TRY(read_elastic(&l));
    program_arguments(&l.argc, &l.argv);
    catch_signals();
    st = fire_launch_run(&l, &reported);
    if (reported) console_mute_error();
    return st;
}
