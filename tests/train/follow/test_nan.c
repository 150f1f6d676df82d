/* test_nan.c - a training whose numbers stop being finite warns, stops, skips or goes
 * back, and names layer and iteration. Tests src/train/follow/nan.c and
 * src/train/follow/guilty.c. */
#include <math.h>
#include <string.h>

#include "model/text.h"
#include "net/net_state.h"
#include "run.h"

#define SOLVER                                                                 \
    "net: '%s/net.prototxt' lr_policy: 'fixed' max_iter: 30 snapshot_prefix: " \
    "'%s/snap' snapshot_after_train: false random_seed: 7 "

static void prepare(void)
{
    run_net("log");
    run_data(60, 1, 12);
}

/* At this iteration a weight of the convolution, or its gradient, is spoilt. */
static int64_t spoil_at;
static bool    spoils_weight;

static fire_status_t spoil(void *arg)
{
    fire_trainer_t *t = arg;
    float          *x;

    if (!spoils_weight || t->solver->iter != spoil_at) return FIRE_OK;
    CHECK_OK(fire_blob_update(t->net->learn[0].blob, FIRE_DATA, FIRE_CPU, &x));
    x[3] = INFINITY;
    return FIRE_OK;
}

static fire_status_t spoil_gradient(void *arg)
{
    fire_trainer_t *t = arg;
    float          *x;

    if (spoils_weight || t->solver->iter != spoil_at) return FIRE_OK;
    CHECK_OK(fire_blob_update(t->net->learn[0].blob, FIRE_DIFF, FIRE_CPU, &x));
    x[3] = NAN;
    return FIRE_OK;
}

static float    end_rate;
static uint64_t end_weights;
static bool     end_finite;

static void look(const fire_trainer_t *t)
{
    end_rate    = t->solver->rate;
    end_weights = 14695981039346656037u;
    end_finite  = true;
    for (int i = 0; i < t->net->nparam; i++) {
        const float *w;

        CHECK_OK(fire_blob_read(t->net->learn[i].blob, FIRE_DATA, FIRE_CPU, &w));
        for (int64_t k = 0; k < fire_blob_count(t->net->learn[i].blob); k++) {
            uint32_t bits;

            memcpy(&bits, &w[k], sizeof(bits));
            end_finite &= isfinite(w[k]);
            end_weights = (end_weights ^ bits) * 1099511628211u;
        }
    }
}

static fire_status_t solve(const char *more, bool spoils)
{
    fire_trainer_options_t  o     = FIRE_TRAINER_OPTIONS_INIT;
    fire_trainer_hooks_t    hooks = FIRE_TRAINER_HOOKS_INIT;
    Caffe__SolverParameter *p;
    fire_trainer_t         *t;
    fire_status_t           st;
    char                    text[4096];
    int                     n =
        snprintf(text, sizeof(text), SOLVER "%s", test_tmpdir(), test_tmpdir(), more);

    CHECK_OK(fire_text_parse(text, (size_t)n, "solver",
                             &caffe__solver_parameter__descriptor,
                             (ProtobufCMessage **)&p));
    CHECK_OK(fire_trainer_create(p, &o, &t));
    hooks.arg   = t;
    hooks.start = spoil;
    if (spoils && !spoils_weight) hooks.gradients_ready = spoil_gradient;
    if (spoils) CHECK_OK(fire_trainer_set_hooks(t, &hooks));
    st = fire_trainer_solve(t);
    look(t);
    fire_trainer_destroy(t);
    fire_message_free(p);
    return st;
}

TEST(a_rate_a_thousand_times_too_high_ends_with_layer_and_iteration)
{
    prepare();
    CHECK_FAILS(solve("base_lr: 1000 fire { on_nan: 'stop' }", false), FIRE_ERR_INVALID,
                "Iteration ");
    CHECK(strstr(fire_last_error(), ", first in the ") != NULL);
    CHECK(strstr(fire_last_error(), " of layer \"") != NULL);
    CHECK(end_finite); /* the update was not applied */
}

TEST(the_layer_that_lost_its_numbers_is_named)
{
    prepare();
    spoils_weight = true;
    spoil_at      = 7;
    CHECK_FAILS(solve("base_lr: 0.0001 fire { on_nan: 'stop' }", true),
                FIRE_ERR_INVALID,
                "Iteration 8: the loss is nan, first in the weights of layer \"conv\" "
                "(Convolution)");
}

TEST(without_a_choice_training_goes_on_with_one_warning)
{
    prepare();
    spoils_weight = true;
    spoil_at      = 7;
    run_listen();
    CHECK_OK(solve("base_lr: 0.0001", true));
    CHECK(run_heard(
        "Iteration 8: the loss is nan, first in the weights of layer \"conv\" "
        "(Convolution): training has diverged"));
    CHECK(!end_finite);
}

TEST(a_skipped_update_leaves_the_weights_and_training_goes_on)
{
    prepare();
    spoils_weight = false;
    spoil_at      = 7;
    run_listen();
    CHECK_OK(solve("base_lr: 0.0001 fire { on_nan: 'skip' }", true));
    CHECK(run_heard("Iteration 8: the gradients are not finite: update skipped"));
    CHECK(end_finite);
}

/* Finding the layer runs a pass again: nothing but the message may come of it. */
TEST(a_look_for_the_layer_changes_nothing)
{
    uint64_t want;

    prepare();
    run_net_with(
        "log", "name: \"tiny\"",
        "name: \"tiny\" layer { name: 'n' type: 'DummyData' top: 'n' "
        "dummy_data_param { shape { dim: 1 } data_filler { value: 0 } } } layer { "
        "name: 'log' type: 'Log' bottom: 'n' top: 'l' loss_weight: 1 }");
    CHECK_OK(solve("base_lr: 0.0001 average_loss: 2", false));
    want = end_weights;
    run_net("log");
    CHECK_OK(solve("base_lr: 0.0001", false));
    CHECK_EQ(end_weights, want); /* the second loss has no weights */
}

TEST(a_rollback_goes_on_from_the_last_snapshot_with_half_the_rate)
{
    prepare();
    spoils_weight = false;
    spoil_at      = 7;
    run_listen();
    CHECK_FAILS(solve("base_lr: 0.0001 snapshot: 5 fire { on_nan: 'rollback' }", true),
                FIRE_ERR_INVALID,
                "gave up after 10 rollbacks"); /* it happens each time */
    CHECK(run_heard("back at iteration 5, with 0.5 of the learning rate"));
    CHECK_FAILS(solve("base_lr: 0.0001 fire { on_nan: 'rollback' }", true),
                FIRE_ERR_INVALID, "found no snapshot of this run");
}

TEST(a_rollback_rescues_a_run_whose_rate_was_too_high)
{
    prepare();
    run_listen();
    CHECK_OK(solve("base_lr: 0.02 snapshot: 2 fire { on_nan: 'rollback' }", false));
    CHECK(run_heard("of the learning rate"));
    CHECK(end_finite && end_rate < 0.02f);
}

/* Some workers' lanes have the bad numbers, all do the same. */
TEST(several_workers_skip_and_go_back_alike)
{
    static const char *const what[] = {"skip", "rollback"};

    prepare();
    for (int i = 0; i < 2; i++) {
        static char solver[2048];
        run_t       one = {.solver = solver, .workers = 1, .solve = true}, four = one;

        four.workers = 4;
        snprintf(solver, sizeof(solver),
                 SOLVER "base_lr: 0.02 snapshot: 2 fire { lanes: 4 "
                        "on_nan: '%s' }",
                 "%s", "%s", what[i]);
        CHECK(run_train(&one) == run_train(&four));
    }
}

TEST(the_norm_of_the_gradients_is_logged)
{
    prepare();
    run_listen();
    CHECK_OK(solve("base_lr: 0 display: 10 fire { grad_norm: true }", false));
    CHECK(run_heard("Iteration 10, gradient norm = "));
}
