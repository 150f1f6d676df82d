/* Sinks of trainers' own, and views of their nets' blobs while they train. Tests
 * src/train/enter.c. */
#include "line.h"

/* ---- sinks ---- */

typedef struct sink {
    int  n;
    bool solver, iteration, rank1;
} sink_t;

static void count(void *arg, fire_log_level_t level, const char *file, int line,
                  const char *message)
{
    sink_t *s = arg;

    (void)level, (void)file, (void)line;
    s->n++;
    s->solver |= strstr(message, "Solver scaffolding done.") != NULL;
    s->iteration |= strstr(message, "Iteration 2 (") != NULL;
    s->rank1 |= strstr(message, "rank 1 (") != NULL;
}

static fire_trainer_t *make_logged(sink_t *sink)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;

    c.log.sink  = count;
    c.log.arg   = sink;
    c.log.least = FIRE_INFO;
    return line_make("", &c);
}

TEST(a_trainer_has_a_sink_of_its_own)
{
    sink_t          a = {0}, b = {0}, rest = {0};
    fire_trainer_t *t, *u, *v;
    int             n;

    fire_log_set_sink(count, &rest, FIRE_INFO);
    t = make_logged(&a);
    u = make_logged(&b);
    CHECK(a.solver && b.solver && !rest.solver);
    n = b.n;
    CHECK_OK(fire_trainer_step(t, 3));
    CHECK(a.iteration && !b.iteration && !rest.iteration);
    CHECK_EQ(b.n, n);
    CHECK_EQ(rest.n, 0);
    v = line_make("", NULL);
    CHECK(rest.solver);
    CHECK_OK(fire_trainer_step(u, 1));
    CHECK(b.n > n);
    fire_trainer_destroy(t);
    fire_trainer_destroy(u);
    fire_trainer_destroy(v);
    fire_log_set_sink(NULL, NULL, FIRE_ERROR);
}

/* ---- views ---- */

/* What hooks see by views of the weights and their gradients. */
typedef struct looker {
    fire_trainer_t *trainer;
    fire_view_t    *w, *g;
    float           w_at_start, w_before, g_sum;
    float           scale; /* for the gradients */
    int             starts;
} looker_t;

static float sum(const fire_view_t *v, int n)
{
    float s = 0;

    for (int i = 0; i < n; i++)
        s += fire_view_values(v)[i];
    return s;
}

static fire_status_t on_start(void *arg)
{
    looker_t *l = arg;

    l->starts++;
    l->w_at_start = sum(l->w, 6);
    return FIRE_OK;
}

static fire_status_t on_gradients(void *arg)
{
    looker_t *l = arg;

    l->g_sum = sum(l->g, 6);
    for (int i = 0; i < 6; i++)
        fire_view_values(l->g)[i] *= l->scale;
    return FIRE_OK;
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    looker_t *l = arg;

    if (e->kind != FIRE_TRAIN_ITERATION) return;
    CHECK_OK(fire_trainer_sync(l->trainer));
    l->w_before = sum(l->w, 6);
}

static void look(fire_trainer_t *t, looker_t *l)
{
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;
    fire_blob_t         *w     = fire_net_param_blob(fire_trainer_net(t), 0);

    l->trainer = t;
    CHECK_OK(fire_blob_view(w, FIRE_DATA, FIRE_CPU, &l->w));
    CHECK_OK(fire_blob_view(w, FIRE_DIFF, FIRE_CPU, &l->g));
    hooks.arg             = l;
    hooks.start           = on_start;
    hooks.gradients_ready = on_gradients;
    hooks.event           = on_event;
    CHECK_OK(fire_trainer_set_hooks(t, &hooks));
}

static void check_views(const fire_trainer_config_t *c)
{
    fire_trainer_t *t = line_make("", c);
    looker_t        l = {.scale = 0};
    line_weights_t  w;
    float           before;

    look(t, &l);
    before = sum(l.w, 6);
    CHECK_OK(fire_trainer_step(t, 2)); /* gradients times 0: nothing changes */
    CHECK_EQ(l.starts, 2);
    CHECK(l.g_sum != 0);
    CHECK(sum(l.w, 6) == before && l.w_at_start == before && l.w_before == before);
    l.scale = 1;
    CHECK_OK(fire_trainer_step(t, 1));
    CHECK(l.w_at_start == before && l.w_before != before);
    CHECK(sum(l.w, 6) == l.w_before);
    w = line_weights(t);
    CHECK(memcmp(w.w, fire_view_values(l.w), 6 * sizeof(float)) == 0);

    for (int i = 0; i < 6; i++) /* what is written is what is trained with */
        fire_view_values(l.w)[i] = 100;
    l.scale = 0;
    CHECK_OK(fire_trainer_set(t, "momentum: 0"));
    CHECK_OK(fire_trainer_step(t, 1));
    CHECK_NEAR(line_weights(t).w[5], 100, 0);
    fire_trainer_destroy(t);
    CHECK_NEAR(fire_view_values(l.w)[0], 100, 0);
    fire_view_destroy(l.w);
    fire_view_destroy(l.g);
}

TEST(views_of_weights_and_gradients_are_live_in_hooks_and_between_calls)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;

    check_views(&c);
    c.mode = FIRE_OBSERVED;
    check_views(&c);
    c.fire = "lanes: 4";
    check_views(&c);
}

TEST(views_are_live_on_a_gpu)
{
    fire_trainer_config_t c = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_t       *t;

    c.gpu = 0;
    if (fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t) < 0)
        test_skip("no GPU");
    CHECK_EQ(fire_net_gpu(fire_trainer_net(t)), 0);
    CHECK_EQ(fire_net_gpu(fire_trainer_test_net(t, 0)), 0);
    fire_trainer_destroy(t);
    check_views(&c);
}

static fire_status_t watch_both(void *arg, fire_comm_t *comm)
{
    fire_trainer_config_t  c   = FIRE_TRAINER_CONFIG_INIT;
    fire_trainer_config_t *own = arg;
    fire_trainer_t        *t;
    looker_t               l = {.scale = 1};
    fire_status_t          st;

    c      = *own;
    c.comm = comm;
    st     = fire_trainer_from_text(LINE_SOLVER, strlen(LINE_SOLVER), &c, &t);
    if (st < 0) return st;
    look(t, &l);
    st = fire_trainer_step(t, 3);
    if (st >= 0 && sum(l.w, 6) != l.w_before) st = fire_fail(FIRE_ERR_INVALID, "stale");
    fire_view_destroy(l.w);
    fire_view_destroy(l.g);
    fire_trainer_destroy(t);
    return st;
}

TEST(workers_have_live_views_and_one_sink)
{
    static const char *const fire[] = {"lanes: 4 overlap: 'thread'",
                                       "lanes: 4 update: 'sharded'"};
    fire_trainer_config_t    c      = FIRE_TRAINER_CONFIG_INIT;
    sink_t                   sink   = {0};

    c.log.sink = count;
    c.log.arg  = &sink;
    for (int i = 0; i < 2; i++) {
        c.fire = fire[i];
        CHECK_OK(fire_comm_run_threads(2, NULL, watch_both, &c));
    }
    CHECK(sink.solver && !sink.rank1);
}
