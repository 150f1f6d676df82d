/* Workers that are threads of one process; those that are processes are tested through
 * the program, under mpirun (tests/tools/flags/test_workers.c). */
#include <stdatomic.h>
#include "launch/run_workers.h"
#include "test.h"

typedef struct seen {
    atomic_int ranks, calls; /* ranks: a bit for each */
    int        fails;        /* this rank; -1: none */
} seen_t;

static fire_status_t note(void *arg, const fire_worker_t *w)
{
    seen_t *s = arg;

    s->calls++;
    s->ranks |= 1 << w->rank;
    if (w->comm != NULL && fire_comm_rank(w->comm) != w->rank) return FIRE_ERR_INVALID;
    if (w->rank == s->fails) return FIRE_FAIL(FIRE_ERR_TIMEOUT, "no more");
    return w->comm != NULL ? fire_comm_barrier(w->comm) : FIRE_OK;
}

static fire_status_t run(int n, fire_status_t ready, seen_t *s)
{
    const fire_workers_t workers = {
        .n = n, .threads = 1, .comm = FIRE_COMM_OPTIONS_INIT};
    bool          reported;
    fire_status_t st = fire_workers_run(&workers, ready, note, s, &reported);

    CHECK(!reported); /* threads have no process that could report for them */
    return st;
}

TEST(one_worker_has_no_communicator)
{
    seen_t s = {.fails = -1};

    CHECK_OK(run(1, FIRE_OK, &s));
    CHECK_EQ(s.calls, 1);
}

TEST(every_worker_is_called_once_with_its_rank)
{
    seen_t s = {.fails = -1};

    CHECK_OK(run(5, FIRE_OK, &s));
    CHECK_EQ(s.calls, 5);
    CHECK_EQ(s.ranks, 0x1f);
}

TEST(the_error_is_that_of_the_worker_where_it_arose)
{
    seen_t s = {.fails = 2};

    CHECK_FAILS(run(4, FIRE_OK, &s), FIRE_ERR_TIMEOUT, "rank 2 (");
    CHECK(strstr(fire_last_error(), "no more") != NULL);
}

TEST(no_worker_begins_where_the_process_is_not_ready)
{
    seen_t s = {.fails = -1};

    CHECK_FAILS(run(3, FIRE_FAIL(FIRE_ERR_IO, "no file"), &s), FIRE_ERR_IO, "no file");
    CHECK_EQ(s.calls, 0);
}

TEST(there_is_a_worker_at_least_and_not_too_many)
{
    seen_t s = {.fails = -1};

    CHECK_FAILS(run(0, FIRE_OK, &s), FIRE_ERR_INVALID, "1 to 1024 workers");
    CHECK_FAILS(run(100000, FIRE_OK, &s), FIRE_ERR_INVALID, "1 to 1024 workers");
    CHECK_EQ(s.calls, 0);
}

TEST(a_single_thread_may_have_a_communicator)
{
    const fire_workers_t workers = {
        .n = 1, .threads = 2, .comm = FIRE_COMM_OPTIONS_INIT};
    seen_t       s = {.fails = -1};
    fire_comm_t *comm;

    CHECK_OK(fire_workers_run_threads(&workers, note, &s));
    CHECK_EQ(s.calls, 1);
    CHECK_OK(fire_workers_join(&workers, &comm));
    CHECK_EQ(fire_comm_size(comm), 1);
    CHECK_EQ(fire_comm_threads(comm), 2);
    fire_comm_close(comm);
}
