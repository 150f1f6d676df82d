/* test_lanes.c - how lanes are shared by workers. */
#include <pthread.h>

#include "comm/transport/threads.h"
#include "run.h"

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

TEST(lanes_that_workers_cannot_share_are_refused)
{
    fire_trainer_t t;

    CHECK_FAILS(take(3, 0, 8, &t), FIRE_ERR_INVALID,
                "8 lanes cannot be shared by 3 workers");
    CHECK_FAILS(take(2, 0, 6, &t), FIRE_ERR_INVALID, "a power of two");
}
