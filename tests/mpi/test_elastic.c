/* test_elastic.c - a job under Open MPI on hosts that come and go ends with the bits of an
 * undisturbed one. Hosts are names that an agent in place of ssh starts on this machine,
 * unless a file says that they are down. Tests src/launch/hosts.c. */
#include "training.h"

#include <stdlib.h>

#include "base/alloc.h"

/* In place of ssh: agent HOST COMMAND. A host that goes down takes its processes along:
 * those of its Open MPI daemon, and that daemon. */
static const char agent[] = "#!/bin/sh\n"
                            "host=$1; shift\n"
                            "test -e down.$host && exit 255\n"
                            "sh -c \"$*\" & echo $! >daemon.$host\n"
                            "wait $!\n";

static const char go_down[] = "#!/bin/sh\n"
                              "touch down.$1; d=$(cat daemon.$1)\n"
                              "for k in 1 2 3; do for p in $d; do "
                              "d=\"$d $(ps -o pid= --ppid $p)\"; done; done\n"
                              "kill -9 $d 2>/dev/null; true\n";

/* These hosts have one /dev/shm, in which Open MPI's files would have the same names. */
#define ELASTIC                                                                   \
    "export OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_plm_rsh_no_tree_spawn=1; " \
    "export OMPI_MCA_plm_rsh_pass_environ_mca_params=0 OMPI_MCA_btl=self,tcp; "   \
    "export OMPI_MCA_orte_leave_session_attached=1; " /* or daemons leave the agent */
#define WAIT_FOR(n, text)                          \
    "while test $(grep -c '" text "' log) -lt " #n \
    " && kill -0 $sup; do sleep 0.02; done; "

/* Five workers on few cores take long, the longer the busier the machine is. */
static void needs_minutes(void)
{
    if (open_mpi_launcher() == NULL) test_skip("no Open MPI");
    if (getenv("FIRE_TEST_ALL") == NULL) test_skip("takes minutes: FIRE_TEST_ALL=1");
}

static void prepare(char *want)
{
    make_net(TEMPTING, "");
    SH_OK("sed -i 's/max_iter: 60/max_iter: 50000/; s/snapshot: 31/snapshot: 500/' "
          "solver.prototxt");
    SH_OK(ENVIRONMENT TRAIN);
    snprintf(want, 65, "%s", sha256_of("snap_iter_50000.caffemodel"));
    write_file("agent", agent);
    write_file("go_down", go_down);
    write_file("hosts", "nodea:1\nnodeb:2\n");
    SH_OK("rm snap_*; chmod +x agent go_down");
}

/* Three workers on two hosts; one host is lost; it comes back, and a third one with
 * it. */
TEST(a_job_whose_hosts_come_and_go_ends_with_the_same_bits)
{
    char want[65];

    needs_minutes();
    prepare(want);
    SH_OK(ENVIRONMENT ELASTIC
          ": >log; " TRAIN "--elastic=1:5 --launcher=mpirun --hosts_from='cat hosts' "
          "--deadline=20 2>log & sup=$!; " WAIT_FOR(
              4, "Snapshotting") "echo nodea:1 >hosts; ./go_down "
                                 "nodeb; " WAIT_FOR(7, "Snapshotting") "rm "
                                                                       "down.nodeb;"
                                                                       " printf "
                                                                       "'nodea:"
                                                                       "1\nnodeb:"
                                                                       "2\nnodec:"
                                                                       "2\n' "
                                                                       ">hosts; "
                                                                       "wait $sup");
    CHECK_STR(sha256_of("snap_iter_50000.caffemodel"), want);
    /* On a fast machine the lost host is still left out when the new one comes. */
    SH_OK("grep 'Training broke off' log; grep 'Going on with 1 workers' log; "
          "grep 'Other hosts are there' log; "
          "sed '1,/Other hosts/d' log | grep 'Going on with [35] workers'");
}

/* What the MPI operator keeps up to date in the launcher's pod. */
#define DISCOVER(pods) "for p in " pods "; do echo \"echo $p\"; done >discover; "

/* The entry script of the launcher's pod, with names as pods. */
TEST(the_entry_script_for_kubernetes_lives_on_the_pods_that_run)
{
    char want[65];

    needs_minutes();
    prepare(want);
    write_file("job",
               "export MIN_WORKERS=2 MAX_WORKERS=5 DISCOVER_HOSTS=$PWD/discover\n"
               "export OMPI_MCA_orte_set_default_slots=2\n"
               "export OMPI_MCA_orte_default_hostfile=/none\n"
               "exec $SRC/examples/kubernetes/train --solver solver.prototxt --lanes=8 "
               "--bucket_mb=0.02 --deadline=20\n");
    SH_OK(
        ENVIRONMENT ELASTIC DISCOVER(
            "pod-0 pod-1") ": >log; sh job 2>log & sup=$!; " WAIT_FOR(4, "Snapshotting")
            DISCOVER("pod-0") "./go_down pod-1; " WAIT_FOR(
                7,
                "Snapshotting") "rm down.pod-1; " DISCOVER("pod-0 pod-1 pod-2") "wait "
                                                                                "$sup");
    CHECK_STR(sha256_of("snap_iter_50000.caffemodel"), want);
    SH_OK("grep 'Going on with 2 workers' log; "
          "sed '1,/Going on with 2/d' log | grep 'Going on with [45] workers'");
}
