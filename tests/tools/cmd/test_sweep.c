/* A grid of small trainings through the program. */
#include "fixture.h"

#define SWEEP "firecaffe sweep --solver solver.prototxt --run_dir grid "

static void need_mpi(void)
{
    if (!can_mpirun()) test_skip("no MPI");
}

TEST(a_sweep_prints_a_row_per_batch_and_a_column_per_rate)
{
    make_training();
    SH_OK(SWEEP "--batches 8,16 --rates 0.1,0.2 --quiet");
    CHECK_HAS(ran.out, "accuracy at the end");
    CHECK_HAS(ran.out, "         0.1          0.2\n         8 ");
    CHECK_HAS(ran.out, "\n        16 ");
    CHECK_HAS(ran.out, "highest: grid/batch");
    CHECK_EQ(count_files("grid/*/run.jsonl"), 4);
    CHECK_HAS(read_file("grid/sweep.csv"), "\nbatch8_lr0.1,8,0.1,done,20,accuracy,");
}

TEST(the_same_epochs_mean_fewer_iterations_of_a_larger_batch)
{
    make_training();
    make_solver("fire { warmup_iter: 8 }");
    SH_OK(SWEEP "--batches 16 --quiet");
    CHECK_HAS(read_file("grid/batch16_lr0.1/solver.prototxt"), "max_iter: 10\n");
    CHECK_HAS(read_file("grid/batch16_lr0.1/solver.prototxt"), "test_interval: 5\n");
    CHECK_HAS(read_file("grid/batch16_lr0.1/solver.prototxt"), "warmup_iter: 4\n");
    CHECK_HAS(read_file("grid/batch16_lr0.1/solver.prototxt"), "scale_lr: 2\n");
    CHECK_HAS(read_file("grid/batch16_lr0.1/net.prototxt"), "batch_size: 16\n");
}

TEST(what_a_sweep_holds_and_how_it_scales_can_be_chosen)
{
    make_training();
    SH_OK(SWEEP "--batches 32 --scaling sqrt --hold iterations --quiet");
    CHECK_HAS(read_file("grid/batch32_lr0.1/solver.prototxt"), "max_iter: 20\n");
    CHECK_HAS(read_file("grid/batch32_lr0.1/solver.prototxt"), "scale_lr: 2\n");
    SH_OK("rm -r grid && " SWEEP "--batches 32 --scaling none --quiet");
    SH_OK("! grep -q scale_lr grid/batch32_lr0.1/solver.prototxt");
}

TEST(a_point_is_the_training_that_train_would_do)
{
    make_training();
    SH_OK(SWEEP "--rates 0.05 --quiet");
    make_solver("base_lr: 0.05");
    edit_file("solver.prototxt", "base_lr: 0.1\n", "");
    SH_OK("firecaffe train --solver solver.prototxt --quiet && "
          "cmp snap_iter_20.caffemodel grid/batch8_lr0.05/snap_iter_20.caffemodel");
    SH_OK("firecaffe train --repeat grid/batch8_lr0.05 --quiet && "
          "cmp snap_iter_20.caffemodel grid/batch8_lr0.05-repeated/*_20.caffemodel");
}

TEST(a_sweep_started_again_trains_only_what_is_missing)
{
    make_training();
    SH_OK(SWEEP "--rates 0.1 --quiet");
    SH_OK(SWEEP "--rates 0.1,0.2 2>log");
    CHECK_HAS(read_file("log"), "1 of 2 points are finished already");
    CHECK(strstr(read_file("log"), "batch8_lr0.1: training") == NULL);
    CHECK_HAS(read_file("log"), "batch8_lr0.2: training");
}

TEST(a_point_that_broke_off_goes_on_from_its_snapshot)
{
    make_training();
    make_solver("snapshot: 10");
    SH_OK(SWEEP "--quiet && cp grid/batch8_lr0.1/snap_iter_20.caffemodel whole");
    SH_OK("cd grid/batch8_lr0.1 && rm *_iter_20.* && "
          "grep -v '\"end\"' run.jsonl >cut && mv cut run.jsonl");
    SH_OK(SWEEP "--quiet && cmp whole grid/batch8_lr0.1/snap_iter_20.caffemodel");
    SH_OK("grep -c '\"type\":\"run\"' grid/batch8_lr0.1/run.jsonl");
    CHECK_STR(ran.out, "2\n");
}

TEST(ctrl_c_ends_a_sweep_which_can_go_on)
{
    make_training();
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 100000000");
    SH_OK(SWEEP "--rates 0.1,0.2 --workers 2 --threads 1 2>log & pid=$!; "
                "for i in $(seq 500); do grep -q 0.2:.training log && break; sleep "
                "0.02; done; kill -INT $pid; wait $pid; echo $? >code");
    CHECK_STR(read_file("code"), "0\n");
    CHECK_EQ(count_files("grid/*/*.solverstate"), 2);
    CHECK(strstr(read_file("grid/sweep.csv"), ",done,") == NULL);
}

TEST(points_are_dealt_out_to_threads)
{
    make_training();
    SH_OK(SWEEP "--rates 0.1,0.2,0.3 --quiet && mv grid alone");
    SH_OK(SWEEP "--rates 0.1,0.2,0.3 --workers 2 --threads 1 --quiet");
    for (int i = 1; i <= 3; i++)
        SH_OK("f=batch8_lr0.%d/snap_iter_20.caffemodel && cmp alone/$f grid/$f", i);
}

TEST(points_are_dealt_out_to_processes)
{
    need_mpi();
    make_training();
    SH_OK("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
          "OMPI_MCA_rmaps_base_oversubscribe=1 ASAN_OPTIONS=detect_leaks=0 "
          "mpirun -n 2 " SWEEP "--batches 8,16 --rates 0.1,0.2 --quiet");
    CHECK_EQ(count_files("grid/*/snap_iter_*.caffemodel"), 4);
    SH_OK("grep -c ,done, grid/sweep.csv");
    CHECK_STR(ran.out, "4\n");
}

TEST(a_rate_that_is_far_too_high_is_told_as_diverged)
{
    make_training();
    edit_file("net.prototxt", "SoftmaxWithLoss", "EuclideanLoss");
    edit_file("net.prototxt", "num_output: 4", "num_output: 1");
    edit_file("net.prototxt", "type: \"Accuracy\" bottom: \"ip\" bottom: \"label\"",
              "type: \"Silence\" bottom: \"ip\"");
    edit_file("net.prototxt", "  top: \"accuracy\" include", "  include");
    make_solver("test_initialization: false");
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 2000");
    SH_OK(SWEEP "--rates 1e9 --quiet");
    CHECK_HAS(ran.out, "diverged");
    SH_OK(SWEEP "--rates 1e9 2>&1");
    CHECK_HAS(ran.out, "1 of 1 points are finished already");
}

TEST(a_point_that_fails_does_not_keep_others_from_training)
{
    make_training();
    SH_OK("mkdir grid && touch grid/batch8_lr0.1");
    SH_FAILS("1 of 2 points have failed", SWEEP "--rates 0.1,0.2");
    CHECK_HAS(read_file("grid/sweep.csv"), "\nbatch8_lr0.2,8,0.2,done,");
}

TEST(results_of_other_settings_are_not_taken)
{
    make_training();
    make_solver("snapshot: 10");
    SH_OK(SWEEP "--quiet");
    SH_OK("cd grid/batch8_lr0.1 && grep -v '\"end\"' run.jsonl >cut && "
          "mv cut run.jsonl");
    make_solver("snapshot: 5");
    sh(SWEEP);
    CHECK_EQ(ran.code, 1);
    CHECK_HAS(ran.err, "holds a run with other settings");
}

TEST(a_sweep_refuses_what_it_cannot_do)
{
    make_training();
    SH_FAILS("sweep needs --solver", "firecaffe sweep --solver solver.prototxt");
    SH_FAILS("--batches is a list of positive", SWEEP "--batches 8,many");
    SH_FAILS("--rates is a list of positive", SWEEP "--rates 0.1,-1");
    SH_FAILS("--rates has 0.10 twice", SWEEP "--rates 0.1,0.10");
    SH_FAILS("no number of images", SWEEP "--batches 8.5");
    SH_FAILS("--scaling is none, linear or sqrt", SWEEP "--scaling cubic");
    SH_FAILS("--hold is epochs or iterations", SWEEP "--hold still");
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 200000000");
    SH_FAILS("200000000 iterations of 8 take too many iterations of 1",
             SWEEP "--batches 1");
    edit_file("net.prototxt", "batch_size: 8", "");
    SH_FAILS("no layer of the training net has a batch_size", SWEEP);
}
