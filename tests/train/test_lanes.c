/* test_lanes.c - how lanes are shared by workers. */
#include <pthread.h>

#include "comm/transport/threads.h"
#include "base/alloc.h"
#include "run.h"
#include "train/lanes.h"

typedef struct opened {
    fire_team_t *team;
    fire_comm_t *comm;
    int          rank;
} opened_t;

static void *open_comm(void *arg)
{
    opened_t           *o = arg;
    fire_comm_options_t c = FIRE_COMM_OPTIONS_INIT;

    CHECK_OK(fire_comm_open_threads(o->team, o->rank, &c, &o->comm));
    return NULL;
}

static void *close_comm(void *arg)
{
    fire_comm_close(((opened_t *)arg)->comm);
    return NULL;
}

static void on_all(opened_t *o, int n, void *(*run)(void *))
{
    pthread_t thread[16];

    for (int i = 0; i < n; i++)
        CHECK(pthread_create(&thread[i], NULL, run, &o[i]) == 0);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

/* What worker `rank` of so many takes. */
static fire_status_t take(int workers, int rank, uint32_t lanes, fire_trainer_t *t)
{
    Caffe__FireParameter   fire  = CAFFE__FIRE_PARAMETER__INIT;
    Caffe__SolverParameter param = CAFFE__SOLVER_PARAMETER__INIT;
    opened_t               o[16];
    fire_team_t           *team;
    fire_status_t          st;

    CHECK_OK(fire_team_create(workers, &team));
    for (int i = 0; i < workers; i++)
        o[i] = (opened_t){team, NULL, i};
    on_all(o, workers, open_comm);
    fire.lanes      = lanes;
    param.fire      = &fire;
    *t              = (fire_trainer_t){.param = &param};
    t->options.comm = o[rank].comm;
    st              = fire_trainer_take_lanes(t);
    fire_free(t->share);
    on_all(o, workers, close_comm);
    fire_team_destroy(team);
    return st;
}

TEST(each_worker_takes_an_equal_run_of_lanes)
{
    fire_trainer_t t;

    CHECK_OK(take(4, 3, 16, &t));
    CHECK_EQ(t.lanes, 16);
    CHECK_EQ(t.lane_first, 12);
    CHECK_EQ(t.lane_count, 4);
    CHECK_OK(take(3, 1, 0, &t)); /* not set: one per worker */
    CHECK_EQ(t.lanes, 3);
    CHECK_EQ(t.lane_first, 1);
    CHECK_EQ(t.lane_count, 1);
    CHECK_OK(take(1, 0, 7, &t)); /* one worker takes any number */
    CHECK_EQ(t.lane_count, 7);
}

TEST(lanes_that_do_not_divide_differ_by_one)
{
    fire_trainer_t t;

    CHECK_OK(take(3, 1, 8, &t)); /* 3, 3, 2 */
    CHECK_EQ(t.lane_first, 3);
    CHECK_EQ(t.lane_count, 3);
    CHECK_OK(take(3, 2, 8, &t));
    CHECK_EQ(t.lane_count, 2);
}

TEST(more_workers_than_lanes_are_refused)
{
    fire_trainer_t t;

    CHECK_FAILS(take(3, 0, 2, &t), FIRE_ERR_INVALID,
                "2 lanes cannot be shared by 3 workers");
}

static void check_share(int lanes, int workers, const double *weight, const int *want)
{
    int lane[17];

    fire_lanes_share(lanes, workers, weight, lane);
    CHECK_EQ(lane[0], 0);
    for (int r = 0; r < workers; r++)
        CHECK_EQ(lane[r + 1] - lane[r], want[r]);
}

TEST(faster_workers_get_more_lanes)
{
    check_share(8, 3, (double[]){3, 2, 3}, (int[]){3, 2, 3});
    check_share(16, 3, (double[]){3, 2, 3}, (int[]){6, 4, 6});
    check_share(10, 2, (double[]){1, 4}, (int[]){2, 8});
    check_share(5, 3, (double[]){100, 1, 100}, (int[]){2, 1, 2}); /* one at least */
    check_share(7, 3, NULL, (int[]){3, 2, 2});
}

TEST(weights_are_numbers_with_commas)
{
    static const char *const wrong[] = {"", "3,,2", "3,x", "0,1", "-1", "1;2", "nan"};
    double                   w[2];
    int                      n;

    CHECK_OK(fire_lane_weights_parse("3,2.5,1", w, 2, &n));
    CHECK_EQ(n, 3);
    CHECK_NEAR(w[1], 2.5, 0);
    for (int i = 0; i < 7; i++)
        CHECK_FAILS(fire_lane_weights_parse(wrong[i], w, 2, &n), FIRE_ERR_INVALID,
                    "positive numbers with commas");
}
