/* test_loop.c - what a training does between its iterations, told by its events. Tests
 * src/train/loop.c, src/train/test.c, src/train/iterate.c, src/train/trainer.c,
 * src/train/access.c. */
#include <unistd.h>

#include "model/load.h"
#include "run.h"

enum { MOST = 256 };

/* All events of a run, in order. */
typedef struct heard {
    fire_train_event_kind_t kind[MOST];
    int64_t                 iter[MOST];
    double                  loss[MOST], value[MOST];
    int                     n;
    int64_t                 stop_at, snapshot_at; /* requests of the user; 0: none */
    fire_trainer_t         *trainer;
} heard_t;

static void on_event(void *arg, const fire_train_event_t *e)
{
    heard_t *h = arg;

    CHECK(h->n < MOST);
    h->kind[h->n]  = e->kind;
    h->iter[h->n]  = e->iter;
    h->loss[h->n]  = e->loss;
    h->value[h->n] = e->value;
    h->n++;
}

static fire_action_t action(void *arg)
{
    const heard_t *h    = arg;
    int64_t        next = fire_trainer_iter(h->trainer) + 1;

    return next == h->stop_at       ? FIRE_STOP
           : next == h->snapshot_at ? FIRE_SNAPSHOT
                                    : FIRE_GO_ON;
}

static void solve(const char *more, heard_t *h)
{
    char                    text[2048];
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    Caffe__SolverParameter *p;

    run_net("log");
    if (access(test_path("data"), F_OK) != 0) run_data(50, 1, 12);
    snprintf(text, sizeof(text),
             "net: '%s' base_lr: 0.001 lr_policy: 'fixed' snapshot_prefix: '%s/snap' "
             "snapshot_after_train: false %s",
             test_path("net.prototxt"), test_tmpdir(), more);
    run_file("solver.prototxt", text);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    o.arg    = h;
    o.event  = on_event;
    o.action = action;
    CHECK_OK(fire_trainer_create(p, &o, &h->trainer));
    CHECK_OK(fire_trainer_solve(h->trainer));
    fire_trainer_destroy(h->trainer);
    fire_message_free(p);
}

static int count(const heard_t *h, fire_train_event_kind_t kind)
{
    int n = 0;

    for (int i = 0; i < h->n; i++)
        n += h->kind[i] == kind;
    return n;
}

/* The iteration of the n-th event of a kind. */
static int64_t iter_of(const heard_t *h, fire_train_event_kind_t kind, int n)
{
    for (int i = 0; i < h->n; i++)
        if (h->kind[i] == kind && n-- == 0) return h->iter[i];
    return -1;
}

TEST(a_run_begins_iterates_and_ends)
{
    heard_t h = {.n = 0};

    solve("max_iter: 4", &h);
    CHECK_EQ(h.n, 6);
    CHECK_EQ(h.kind[0], FIRE_TRAIN_START);
    for (int i = 1; i <= 4; i++) {
        CHECK_EQ(h.kind[i], FIRE_TRAIN_ITERATION);
        CHECK_EQ(h.iter[i], i);
    }
    CHECK_EQ(h.kind[5], FIRE_TRAIN_DONE);
}

TEST(display_is_due_before_the_first_iteration_ends_and_at_each_interval)
{
    heard_t h = {.n = 0};

    solve("max_iter: 7 display: 3", &h);
    CHECK_EQ(count(&h, FIRE_TRAIN_DISPLAY), 3); /* of iterations 0, 3, 6 */
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_DISPLAY, 0), 1);
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_DISPLAY, 2), 7);
}

TEST(displayed_losses_are_means_of_the_last_average_loss_ones)
{
    heard_t h = {.n = 0};
    double  sum;
    int     at = -1;

    solve("max_iter: 7 display: 3 average_loss: 2", &h);
    for (int i = 0; i < h.n; i++)
        if (h.kind[i] == FIRE_TRAIN_DISPLAY) at = i;
    CHECK_EQ(h.kind[at - 1], FIRE_TRAIN_ITERATION);
    sum = h.loss[at - 1] + h.loss[at - 2];
    CHECK_NEAR(h.loss[at], sum / 2, 1e-6);
}

TEST(tests_run_at_the_start_at_their_interval_and_at_the_end)
{
    heard_t h = {.n = 0};

    solve("max_iter: 4 test_iter: 2 test_interval: 2", &h);
    CHECK_EQ(count(&h, FIRE_TRAIN_TEST), 2 * 3); /* accuracy and loss */
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_TEST, 0), 0);
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_TEST, 2), 2);
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_TEST, 4), 4);
    for (int i = 0; i < h.n; i++)
        if (h.kind[i] == FIRE_TRAIN_TEST) CHECK(isfinite(h.value[i]));
    h.n = 0;
    solve("max_iter: 4 test_iter: 2 test_interval: 3 test_initialization: false", &h);
    CHECK_EQ(count(&h, FIRE_TRAIN_TEST), 2);
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_TEST, 0), 3);
}

TEST(snapshots_are_written_at_their_interval)
{
    heard_t h = {.n = 0};

    solve("max_iter: 5 snapshot: 2", &h);
    CHECK_EQ(count(&h, FIRE_TRAIN_SNAPSHOT), 2);
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_SNAPSHOT, 0), 2);
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_SNAPSHOT, 1), 4);
}

TEST(a_request_is_carried_out_after_the_iteration_that_sees_it)
{
    heard_t h = {.stop_at = 4, .snapshot_at = 2};

    solve("max_iter: 9", &h);
    CHECK_EQ(count(&h, FIRE_TRAIN_ITERATION), 4);
    CHECK_EQ(iter_of(&h, FIRE_TRAIN_SNAPSHOT, 0), 2);
    CHECK_EQ(count(&h, FIRE_TRAIN_DONE), 0); /* it was stopped */
}

TEST(a_trainer_tells_what_it_holds)
{
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    char                    text[2048];
    Caffe__SolverParameter *p;
    fire_trainer_t         *t;
    double                  loss;

    run_net("tiny");
    snprintf(
        text, sizeof(text),
        "net: '%s' base_lr: 0.5 lr_policy: 'step' gamma: 0.5 stepsize: 1 max_iter: 9 "
        "snapshot_after_train: false fire { lanes: 2 }",
        test_path("net.prototxt"));
    run_file("solver.prototxt", text);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    CHECK_OK(fire_trainer_create(p, &o, &t));
    CHECK_EQ(fire_trainer_rank(t), 0);
    CHECK_EQ(fire_trainer_size(t), 1);
    CHECK(fire_trainer_comm(t) == NULL);
    CHECK_EQ(fire_trainer_lanes(t), 2);
    CHECK_EQ(fire_trainer_batch(t), 4);
    CHECK(fire_trainer_param(t) == p);
    CHECK_EQ(fire_trainer_ahead(t), 0); /* the host takes part on a CPU */
    CHECK_OK(fire_trainer_iterate(t, &loss));
    CHECK_OK(fire_trainer_iterate(t, &loss));
    CHECK_EQ(fire_trainer_iter(t), 2);
    CHECK_EQ(fire_trainer_nflight(t), 0);
    CHECK_NEAR(fire_trainer_rate(t), 0.25, 0);
    fire_trainer_destroy(t);
    fire_message_free(p);
}

/* Off and on again: only what happens while it is on counts. */
TEST(measuring_can_be_switched_off)
{
    fire_trainer_options_t  o = FIRE_TRAINER_OPTIONS_INIT;
    char                    text[2048];
    Caffe__SolverParameter *p;
    fire_trainer_t         *t;
    int64_t                 n;
    double                  loss;

    run_net("tiny");
    snprintf(text, sizeof(text),
             "net: '%s' base_lr: 0.5 lr_policy: 'fixed' max_iter: 9 "
             "snapshot_after_train: false",
             test_path("net.prototxt"));
    run_file("solver.prototxt", text);
    CHECK_OK(fire_solver_param_load(test_path("solver.prototxt"), &p));
    o.measure = true;
    CHECK_OK(fire_trainer_create(p, &o, &t));
    CHECK_OK(fire_trainer_iterate(t, &loss));
    fire_trainer_set_measuring(t, false);
    for (int i = 0; i < 3; i++)
        CHECK_OK(fire_trainer_iterate(t, &loss));
    fire_trainer_set_measuring(t, true);
    CHECK_OK(fire_trainer_iterate(t, &loss));
    fire_profile_take(t->profile, &n);
    CHECK_EQ(n, 2);
    fire_trainer_destroy(t);
    fire_message_free(p);
}
