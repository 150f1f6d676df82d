/* Solver files and flags that contradict themselves. Each ends with one message that
 * names the file, line or layer and says what to do, exit status 1, no crash and no
 * half-written file. Tests tools/flags/. */
#include "device/gpu.h"
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt --quiet"

static void no_leftovers(void)
{
    CHECK_EQ(count_files("*.tmp*"), 0);
    CHECK_EQ(count_files("snap_iter_*"), 0);
}

/* ---- solvers that cannot be ---- */

TEST(an_unknown_learning_rate_policy)
{
    make_training();
    edit_file("solver.prototxt", "fixed", "fixt");
    SH_FAILS("fixt", TRAIN);
    no_leftovers();
}

TEST(an_unknown_solver_type)
{
    make_training();
    make_solver("type: \"Adan\"\n");
    SH_FAILS("Adan", TRAIN);
    CHECK_HAS(ran.err, "Adam");
}

TEST(a_momentum_for_a_solver_that_takes_none)
{
    make_training();
    make_solver("type: \"AdaGrad\"\n");
    SH_FAILS("momentum", TRAIN);
}

TEST(a_test_of_less_than_no_batches)
{
    make_training();
    edit_file("solver.prototxt", "test_iter: ", "test_iter: -1 #");
    SH_FAILS("test_iter is -1; it must be 0", TRAIN);
}

TEST(a_wrong_policy_names_the_solver_file_before_data_are_opened)
{
    make_training();
    edit_file("solver.prototxt", "fixed", "fixt");
    SH_FAILS("solver.prototxt: unknown lr_policy", "rm -r db; " TRAIN);
    edit_file("solver.prototxt", "fixt", "fixed");
    edit_file("solver.prototxt", "base_lr: ", "base_lr: nan #");
    SH_FAILS("solver.prototxt: base_lr must be a number", TRAIN);
}

TEST(a_solver_file_is_named_for_every_mistake_in_it)
{
    static const char *const mistakes[][3] = {
        {"net: \"net.prototxt\"", "", "name its training net once"},
        {"net: ", "train_net: \"net.prototxt\"\nnet: ", "it does so 2 times"},
        {"net: \"net", "net: \"nowhere", "cannot open \"nowhere.prototxt\""},
        {"test_iter: ", "test_net: \"none\"\ntest_iter: ", "cannot open \"none\""},
        {"test_iter: ", "test_iter: -1 #", "test_iter is -1"},
        {"test_interval: ", "#", "no test_interval"},
        {"lr_policy", "#", "has no lr_policy"},
        {"max_iter", "iter_size: 0\nmax_iter", "iter_size must be at least 1"},
        {"max_iter", "fire { bucket_mb: -1 }\nmax_iter", "bucket_mb must be 0"},
        {"max_iter", "fire { precision: \"fp8\" }\nmax_iter", "unknown precision"},
    };

    make_training();
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        make_solver("");
        edit_file("solver.prototxt", mistakes[i][0], mistakes[i][1]);
        SH_FAILS("error: solver.prototxt: ", TRAIN);
        CHECK_HAS(ran.err, mistakes[i][2]);
        SH_FAILS("error: solver.prototxt: ",
                 "firecaffe sweep --solver solver.prototxt --run_dir grid");
    }
}

/* One worker does not use them all, and tells of a mistake nevertheless. */
TEST(settings_that_cannot_be_whatever_the_number_of_workers)
{
    make_training();
    SH_FAILS("unknown collective algorithm \"rnig\"; known are", TRAIN " --comm rnig");
    SH_FAILS("unknown compression \"zip\"; known are", TRAIN " --compress zip");
    SH_FAILS("unknown update \"split\"; known are replicated, sharded",
             TRAIN " --update split");
    SH_FAILS("bucket_mb must be 0 to", TRAIN " --bucket_mb -1");
    SH_FAILS("scale_lr must be 0 to", TRAIN " --scale_lr nan");
    SH_FAILS("lanes must be 0 to", TRAIN " --lanes 4294967295");
    SH_FAILS("warmup_iter must be 0 to", TRAIN " --warmup_iter -4");
    SH_FAILS("--shuffle:1:10: field \"shuffle\" needs true or false",
             TRAIN " --shuffle maybe");
    no_leftovers();
}

TEST(a_training_that_has_nothing_to_do)
{
    make_training();
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 0");
    edit_file("solver.prototxt", "base_lr: ", "weight_decay: ");
    SH_OK(TRAIN);
    CHECK_HAS(ran.err, "max_iter is 0, and iteration 0 is reached");
    CHECK_HAS(ran.err, "base_lr is 0 or not set");
}

TEST(flags_that_exclude_each_other_or_make_no_sense)
{
    make_training();
    SH_FAILS("give one of them", TRAIN " --snapshot a --weights b");
    SH_FAILS("--sigint_effect is snapshot, stop or none",
             TRAIN " --sigint_effect=jump");
    SH_FAILS("--phase is TRAIN or TEST",
             "firecaffe time --model net.prototxt --phase=X");
    SH_FAILS("Need model weights", "firecaffe test --model net.prototxt");
    SH_FAILS("--iterations", "firecaffe time --model net.prototxt --iterations=0");
    SH_FAILS("--threads must be 0 to", TRAIN " --threads 100000");
    SH_FAILS("--batch must be positive", "firecaffe net net.prototxt --batch -5");
    SH_FAILS("unknown command 'trian'; did you mean 'train'", "firecaffe help trian");
}

TEST(kernels_that_do_not_exist)
{
    make_training();
    SH_FAILS("--kernel \"ref\": write TYPE=KERNEL", TRAIN " --kernel ref");
    SH_FAILS("unknown layer type \"Convolutoin\"; did you mean \"Convolution\"",
             TRAIN " --kernel Convolutoin=ref");
    SH_FAILS("--kernel Convolution=fastest: there is no such kernel",
             TRAIN " --kernel Convolution=fastest");
    SH_FAILS("--kernel all=fastest: there is no such kernel",
             "FIRE_KERNEL=all=fastest " TRAIN);
    SH_OK(TRAIN " --kernel all=ref,SGD=fast");
}

TEST(gpus_that_are_not_there)
{
    const char *why;

    make_training();
    SH_FAILS("write 0, or 0,1, or all", TRAIN " --gpu x");
    if (fire_gpu_count(&why) > 0) test_skip("here is a GPU");
    SH_FAILS("leave --gpu out", TRAIN " --gpu 0");
    SH_FAILS("leave --gpu out", TRAIN " --gpu all");
}

TEST(file_names_that_are_empty)
{
    make_training();
    SH_FAILS("--weights takes", TRAIN " --weights ''");
    SH_FAILS("--snapshot takes", TRAIN " --snapshot=");
    SH_FAILS("--run_dir takes", TRAIN " --run_dir \"$NOT_SET\"");
    SH_FAILS("cannot open \"\"", TRAIN " --weights ,");
    SH_FAILS("--model takes", "firecaffe test --model '' --weights a");
    CHECK_EQ(count_files("snap_*"), 0);
}
