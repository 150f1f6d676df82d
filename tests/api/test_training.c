/* Trainers by the public headers alone: what happens while they train, in whole
 * iterations or halves, alone or as several workers. Tests src/train/iterate.c. */
#include "line.h"

/* Everything that a run tells, as a text. */
typedef struct heard {
    char            text[4096];
    int             iterations, calls;
    fire_trainer_t *trainer;
    fire_action_t   action; /* to request ... */
    int64_t         at;     /* ... when so many iterations are done */
} heard_t;

static void on_event(void *arg, const fire_train_event_t *e)
{
    static const char letter[] = "<.dts>";
    heard_t          *h        = arg;
    size_t            n        = strlen(h->text);

    h->text[n]     = letter[e->kind];
    h->text[n + 1] = '\0';
    if (e->kind == FIRE_TRAIN_DISPLAY) CHECK(e->noutput == 1 && e->lr > 0);
    if (e->kind != FIRE_TRAIN_ITERATION) return;
    CHECK_EQ(e->iter, ++h->iterations);
    if (e->iter == h->at) fire_trainer_request(h->trainer, h->action);
}

static void listen(fire_trainer_t *t, heard_t *h)
{
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;

    h->trainer  = t;
    hooks.arg   = h;
    hooks.event = on_event;
    CHECK_OK(fire_trainer_set_hooks(t, &hooks));
}

/* A snapshot is written beside training and told when it is on disk. Takes its letter out
 * of a text; how many iterations had been told then. */
static int told_snapshot(char *text)
{
    char *s    = strchr(text, 's');
    int   done = 0;

    if (s == NULL) return 0;
    for (char *p = text; p < s; p++)
        done += *p == '.';
    memmove(s, s + 1, strlen(s));
    return done;
}

TEST(solve_tells_each_event_of_the_run)
{
    fire_trainer_t *t = line_make("snapshot: 4", NULL);
    heard_t         h = {.at = -1};

    listen(t, &h);
    CHECK_OK(fire_trainer_solve(t));
    CHECK(told_snapshot(h.text) >= 4);
    CHECK_STR(h.text, "<t.d..dt..d.t>");
    CHECK_EQ(fire_trainer_iter(t), 6);
    CHECK(!fire_trainer_stopped(t));
    CHECK(isfinite(fire_trainer_loss(t)) && fire_trainer_loss(t) > 0);
    fire_trainer_destroy(t);
}

TEST(solve_and_single_steps_make_the_same_weights)
{
    fire_trainer_t *t = line_make("", NULL), *u = line_make("", NULL);

    CHECK_OK(fire_trainer_solve(t));
    for (int i = 0; i < 6; i++)
        CHECK_OK(fire_trainer_step(u, 1));
    CHECK(line_same(line_weights(t), line_weights(u)));
    CHECK(!line_same(line_weights(t), line_trained("", 5)));
    fire_trainer_destroy(t);
    fire_trainer_destroy(u);
}

TEST(a_request_stops_or_snapshots)
{
    fire_trainer_t *t = line_make("", NULL);
    heard_t         h = {.at = 2, .action = FIRE_STOP};

    listen(t, &h);
    CHECK_OK(fire_trainer_solve(t));
    CHECK(fire_trainer_stopped(t));
    CHECK_EQ(fire_trainer_iter(t), 3); /* the iteration that sees it is the next */
    h.at     = 4;
    h.action = FIRE_SNAPSHOT;
    CHECK_OK(fire_trainer_step(t, 2));
    CHECK(!fire_trainer_stopped(t));
    CHECK(strchr(h.text, 's') != NULL);
    CHECK_OK(fire_trainer_set_hooks(t, NULL));
    CHECK_OK(fire_trainer_step(t, 1));
    CHECK_EQ(h.iterations, 5);
    fire_trainer_destroy(t);
}

TEST(a_test_runs_when_it_is_asked_for)
{
    fire_trainer_t *t = line_make("", NULL);
    heard_t         h = {.at = -1};

    listen(t, &h);
    CHECK_OK(fire_trainer_test(t, 0));
    CHECK(strcmp(h.text, "t") == 0);
    CHECK_FAILS(fire_trainer_test(t, 1), FIRE_ERR_INVALID, "no test net 1");
    fire_trainer_destroy(t);
}

/* ---- the halves of an iteration ---- */

TEST(gradients_and_update_are_a_step)
{
    fire_trainer_t *t = line_make("iter_size: 2", NULL),
                   *u = line_make("iter_size: 2", NULL);
    double       loss;
    const float *g;

    for (int i = 0; i < 3; i++) {
        CHECK_OK(fire_trainer_gradients(t, &loss));
        CHECK(loss > 0);
        CHECK_OK(fire_trainer_update(t));
    }
    CHECK_OK(fire_trainer_step(u, 3));
    CHECK(line_same(line_weights(t), line_weights(u)));
    CHECK_EQ(fire_trainer_iter(t), 3);
    CHECK_OK(fire_trainer_gradients(t, NULL));
    g = line_values(fire_net_param_blob(fire_trainer_net(t), 0), FIRE_DIFF);
    CHECK(g[0] != 0);
    CHECK_OK(fire_trainer_step(t, 1)); /* gradients that are not used are dropped */
    CHECK_OK(fire_trainer_step(u, 1));
    CHECK(line_same(line_weights(t), line_weights(u)));
    fire_trainer_destroy(t);
    fire_trainer_destroy(u);
}

TEST(an_update_applies_what_the_caller_wrote)
{
    fire_trainer_t *t      = line_make("", NULL);
    fire_blob_t    *w      = fire_net_param_blob(fire_trainer_net(t), 0);
    line_weights_t  before = line_weights(t), after;
    float          *g;

    CHECK_OK(fire_blob_write(w, FIRE_DIFF, FIRE_CPU, &g));
    for (int i = 0; i < 6; i++)
        g[i] = (float)i;
    CHECK_OK(fire_trainer_update(t));
    after = line_weights(t);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(after.w[i], before.w[i] - 0.1f * (float)i, 1e-6);
    CHECK(after.w[6] == before.w[6]); /* gradients nobody wrote are zero */
    CHECK_EQ(fire_trainer_iter(t), 1);
    fire_trainer_destroy(t);
}

static fire_status_t on_start(void *arg)
{
    ((heard_t *)arg)->calls++;
    return FIRE_OK;
}

static fire_status_t on_gradients(void *arg)
{
    heard_t    *h   = arg;
    fire_net_t *net = fire_trainer_net(h->trainer);
    float      *g;

    h->calls += 100;
    if (h->at == fire_trainer_iter(h->trainer)) return FIRE_ERR_STOPPED;
    for (int i = 0; i < fire_net_nparam(net); i++) {
        fire_blob_t *b = fire_net_param_blob(net, i);

        CHECK_OK(fire_blob_update(b, FIRE_DIFF, FIRE_CPU, &g));
        for (int64_t k = 0; k < fire_blob_count(b); k++)
            g[k] *= 2;
    }
    return FIRE_OK;
}

TEST(hooks_see_and_change_gradients_before_they_are_applied)
{
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;
    fire_trainer_t      *t     = line_make("", NULL), *u;
    heard_t              h     = {.at = 3, .trainer = t};

    hooks.arg             = &h;
    hooks.start           = on_start;
    hooks.gradients_ready = on_gradients;
    CHECK_OK(fire_trainer_set_hooks(t, &hooks));
    CHECK_OK(fire_trainer_step(t, 3));
    CHECK_EQ(h.calls, 303);
    u = line_make("", NULL);
    CHECK_OK(fire_trainer_set_rate(u, 2 * 0.1f));
    CHECK_OK(fire_trainer_step(u, 3));
    CHECK(line_same(line_weights(t), line_weights(u)));
    CHECK(fire_trainer_step(t, 1) == FIRE_ERR_STOPPED);
    fire_trainer_destroy(t);
    fire_trainer_destroy(u);
}

/* With lanes, running statistics wait for the end of the iteration. */
static const char normalized[] =
    "net_param { "
    "layer { name: 'data' type: 'DummyData' top: 'x' top: 't' dummy_data_param { "
    "  shape { dim: 8 dim: 3 } shape { dim: 8 dim: 2 } "
    "  data_filler { type: 'gaussian' std: 1 } data_filler { value: 0.5 } } } "
    "layer { name: 'norm' type: 'BatchNorm' bottom: 'x' top: 'n' } "
    "layer { name: 'drop' type: 'Dropout' bottom: 'n' top: 'd' } "
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'd' top: 'y' "
    "  inner_product_param { num_output: 2 weight_filler { type: 'xavier' } } } "
    "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'y' bottom: 't' top: 'l' } } "
    "base_lr: 0.1 lr_policy: 'fixed' max_iter: 6 snapshot_after_train: false "
    "clip_gradients: 0.5 iter_size: 2 random_seed: 7 solver_mode: CPU "
    "fire { lanes: 4 } ";

/* The running mean of the first channel, and the first weight. */
static void run_normalized(bool halves, float value[2])
{
    fire_trainer_t *t;
    fire_net_t     *net;
    float           before;

    CHECK_OK(fire_trainer_from_text(normalized, strlen(normalized), NULL, &t));
    net = fire_trainer_net(t);
    for (int i = 0; i < 3; i++) {
        if (halves) CHECK_OK(fire_trainer_gradients(t, NULL));
        CHECK_OK(halves ? fire_trainer_update(t) : fire_trainer_step(t, 1));
    }
    value[0] = line_values(fire_net_layer_param(net, 1, 0), FIRE_DATA)[0];
    value[1] =
        line_values(fire_net_param_blob(net, fire_net_nparam(net) - 2), FIRE_DATA)[0];
    before = value[0];
    CHECK_OK(fire_trainer_update(t)); /* there was no pass: no new statistics */
    CHECK(line_values(fire_net_layer_param(net, 1, 0), FIRE_DATA)[0] == before);
    CHECK(before != 0);
    fire_trainer_destroy(t);
}

TEST(halves_treat_statistics_lanes_and_clipping_as_a_step_does)
{
    float whole[2], halves[2];

    run_normalized(false, whole);
    run_normalized(true, halves);
    CHECK(memcmp(whole, halves, sizeof(whole)) == 0);
}

/* ---- several workers ---- */

typedef struct team {
    const char    *fire;
    bool           halves, hooked;
    int            fails; /* this rank, in its hook; -1: none */
    line_weights_t w[4];
} team_t;

static fire_status_t fail_or_go_on(void *arg)
{
    return *(bool *)arg ? FIRE_ERR_UNSUPPORTED : FIRE_OK;
}

static fire_status_t train(void *arg, fire_comm_t *comm)
{
    team_t               *team  = arg;
    int                   rank  = fire_comm_rank(comm);
    bool                  fails = rank == team->fails;
    fire_trainer_config_t c     = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_hooks_t  hooks = FIRE_TRAINER_HOOKS_INIT;
    fire_trainer_t       *t;
    fire_status_t         st;

    c.comm = comm;
    c.fire = team->fire;
    st     = fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t);
    if (st < 0) return st;
    hooks.arg             = &fails;
    hooks.gradients_ready = fail_or_go_on;
    if (team->hooked) CHECK_OK(fire_trainer_set_hooks(t, &hooks));
    for (int i = 0; team->halves && i < 4 && st >= 0; i++) {
        st = fire_trainer_gradients(t, NULL);
        if (st >= 0) st = fire_trainer_update(t);
    }
    if (!team->halves) st = fire_trainer_step(t, 4);
    if (st >= 0 && fire_trainer_size(t) == fire_comm_size(comm))
        team->w[rank] = line_weights(t);
    fire_trainer_destroy(t);
    return st;
}

static void check_team(int n, team_t team, const line_weights_t *want)
{
    CHECK_OK(fire_comm_run_threads(n, NULL, train, &team));
    for (int r = 0; r < n; r++)
        CHECK(line_same(team.w[r], *want));
}

TEST(several_workers_train_the_same_weights_in_every_way)
{
    static const char *const fire[] = {
        "lanes: 4 overlap: 'off'",
        "lanes: 4 overlap: 'thread' comm: 'rhd' bucket_mb: 0",
        "lanes: 4 overlap: 'poll' update: 'sharded'",
    };
    line_weights_t want = line_trained("fire { lanes: 4 }", 4);

    for (int n = 1; n <= 4; n *= 2)
        for (int i = 0; i < 3; i++) {
            team_t team = {.fire = fire[i], .fails = -1};

            check_team(n, team, &want);
            team.hooked = true;
            check_team(n, team, &want);
            team.halves = true;
            check_team(n, team, &want);
        }
}

TEST(the_failure_of_one_worker_ends_the_step_of_all)
{
    team_t team = {.fire = "lanes: 2", .hooked = true, .fails = 1};

    CHECK_FAILS(fire_comm_run_threads(2, NULL, train, &team), FIRE_ERR_UNSUPPORTED,
                "rank 1 (");
    team.fire = "lanes: 1"; /* fewer than workers */
    CHECK_FAILS(fire_comm_run_threads(2, NULL, train, &team), FIRE_ERR_INVALID,
                "1 lane");
}

/* ---- on a GPU ---- */

/* How a trainer is driven. */
typedef enum drive { WHOLE, HALVES, HOOKED } drive_t;

static fire_status_t nothing(void *arg)
{
    (void)arg;
    return FIRE_OK;
}

static void drive(fire_trainer_t *t, drive_t how, int iterations)
{
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;

    hooks.gradients_ready = nothing;
    CHECK_OK(fire_trainer_set_hooks(t, how == HOOKED ? &hooks : NULL));
    if (how != HALVES) {
        CHECK_OK(fire_trainer_step(t, iterations));
        return;
    }
    for (int i = 0; i < iterations; i++) {
        CHECK_OK(fire_trainer_gradients(t, NULL));
        CHECK_OK(fire_trainer_update(t));
    }
}

/* Whole iterations are recorded as a graph, with the settings of then. */
TEST(a_gpu_trains_the_same_in_whole_iterations_and_halves)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    line_weights_t        w[3];
    fire_trainer_t       *t;

    c.gpu = 0;
    if (fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t) < 0)
        test_skip("no GPU");
    fire_trainer_destroy(t);
    for (drive_t how = WHOLE; how <= HOOKED; how++) {
        t = line_make("", &c);
        drive(t, how, 5);
        CHECK_OK(fire_trainer_set(t, "momentum: 0.5 weight_decay: 0.01"));
        drive(t, how, 3);
        CHECK_OK(fire_trainer_set_rate(t, 0.03f));
        drive(t, WHOLE, 3);
        w[how] = line_weights(t);
        fire_trainer_destroy(t);
    }
    CHECK(line_same(w[WHOLE], w[HALVES]) && line_same(w[WHOLE], w[HOOKED]));
}

/* An iteration on a GPU is looked at when two others are under way: a request that has
 * been followed must not be seen again. */
TEST(a_gpu_follows_each_request_once)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    heard_t               h = {.at = -1};
    fire_trainer_t       *t;

    c.gpu = 0;
    if (fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t) < 0)
        test_skip("no GPU");
    fire_trainer_destroy(t);
    t = line_make("", &c);
    CHECK_OK(fire_trainer_set(t, "display: 0 test_interval: 0"));
    listen(t, &h);
    fire_trainer_request(t, FIRE_STOP);
    CHECK_OK(fire_trainer_step(t, 9));
    CHECK_EQ(fire_trainer_iter(t), 1);
    CHECK(fire_trainer_stopped(t));
    CHECK_OK(fire_trainer_step(t, 9));
    CHECK_EQ(fire_trainer_iter(t), 10);
    CHECK(!fire_trainer_stopped(t));
    fire_trainer_request(t, FIRE_SNAPSHOT);
    CHECK_OK(fire_trainer_step(t, 9));
    CHECK(strchr(h.text, 's') != NULL && strchr(h.text, 's') == strrchr(h.text, 's'));
    fire_trainer_destroy(t);
}

static fire_status_t drive_worker(void *arg, fire_comm_t *comm)
{
    line_weights_t       *w = arg;
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *t;

    c.comm = comm;
    c.gpu  = 0;
    c.fire = "lanes: 2";
    for (drive_t how = WHOLE; how <= HOOKED; how++) {
        fire_status_t st =
            fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t);

        if (st < 0) return st;
        drive(t, how, 5);
        if (fire_comm_rank(comm) == 1) w[how] = line_weights(t);
        fire_trainer_destroy(t);
    }
    return FIRE_OK;
}

TEST(workers_on_gpus_train_the_same_in_whole_iterations_and_halves)
{
    line_weights_t w[3];
    fire_status_t  st = fire_comm_run_threads(2, NULL, drive_worker, w);

    if (st == FIRE_ERR_DEVICE) test_skip("no GPU");
    CHECK_OK(st);
    CHECK(line_same(w[WHOLE], w[HALVES]) && line_same(w[WHOLE], w[HOOKED]));
}
