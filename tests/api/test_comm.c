/* Workers by the public headers alone. Tests src/api/comm.c. */
#include <fire/fire.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "test.h"

enum { N = 3 };

/* What the ranks of one run did. */
typedef struct seen {
    atomic_int ranks; /* a bit for each */
    atomic_int threads;
    int        fails; /* this rank; -1: none */
} seen_t;

static fire_status_t exchange(void *arg, fire_comm_t *comm)
{
    seen_t *s       = arg;
    int     rank    = fire_comm_rank(comm);
    float   x[2]    = {(float)rank, 1};
    char    text[8] = "";

    if (fire_comm_size(comm) != N || fire_comm_host(comm, N - 1)[0] == '\0')
        return FIRE_ERR_INVALID;
    s->ranks |= 1 << rank;
    s->threads = fire_comm_threads(comm);
    if (fire_comm_allreduce(comm, "tree", x, 2) < 0 || x[0] != 3 || x[1] != N)
        return FIRE_ERR_INVALID;
    if (rank == 1) strcpy(text, "hello");
    if (fire_comm_broadcast(comm, 1, text, sizeof(text)) < 0 ||
        strcmp(text, "hello") != 0)
        return FIRE_ERR_INVALID;
    return fire_comm_barrier(comm);
}

TEST(threads_of_this_process_are_ranks_that_exchange)
{
    fire_comm_config_t c = FIRE_COMM_CONFIG_INIT;
    seen_t             s = {.fails = -1};

    CHECK_OK(fire_comm_run_threads(N, NULL, exchange, &s));
    CHECK_EQ(s.ranks, 7);
    c.threads = 2;
    CHECK_OK(fire_comm_run_threads(N, &c, exchange, &s));
    CHECK_EQ(s.threads, 2);
}

static fire_status_t alone(void *arg, fire_comm_t *comm)
{
    float x = 5;

    *(int *)arg = fire_comm_size(comm);
    if (fire_comm_allreduce(comm, NULL, &x, 1) < 0 || x != 5) return FIRE_ERR_INVALID;
    return fire_comm_agree(comm, FIRE_OK);
}

TEST(a_single_thread_has_a_communicator_too)
{
    int size = 0;

    CHECK_OK(fire_comm_run_threads(1, NULL, alone, &size));
    CHECK_EQ(size, 1);
}

/* Each rank but the one that fails reports what it got. */
static fire_status_t disagree(void *arg, fire_comm_t *comm)
{
    seen_t       *s    = arg;
    int           rank = fire_comm_rank(comm);
    fire_status_t mine = FIRE_OK, st;

    if (rank == s->fails) mine = fire_comm_allreduce(comm, "no_such", NULL, 0);
    if (rank == s->fails && mine != FIRE_ERR_INVALID) abort();
    st = fire_comm_agree(comm, mine);
    if (st == (rank == s->fails ? FIRE_ERR_INVALID : FIRE_ERR_PEER))
        s->ranks |= 1 << rank;
    return st;
}

TEST(ranks_agree_on_the_failure_of_one)
{
    seen_t s = {.fails = 2};

    CHECK_FAILS(fire_comm_run_threads(N, NULL, disagree, &s), FIRE_ERR_INVALID,
                "rank 2 (");
    CHECK(strstr(fire_last_error(), "no_such") != NULL);
    CHECK_EQ(s.ranks, 7);
}

static fire_status_t leave(void *arg, fire_comm_t *comm)
{
    seen_t *s = arg;

    if (fire_comm_rank(comm) == s->fails) {
        fire_comm_fail(comm);
        return FIRE_ERR_STOPPED;
    }
    return fire_comm_barrier(comm);
}

TEST(who_waits_for_a_rank_that_gave_up_is_told)
{
    seen_t s = {.fails = 1};

    CHECK(fire_comm_run_threads(2, NULL, leave, &s) == FIRE_ERR_STOPPED);
}

TEST(a_process_without_a_launcher_is_the_only_rank_of_its_job)
{
    fire_comm_t *comm;
    int          size = 0;

    CHECK_OK(fire_comm_join_job(NULL, &comm));
    CHECK_EQ(fire_comm_rank(comm), 0);
    CHECK_OK(alone(&size, comm));
    CHECK_EQ(size, 1);
    fire_comm_close(comm);
    fire_comm_close(NULL);
}

TEST(wrong_numbers_of_workers_and_configs_are_refused)
{
    fire_comm_config_t c = FIRE_COMM_CONFIG_INIT;
    fire_comm_t       *comm;
    int                size;

    CHECK_FAILS(fire_comm_run_threads(0, NULL, alone, &size), FIRE_ERR_INVALID,
                "1 to 1024 workers");
    CHECK_FAILS(fire_comm_run_threads(2000, NULL, alone, &size), FIRE_ERR_INVALID,
                "1 to 1024 workers");
    c.threads = -1;
    CHECK_FAILS(fire_comm_join_job(&c, &comm), FIRE_ERR_INVALID, "negative");
    c.size = 1;
    CHECK_FAILS(fire_comm_join_job(&c, &comm), FIRE_ERR_INVALID, "_INIT");
}

static fire_status_t broadcast_from_nobody(void *arg, fire_comm_t *comm)
{
    return fire_comm_broadcast(comm, N, arg, 4);
}

TEST(a_root_that_is_no_rank_is_refused)
{
    int x = 0;

    CHECK_FAILS(fire_comm_run_threads(N, NULL, broadcast_from_nobody, &x),
                FIRE_ERR_INVALID, "no rank 3");
}
