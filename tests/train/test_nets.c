/* test_nets.c - which nets a solver file asks for, and what it may not leave out. */
#include "model/load.h"
#include "run.h"

#define RATE "base_lr: 0.1 lr_policy: 'fixed' max_iter: 1 "

static Caffe__SolverParameter *load(const char *nets)
{
    char                    text[2048];
    Caffe__SolverParameter *p;

    snprintf(text, sizeof(text), RATE "%s", nets);
    run_file("solver.prototxt", text);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    return p;
}

static void check_refused(const char *nets, const char *message)
{
    Caffe__SolverParameter *p = load(nets);

    CHECK_FAILS(fire_trainer_check_nets(p), FIRE_ERR_INVALID, message);
    fire_message_free(p);
}

TEST(the_training_net_is_named_exactly_once)
{
    check_refused("", "it does so 0 times");
    check_refused("net: 'a' train_net: 'b'", "it does so 2 times");
    check_refused("net: 'a' net_param { name: 'b' }", "it does so 2 times");
}

TEST(test_nets_need_as_many_test_iter_and_an_interval)
{
    check_refused("train_net: 'a' test_net: 'b' test_net: 'c' test_iter: 1 "
                  "test_interval: 1",
                  "1 test_iter for 2 test nets");
    check_refused("net: 'a' test_iter: 1", "no test_interval > 0");
    check_refused("net: 'a' test_iter: -1 test_interval: 1", "test_iter is -1");
    check_refused("net: 'a' test_iter: 1 test_iter: 2 test_interval: 1 test_state { "
                  "stage: 'x' }",
                  "1 test_state for 2 test nets");
}

/* test_net_param comes before test_net, the common net takes what is left. */
TEST(test_nets_come_in_caffes_order)
{
    char                    text[2048];
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    fire_trainer_t         *t;
    Caffe__SolverParameter *p;

    run_net("log");
    snprintf(text, sizeof(text),
             "net: '%s' test_net_param { name: 'own' layer { name: 'x' type: 'Input' "
             "top: 'x' input_param { shape { dim: 1 } } } } test_iter: 3 test_iter: 4 "
             "test_interval: 5 snapshot_after_train: false",
             test_path("net.prototxt"));
    run_data(50, 1, 12);
    p = load(text);
    CHECK_OK(fire_trainer_create(p, &o, &t));
    CHECK_EQ(fire_trainer_ntest(t), 2);
    CHECK_STR(fire_trainer_test_net(t, 0)->param->name, "own");
    CHECK_STR(fire_trainer_test_net(t, 1)->param->name, "tiny");
    CHECK(fire_trainer_test_net(t, 2) == NULL);
    CHECK_EQ(t->test[0].iterations, 3);
    CHECK_EQ(t->test[1].iterations, 4);
    fire_trainer_destroy(t);
    fire_message_free(p);
}

/* Weights of test nets are those of the training net. */
TEST(a_test_net_shares_the_weights)
{
    char                    text[2048];
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    fire_trainer_t         *t;
    Caffe__SolverParameter *p;
    fire_net_t             *net, *test;

    run_net("log");
    snprintf(text, sizeof(text),
             "net: '%s' test_iter: 1 test_interval: 5 snapshot_after_train: false",
             test_path("net.prototxt"));
    run_data(50, 1, 12);
    p = load(text);
    CHECK_OK(fire_trainer_create(p, &o, &t));
    net  = fire_trainer_net(t);
    test = fire_trainer_test_net(t, 0);
    CHECK_EQ(net->nparam, test->nparam);
    for (int i = 0; i < net->nparam; i++)
        CHECK(net->learn[i].blob->part[FIRE_DATA] ==
              test->learn[i].blob->part[FIRE_DATA]);
    fire_trainer_destroy(t);
    fire_message_free(p);
}
