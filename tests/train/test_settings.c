/* test_settings.c - words and numbers of fire { } that are refused before anything is
 * opened. Tests src/train/settings.c. */
#include "train/settings.h"

#include "model/load.h"
#include "run.h"

static fire_status_t check(const char *fire)
{
    char                    text[512];
    Caffe__SolverParameter *p;
    fire_status_t           st;

    snprintf(text, sizeof(text), "base_lr: 0.1 lr_policy: 'fixed' fire { %s }", fire);
    run_file("solver.prototxt", text);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    st = fire_settings_check(p->fire);
    fire_message_free(p);
    return st;
}

TEST(known_words_and_numbers_pass)
{
    CHECK_OK(fire_settings_check(NULL));
    CHECK_OK(check(""));
    CHECK_OK(check("batch: 'per-worker' overlap: 'poll' update: 'sharded' comm: 'rhd' "
                   "compress: 'bf16' data_store: 'memory' rng: 'caffe' precision: "
                   "'fp16' adapt: 'larc' lanes: 8 bucket_mb: 0.5"));
    CHECK_OK(check("comm: 'auto'"));
    CHECK_OK(check("comm: 'nccl'"));
}

TEST(an_unknown_word_is_refused_and_known_ones_are_listed)
{
    CHECK_FAILS(check("overlap: 'threads'"), FIRE_ERR_INVALID,
                "unknown overlap \"threads\"; known are auto, thread, poll");
    CHECK_FAILS(check("update: 'shard'"), FIRE_ERR_INVALID, "replicated");
    CHECK_FAILS(check("batch: 'local'"), FIRE_ERR_INVALID, "per-worker");
    CHECK_FAILS(check("precision: 'int8'"), FIRE_ERR_INVALID, "bf16");
    CHECK_FAILS(check("rng: 'mt'"), FIRE_ERR_INVALID, "caffe");
    CHECK_FAILS(check("data_store: 'ram'"), FIRE_ERR_INVALID, "memory");
    CHECK_FAILS(check("adapt: 'lamb'"), FIRE_ERR_INVALID, "larc");
    CHECK_FAILS(check("comm: 'rings'"), FIRE_ERR_INVALID, "rings");
    CHECK_FAILS(check("compress: 'zip'"), FIRE_ERR_INVALID, "zip");
}

TEST(a_number_out_of_range_is_refused_with_the_range)
{
    CHECK_FAILS(check("warmup_ratio: 1.5"), FIRE_ERR_INVALID,
                "warmup_ratio must be 0 to 1, not 1.5");
    CHECK_FAILS(check("bucket_mb: -1"), FIRE_ERR_INVALID, "bucket_mb must be 0 to");
    CHECK_FAILS(check("deadline: nan"), FIRE_ERR_INVALID, "deadline must be 0 to");
    CHECK_FAILS(check("scale_lr: inf"), FIRE_ERR_INVALID, "scale_lr must be");
    CHECK_FAILS(check("adapt_eta: -0.1"), FIRE_ERR_INVALID, "adapt_eta must be");
}

static fire_status_t check_file(const char *solver)
{
    Caffe__SolverParameter *p;
    fire_status_t           st;

    run_file("solver.prototxt", solver);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    st = fire_settings_check_file(p, "a.prototxt");
    fire_message_free(p);
    return st;
}

TEST(a_check_of_a_file_begins_its_message_with_the_files_name)
{
    CHECK_FAILS(check_file("base_lr: 0.1 lr_policy: 'fixed' net: '/nowhere/net'"),
                FIRE_ERR_IO, "a.prototxt: ");
    CHECK_FAILS(check_file("base_lr: 0.1 lr_policy: 'wrong'"), FIRE_ERR_INVALID,
                "a.prototxt: unknown lr_policy");
}
