/* Training through the program: the log that parsers read, files that others read,
 * resuming, signals. Tests tools/cmd/test.c too. */
#include <stdlib.h>
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt"

TEST(training_learns_and_says_so_in_caffes_words)
{
    make_training();
    SH_OK(TRAIN " 2>log");
    SH_OK(
        "grep -E '^I[0-9]{4} [0-9:]{8}\\.[0-9]{6} +[0-9]+ [a-z_]+\\.c:[0-9]+\\] ' log "
        "| wc -l >good; wc -l <log >all; cmp good all");
    SH_OK("grep -q '] Solving tiny$' log");
    SH_OK(
        "grep -qE '] Iteration 5 \\([0-9.e+-]+ iter/s, [0-9.e+-]+s/5 iters\\), loss = "
        "[0-9.e+-]+$' log");
    SH_OK("grep -q '] Iteration 10, lr = 0.1$' log");
    SH_OK("grep -q '] Iteration 10, Testing net (#0)$' log");
    SH_OK(
        "grep -qE ']     Train net output #0: loss = [0-9.e+-]+ \\(\\* 1 = [0-9.e+-]+ "
        "loss\\)$' log");
    SH_OK("grep -q ']     Test net output #0: accuracy = 1$' log");
    SH_OK("grep -qE '] Iteration 20, loss = [0-9.e+-]+$' log");
    SH_OK("grep -q '] Optimization Done\\.$' log");
}

/* What Caffe's parse_log.sh takes: field 11 of test outputs, field 9 of rates. */
TEST(the_fields_that_caffes_scripts_cut_out_are_where_they_look)
{
    make_training();
    SH_OK(TRAIN " 2>log");
    SH_OK("grep 'Test net output #0' log | awk '{print $11}' | tail -n 1");
    CHECK_STR(ran.out, "1\n");
    SH_OK("grep ', lr =' log | awk '{print $9}' | head -n 1");
    CHECK_STR(ran.out, "0.1\n");
    SH_OK("firecaffe log log >tables && awk -F, 'NR > 1 {print $1}' log.test | tr "
          "'\\n' ' '");
    CHECK_STR(ran.out, "0 10 20 ");
    SH_OK("awk -F, 'NR > 1 {print $1}' log.train | tr '\\n' ' '");
    CHECK_STR(ran.out, "0 5 10 15 ");
}

TEST(no_test_batches_mean_no_test_as_in_caffe)
{
    make_training();
    edit_file("solver.prototxt", "test_iter: ", "test_iter: 0 #");
    SH_OK(TRAIN " 2>log");
    SH_OK("grep -q '] Iteration 10, Testing net (#0)$' log");
    SH_OK("! grep -q 'Test net output' log");
}

TEST(two_runs_write_the_same_bytes)
{
    make_training();
    SH_OK(TRAIN " && mkdir first && mv snap_iter_* first && " TRAIN);
    SH_OK("cmp snap_iter_20.caffemodel first/snap_iter_20.caffemodel");
}

TEST(a_resumed_run_ends_with_the_bytes_of_an_undisturbed_one)
{
    make_training();
    make_solver("snapshot: 7\n");
    SH_OK(TRAIN " && mv snap_iter_20.caffemodel whole.caffemodel");
    SH_OK(TRAIN " --snapshot snap_iter_14.solverstate");
    SH_OK("cmp snap_iter_20.caffemodel whole.caffemodel");
}

TEST(auto_resumes_from_the_newest_snapshot_that_is_whole)
{
    make_training();
    make_solver("snapshot: 7\n");
    SH_OK(TRAIN " --snapshot auto 2>log && grep 'No snapshot to resume from' log");
    SH_OK("mv snap_iter_20.caffemodel whole.caffemodel; rm snap_iter_20.solverstate");
    SH_OK("printf X >>snap_iter_14.caffemodel");
    SH_OK(TRAIN
          " --snapshot=auto 2>log && grep 'Resuming from snap_iter_7.solver' log");
    SH_OK("cmp snap_iter_20.caffemodel whole.caffemodel");
}

TEST(protoc_reads_what_is_written)
{
    make_training();
    SH_OK(TRAIN);
    if (sh("command -v protoc") != 0) test_skip("no protoc");
    SH_OK("protoc -I$SRC/proto --decode=caffe.NetParameter $SRC/proto/caffe.proto "
          "<snap_iter_20.caffemodel >net.txt");
    CHECK_HAS(read_file("net.txt"), "type: \"InnerProduct\"");
    CHECK_HAS(read_file("net.txt"), "blobs {");
    SH_OK("protoc -I$SRC/proto --decode=caffe.SolverState $SRC/proto/caffe.proto "
          "<snap_iter_20.solverstate >state.txt");
    CHECK_HAS(read_file("state.txt"), "iter: 20\n");
    CHECK_HAS(read_file("state.txt"), "learned_net: \"snap_iter_20.caffemodel\"");
}

TEST(h5dump_reads_what_is_written)
{
    make_training();
    make_solver("snapshot_format: HDF5\n");
    if (sh("firecaffe version | grep -q HDF5 && command -v h5dump") != 0)
        test_skip("no HDF5 or no h5dump");
    SH_OK(TRAIN);
    SH_OK("h5dump -H snap_iter_20.caffemodel.h5");
    CHECK_HAS(ran.out, "GROUP \"ip\"");
    CHECK_HAS(ran.out, "( 4, 64 ) / ( 4, 64 )");
    SH_OK("h5dump -d /iter snap_iter_20.solverstate.h5");
    CHECK_HAS(ran.out, "(0): 20");
    SH_OK("firecaffe test --model net.prototxt --weights snap_iter_20.caffemodel.h5 "
          "--iterations 8");
    CHECK_HAS(ran.err, "accuracy = 1\n");
}

TEST(a_trained_net_scores_the_same_in_test)
{
    make_training();
    SH_OK(TRAIN);
    SH_OK("firecaffe test --model net.prototxt --weights snap_iter_20.caffemodel "
          "--iterations 8 --run_dir scores");
    CHECK_HAS(read_file("scores/run.jsonl"), "\"kind\":\"test\"");
    CHECK_HAS(read_file("scores/run.jsonl"), "\"name\":\"accuracy\",\"value\":1}");
    CHECK_HAS(ran.err, "] Running for 8 iterations.\n");
    CHECK_HAS(ran.err, "] Batch 7, accuracy = 1\n");
    CHECK_HAS(ran.err, "] Loss: ");
    CHECK_HAS(ran.err, "] accuracy = 1\n");
    CHECK_HAS(ran.err, "] loss = ");
}

TEST(under_caffes_name_its_flags_may_come_first)
{
    make_training();
    SH_OK("caffe -solver solver.prototxt train");
    CHECK(file_exists("snap_iter_20.caffemodel"));
}

TEST(time_reports_every_layer)
{
    make_training();
    SH_OK("caffe time -model net.prototxt -iterations 3");
    CHECK_HAS(ran.err, "] *** Benchmark begins ***\n");
    CHECK_HAS(ran.err, "]         ip\tforward: ");
    CHECK_HAS(ran.err, "]         ip\tbackward: ");
    CHECK_HAS(ran.err, "] Average Forward pass: ");
    CHECK_HAS(ran.err, "] Average Backward pass: ");
    CHECK_HAS(ran.err, "] Average Forward-Backward: ");
    CHECK_HAS(ran.err, "] Total Time: ");
    CHECK_HAS(ran.err, "] *** Benchmark ends ***\n");
}

/* ---- signals ---- */

/* Start an endless training, send a signal once it runs, wait for its end. */
static void train_and_signal(const char *flags, const char *signals)
{
    make_training();
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 100000000");
    edit_file("solver.prototxt", "test_interval: 10", "test_interval: 100000000");
    edit_file("solver.prototxt", "display: 5", "display: 1000");
    sh(TRAIN " %s 2>log & pid=$!; "
             "for i in $(seq 500); do grep -q 'Iteration 1000 ' log && break; sleep "
             "0.02; done; "
             "%s; wait $pid; echo $? >code",
       flags, signals);
}

TEST(random_numbers_can_be_those_of_caffe)
{
    make_training();
    SH_OK(
        "firecaffe train --solver solver.prototxt && mv snap_iter_20.caffemodel ours &&"
        "firecaffe train --solver solver.prototxt --rng caffe &&"
        "mv snap_iter_20.caffemodel caffes &&"
        "firecaffe train --solver solver.prototxt --rng caffe &&"
        "cmp snap_iter_20.caffemodel caffes && ! cmp -s ours caffes");
    SH_FAILS("rng: \"caffe\" needs one worker with one lane, not 2 lanes",
             "firecaffe train --solver solver.prototxt --rng caffe --lanes 2");
    SH_FAILS("unknown rng \"dice\"; known are fire, caffe",
             "firecaffe train --solver solver.prototxt --rng dice");
}

TEST(ctrl_c_writes_a_snapshot_and_stops)
{
    train_and_signal("", "kill -INT $pid");
    CHECK_STR(read_file("code"), "0\n");
    CHECK_EQ(count_files("snap_iter_*.caffemodel"), 1);
    CHECK_EQ(count_files("snap_iter_*.solverstate"), 1);
    CHECK_HAS(read_file("log"), "Optimization stopped early.");
}

TEST(a_hangup_writes_a_snapshot_and_goes_on)
{
    train_and_signal(
        "", "kill -HUP $pid; for i in $(seq 500); do ls snap_iter_*.solverstate "
            "&& break; sleep 0.02; done; ls snap_iter_*.solverstate | wc -l "
            ">n; kill -INT $pid");
    CHECK_STR(read_file("n"), "1\n");
    CHECK_EQ(count_files("snap_iter_*.solverstate"), 2);
}

TEST(effects_of_signals_can_be_changed)
{
    train_and_signal("--sigint_effect=none --sighup_effect=stop",
                     "kill -INT $pid; sleep 0.2; kill -0 $pid && echo alive >alive; "
                     "kill -HUP $pid");
    CHECK(file_exists("alive"));
    CHECK_STR(read_file("code"), "0\n");
    CHECK_EQ(count_files("snap_iter_*.solverstate"), 1);
}

TEST(a_run_directory_is_made_also_where_restarts_are_wanted)
{
    make_training();
    SH_OK("firecaffe train --solver solver.prototxt --run_dir new/run --restarts 1 "
          "--quiet");
    CHECK(file_exists("new/run/snap_iter_20.solverstate"));
    CHECK_EQ(count_files("new/run/*.lock"), 0);
}

TEST(two_trainings_cannot_write_to_one_place)
{
    make_training();
    SH_OK("mkdir run; exec 9>run/run.lock; flock 9; "
          "firecaffe train --solver solver.prototxt --run_dir run --quiet 2>err; echo "
          "$? >code");
    CHECK_STR(read_file("code"), "1\n");
    CHECK_HAS(read_file("err"), "another training (process unknown) writes there");
    CHECK(!file_exists("run/run.jsonl"));
}

TEST(links_in_the_place_of_probes_are_not_followed)
{
    make_training();
    write_file("victim", "mine");
    SH_OK("ln -s victim snap_iter_20.tempfile; "
          "firecaffe train --solver solver.prototxt --quiet");
    CHECK_STR(read_file("victim"), "mine");
}

TEST(a_loss_that_is_no_number_is_warned_of_once)
{
    make_training();
    edit_file("solver.prototxt", "base_lr: 0.1", "base_lr: 3e38");
    SH_OK("firecaffe train --solver solver.prototxt");
    CHECK_HAS(ran.err, "training has diverged");
    CHECK(strstr(strstr(ran.err, "has diverged") + 1, "has diverged") == NULL);
}

TEST(a_control_file_in_the_run_directory_changes_a_training)
{
    make_training();
    edit_file("solver.prototxt", "max_iter: 20\n", "max_iter: 2000000\n");
    edit_file("solver.prototxt", "test_interval: 10\n", "test_interval: 1000000\n");
    SH_OK(
        "firecaffe train --solver solver.prototxt --run_dir r --quiet & pid=$!; "
        "for i in $(seq 600); do test -s r/run.jsonl && break; sleep 0.05; done; "
        "echo 'max_iter: 1' >r/control; "
        "for i in $(seq 600); do test -e r/control.applied && break; sleep 0.05; done; "
        "test -e r/control.applied || kill $pid; wait $pid");
}

/* From too few for anything to enough. */
TEST(limited_addresses_end_with_a_message_or_a_trained_net)
{
    if (TEST_SANITIZED) test_skip("sanitizers need all addresses");
    make_training();
    for (int mb = 100; mb <= 1600; mb *= 2) {
        SH_OK("(ulimit -v %d000; timeout -s KILL 60 " TRAIN
              " --workers 4 2>log); rc=$?; "
              "for good in 0 1 75 127; do test $rc -eq $good && exit 0; done; exit 1",
              mb);
        SH_OK(
            "grep -q 'Optimization Done' log || grep -qE 'ulimit|memory|thread|shared "
            "object' log");
    }
}
