/* test_run_solver.c - the solver file that a run directory keeps. */
#include "train/run_solver.h"

#include <unistd.h>

#include "model/load.h"
#include "run.h"

static Caffe__SolverParameter *make_solver(void)
{
    char                    text[4096];
    Caffe__SolverParameter *p;

    run_net("tiny");
    snprintf(
        text, sizeof(text),
        "net: '%s' base_lr: 0.1 lr_policy: 'fixed' snapshot_prefix: 'some/where/lenet'",
        test_path("net.prototxt"));
    run_file("solver.prototxt", text);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    return p;
}

TEST(snapshots_go_to_the_run_directory_under_their_old_name)
{
    Caffe__SolverParameter *p = make_solver();
    char                    want[1200];

    CHECK_OK(fire_run_dir_adopt(test_path("run"), p));
    snprintf(want, sizeof(want), "%s/lenet", test_path("run"));
    CHECK_STR(p->snapshot_prefix, want);
    fire_message_free(p);
}

TEST(nets_named_by_file_become_part_of_the_solver)
{
    Caffe__SolverParameter *p = make_solver();

    CHECK_OK(fire_run_dir_adopt(test_path("run"), p));
    CHECK(p->net == NULL && p->net_param != NULL);
    CHECK_EQ(p->net_param->n_layer, 3);
    fire_message_free(p);
}

TEST(a_kept_solver_needs_no_other_file)
{
    Caffe__SolverParameter *p = make_solver(), *kept;
    Caffe__NetParameter    *net;

    CHECK_OK(fire_run_dir_adopt(test_path("run"), p));
    CHECK_OK(fire_run_dir_prepare(test_path("run"), false, p));
    CHECK_EQ(unlink(test_path("net.prototxt")), 0);
    CHECK_OK(fire_solver_param_load(test_path("run/solver.prototxt"), &kept));
    CHECK_EQ(kept->net_param->n_layer, 3);
    CHECK_OK(fire_net_param_load_text(test_path("run/net.prototxt"), &net));
    CHECK_STR(net->layer[1]->name, "ip");
    fire_message_free(net);
    fire_message_free(kept);
    fire_message_free(p);
}

TEST(only_a_new_run_renames_the_log_that_is_there)
{
    Caffe__SolverParameter *p = make_solver();

    CHECK_OK(fire_run_dir_prepare(test_path("run"), false, p));
    run_file("run/run.jsonl", "{}\n");
    CHECK_OK(fire_run_dir_prepare(test_path("run"), true, p));
    CHECK_EQ(access(test_path("run/run.jsonl"), F_OK), 0);
    CHECK_OK(fire_run_dir_prepare(test_path("run"), false, p));
    CHECK(access(test_path("run/run.jsonl"), F_OK) != 0);
    CHECK_EQ(access(test_path("run/run.1.jsonl"), F_OK), 0);
    fire_message_free(p);
}
