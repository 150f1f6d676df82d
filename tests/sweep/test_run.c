/* Points that are trained, by one worker and by two. */
#include "sweeps.h"

typedef struct caller {
    fire_sweep_run_t run;
    int              opened, closed;
    bool             stops;
} caller_t;

static bool stop(void *arg)
{
    return ((caller_t *)arg)->stops;
}

static fire_status_t open_device(void *arg, int rank, fire_ctx_t *ctx)
{
    (void)rank, (void)ctx;
    __atomic_add_fetch(&((caller_t *)arg)->opened, 1, __ATOMIC_RELAXED);
    return FIRE_OK;
}

static void close_device(void *arg, fire_ctx_t *ctx)
{
    (void)ctx;
    __atomic_add_fetch(&((caller_t *)arg)->closed, 1, __ATOMIC_RELAXED);
}

static void progress(void *arg, const char *point, int64_t iter, int64_t max_iter)
{
    (void)arg;
    CHECK(strncmp(point, "batch8_lr", 9) == 0);
    CHECK(iter <= max_iter);
}

static fire_status_t work(void *arg, const fire_worker_t *w)
{
    return fire_sweep_train(&((caller_t *)arg)->run, w);
}

/* How many of the points are finished afterwards. */
static int train(const fire_sweep_t *s, int workers, caller_t *caller)
{
    const fire_workers_t w = {
        .n = workers, .threads = 1, .comm = FIRE_COMM_OPTIONS_INIT};
    fire_point_result_t r;
    int                 finished = 0;
    bool                told;

    caller->run = (fire_sweep_run_t){.sweep        = s,
                                     .options      = FIRE_TRAINER_OPTIONS_INIT,
                                     .arg          = caller,
                                     .stop         = stop,
                                     .open_device  = open_device,
                                     .close_device = close_device,
                                     .progress     = progress};
    CHECK_OK(fire_workers_run(&w, FIRE_OK, work, caller, &told));
    for (int i = 0; i < fire_sweep_points(s); i++) {
        CHECK_OK(fire_sweep_read_result(s, i, &r));
        finished += fire_point_is_finished(&r);
    }
    return finished;
}

TEST(every_point_is_trained_once_and_not_again)
{
    fire_sweep_t s      = make_sweep("", "0.1,0.2,0.3");
    caller_t     caller = {0};

    CHECK_EQ(train(&s, 1, &caller), 3);
    CHECK_EQ(caller.opened, 3);
    CHECK_EQ(caller.closed, 3);
    CHECK_EQ(train(&s, 1, &caller), 3);
    CHECK_EQ(caller.opened, 3);
    fire_sweep_close(&s);
}

TEST(two_workers_divide_the_points)
{
    fire_sweep_t s      = make_sweep("", "0.1,0.2,0.3");
    caller_t     caller = {0};

    CHECK_EQ(train(&s, 2, &caller), 3);
    CHECK_EQ(caller.opened, 3);
    fire_sweep_close(&s);
}

TEST(a_user_who_asks_to_stop_gets_no_point_trained)
{
    fire_sweep_t s      = make_sweep("", "0.1,0.2");
    caller_t     caller = {.stops = true};

    CHECK_EQ(train(&s, 1, &caller), 0);
    CHECK_EQ(caller.opened, 0);
    fire_sweep_close(&s);
}
