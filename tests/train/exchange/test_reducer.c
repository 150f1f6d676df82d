/* test_reducer.c - the kinds of reducers give the same weights. Tests
 * src/train/exchange/reducer.c, src/train/exchange/reducer_local.c,
 * src/train/exchange/reducer_exchange.c, src/train/exchange/reducer_gpu.c. */
#include "train/exchange/reducer.h"

#include "base/alloc.h"
#include "comm/transport/threads.h"
#include "model/load.h"
#include "model/text.h"
#include "net/net_state.h"
#include "test.h"

/* A net, its solver, and one worker's communicator. */
typedef struct rig {
    Caffe__SolverParameter *param;
    fire_net_t             *net;
    fire_solver_t          *solver;
    fire_team_t            *team;
    fire_comm_t            *comm;
    fire_grads_t           *grads;
    fire_reducer_t         *reducer;
} rig_t;

static rig_t open_rig(const char *solver)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    fire_comm_options_t  c = FIRE_COMM_OPTIONS_INIT;
    Caffe__NetParameter *net;
    ProtobufCMessage    *m;
    rig_t                r = {0};

    o.phase = CAFFE__PHASE__TRAIN;
    CHECK_OK(fire_text_parse(solver, strlen(solver), "solver",
                             &caffe__solver_parameter__descriptor, &m));
    r.param = (Caffe__SolverParameter *)m;
    CHECK_OK(fire_net_param_load_text(
        test_source("tests/train/nets/two_layers.prototxt"), &net));
    CHECK_OK(fire_net_create(net, &o, &r.net));
    CHECK_OK(fire_solver_create(r.param, r.net, &r.solver));
    CHECK_OK(fire_team_create(1, &r.team));
    CHECK_OK(fire_comm_open_threads(r.team, 0, &c, &r.comm));
    fire_message_free(net);
    return r;
}

static void close_rig(rig_t *r)
{
    fire_reducer_destroy(r->reducer);
    fire_solver_destroy(r->solver);
    fire_net_destroy(r->net);
    fire_grads_destroy(r->grads);
    fire_comm_close(r->comm);
    fire_team_destroy(r->team);
    fire_message_free(r->param);
}

static void make_local(rig_t *r)
{
    const fire_reducer_options_t o = {.param      = r->param,
                                      .net        = r->net,
                                      .solver     = r->solver,
                                      .lanes      = 1,
                                      .lane_count = 1};

    CHECK_OK(fire_reducer_create(&o, &r->grads, &r->reducer));
    CHECK_STR(r->reducer->ops->name, "local");
}

/* Alone, but with the engine: its sums have one term. */
static void make_exchange(rig_t *r, fire_exchange_options_t o)
{
    fire_grads_options_t g    = {.comm = r->comm, .lanes = 1, .weights = o.sharded};
    fire_reducer_t       base = {.net = r->net, .solver = r->solver};

    CHECK_OK(fire_grads_create(r->net, &g, &r->grads));
    base.grads     = r->grads;
    o.algo         = "tree";
    o.bucket_bytes = 64;
    CHECK_OK(fire_reducer_create_exchange(&base, r->comm, &o, &r->reducer));
    CHECK_STR(r->reducer->ops->name, "exchange");
}

/* One iteration of one lane, as iterate.c runs it, with gradients that are numbers of
 * their place instead of a backward pass. */
static void iterate(rig_t *r, int iter)
{
    fire_grads_t *g = r->grads;

    for (int i = 0; i < r->net->nlayer; i++)
        CHECK_OK(fire_reducer_wait(r->reducer, (int64_t)g->span[i].off,
                                   (int64_t)g->span[i].len));
    CHECK_OK(fire_reducer_wait(r->reducer, 0, g->head));
    CHECK_OK(fire_grads_clear(g, 0, g->n));
    CHECK_OK(fire_grads_settle(g, 0, g->n));
    CHECK_OK(fire_solver_begin(r->solver));
    CHECK_OK(fire_reducer_begin(r->reducer, iter));
    g->here[FIRE_SCALAR_LOSS] = (float)iter;
    CHECK_OK(fire_reducer_ready(r->reducer, 0, g->head));
    for (int i = r->net->nlayer - 1; i >= 0; i--) {
        fire_span_t s = g->span[i];

        CHECK_OK(fire_reducer_beat(r->reducer));
        if (s.len == 0) continue;
        for (size_t k = s.off; k < s.off + s.len; k++)
            g->here[k] = 0.01f * (float)((int)k % 37 - 18 + iter);
        CHECK_OK(fire_reducer_ready(r->reducer, (int64_t)s.off, (int64_t)s.len));
    }
    CHECK_OK(fire_reducer_finish(r->reducer));
    CHECK_OK(fire_reducer_wait(r->reducer, 0, g->head));
    CHECK_EQ(g->sum[FIRE_SCALAR_LOSS], iter);
    fire_solver_end(r->solver);
}

static void train(rig_t *r)
{
    for (int iter = 0; iter < 5; iter++)
        iterate(r, iter);
    CHECK_OK(fire_reducer_sync(r->reducer));
}

static void check_same_weights(const rig_t *a, const rig_t *b)
{
    for (int i = 0; i < a->net->nparam; i++) {
        const float *x, *y;
        int64_t      n = fire_blob_count(a->net->learn[i].blob);

        CHECK_OK(fire_blob_read(a->net->learn[i].blob, FIRE_DATA, FIRE_CPU, &x));
        CHECK_OK(fire_blob_read(b->net->learn[i].blob, FIRE_DATA, FIRE_CPU, &y));
        CHECK(memcmp(x, y, (size_t)n * sizeof(*x)) == 0);
    }
}

#define SOLVER "base_lr: 0.1 lr_policy: 'fixed' momentum: 0.9 weight_decay: 0.01 "

TEST(local_gives_the_same_as_exchange_with_one_worker)
{
    static const fire_exchange_options_t how[] = {
        {.overlap = FIRE_OVERLAP_THREAD},
        {.overlap = FIRE_OVERLAP_POLL},
        {.overlap = FIRE_OVERLAP_OFF},
        {.overlap = FIRE_OVERLAP_OFF, .sharded = true},
    };

    for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
        rig_t local = open_rig(SOLVER), exchange = open_rig(SOLVER);

        make_local(&local);
        make_exchange(&exchange, how[i]);
        CHECK(fire_exchange_nbucket(fire_reducer_engine(exchange.reducer)) == 3);
        CHECK(fire_reducer_engine(local.reducer) == NULL);
        train(&local);
        train(&exchange);
        check_same_weights(&local, &exchange);
        close_rig(&local);
        close_rig(&exchange);
    }
}

TEST(clipping_gives_the_same_by_both)
{
    rig_t local    = open_rig(SOLVER "clip_gradients: 0.05"),
          exchange = open_rig(SOLVER "clip_gradients: 0.05"), loose = open_rig(SOLVER);

    make_local(&local);
    make_local(&loose);
    make_exchange(&exchange, (fire_exchange_options_t){.overlap = FIRE_OVERLAP_POLL,
                                                       .hold    = true});
    train(&local);
    train(&loose);
    train(&exchange);
    check_same_weights(&local, &exchange);
    CHECK(local.solver->clip_scale < 1 && loose.solver->clip_scale == 1);
    close_rig(&local);
    close_rig(&loose);
    close_rig(&exchange);
}

TEST(only_a_local_reducer_lets_the_host_work_ahead)
{
    rig_t local = open_rig(SOLVER), exchange = open_rig(SOLVER);

    make_local(&local);
    make_exchange(&exchange, (fire_exchange_options_t){.overlap = FIRE_OVERLAP_OFF});
    CHECK(local.reducer->ops->unattended && !exchange.reducer->ops->unattended);
    CHECK(!local.reducer->ops->sums_on_host && exchange.reducer->ops->sums_on_host);
    close_rig(&local);
    close_rig(&exchange);
}

TEST(nccl_is_refused_where_it_cannot_be_used)
{
    rig_t                  r = open_rig(SOLVER "fire { comm: 'nccl' }");
    fire_reducer_options_t o = {.param      = r.param,
                                .comm       = r.comm,
                                .net        = r.net,
                                .solver     = r.solver,
                                .lanes      = 1,
                                .lane_count = 1};

    CHECK_FAILS(fire_reducer_create(&o, &r.grads, &r.reducer), FIRE_ERR_INVALID,
                "--comm nccl needs --gpu");
    close_rig(&r);
}
