/* test_cluster.c - all transports between the processes of an MPI job. MPI can be
 * started only once in a process, so there is one test; started by hand it is a job of
 * one rank. Tests src/comm/transport/. */
#include <stdlib.h>
#include <unistd.h>

#include "sums.h"
#include "test.h"

#include "base/alloc.h"
#include "comm/comm_state.h"
#include "comm/transport/cluster.h"

enum { MOST = 1000003 };

static void check_with(fire_comm_t *c, float *buf)
{
    static const size_t counts[] = {0, 1, 7, 1000, MOST};
    float              *want;

    CHECK_OK(FIRE_NEW(&want, MOST));
    canonical_sum(fire_comm_size(c), want, MOST);
    for (int k = 0; k < 5; k++)
        check_sums(c, want, buf, counts[k], k < 4 ? 200 : 0);
    fire_free(want);
}

/* In memory that the node shares, and in memory that it does not. */
static void check_transport(fire_comm_t *c)
{
    const size_t bytes = MOST * sizeof(float);
    void        *shared, *plain;

    CHECK_OK(fire_comm_alloc(c, bytes, &shared));
    check_with(c, shared);
    fire_comm_free(c, shared);
    CHECK_OK(fire_alloc(bytes, 1, "buffer", &plain));
    check_with(c, plain);
    fire_free(plain);
}

/* Who pretends to be alone on its node lets nobody into its memory. */
static void check_apart(void)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
    fire_comm_t        *c;
    void               *own;
    int                 next;

    o.ranks_per_node = 1;
    CHECK_OK(fire_comm_open_cluster(&o, &c));
    next = (fire_comm_rank(c) + 1) % fire_comm_size(c);
    CHECK_OK(fire_comm_alloc(c, MOST * sizeof(float), &own));
    if (next != fire_comm_rank(c)) CHECK(!c->tp->ops->reaches(c->tp, next, own));
    check_with(c, own);
    fire_comm_free(c, own);
    fire_comm_close(c);
}

static void check_library(fire_comm_t *c)
{
    float x[100];

    contribute(fire_comm_rank(c), x, 100);
    CHECK_OK(fire_comm_allreduce(c, "mpi", x, 100));
    for (size_t i = 0; i < 100; i++)
        CHECK_NEAR(x[i], exact_sum(fire_comm_size(c), i), 1e-4);
}

/* Ranks look after what they have started in different orders. */
static void check_library_order(fire_comm_t *c)
{
    enum { N = 6 };
    fire_collective_t *x[N];
    float              buf[N][1000];

    for (int k = 0; k < N; k++) {
        const fire_collective_options_t o = {.algo = "mpi"};

        contribute(fire_comm_rank(c), buf[k], 1000);
        CHECK_OK(fire_collective_create(c, &o, buf[k], (size_t)(100 + 100 * k), &x[k]));
    }
    for (int k = 0; k < N; k++)
        CHECK_OK(fire_collective_start(x[k]));
    for (int k = 0; k < N; k++)
        CHECK_OK(fire_collective_wait(x[fire_comm_rank(c) % 2 ? k : N - 1 - k]));
    for (int k = 0; k < N; k++) {
        CHECK_NEAR(buf[k][99], exact_sum(fire_comm_size(c), 99), 1e-4);
        fire_collective_destroy(x[k]);
    }
}

static void check_agreement(fire_comm_t *c)
{
    int           last = fire_comm_size(c) - 1;
    fire_status_t st   = FIRE_OK;

    CHECK_OK(fire_comm_agree(c, FIRE_OK));
    if (fire_comm_rank(c) == last)
        CHECK_FAILS(fire_comm_agree(c, FIRE_FAIL(FIRE_ERR_IO, "disk full")),
                    FIRE_ERR_IO, "disk full");
    else
        CHECK_FAILS(fire_comm_agree(c, st), FIRE_ERR_PEER, "disk full");
}

/* comm/openmpi/stopped runs it and looks at the output: mpirun always reports a job that
 * ends in disorder as failed. */
TEST(a_process_that_stops_is_named_by_the_others)
{
    fire_comm_options_t o = {.timeout = 1};
    fire_comm_t        *c;
    float               x[1000] = {0};
    fire_status_t       st;

    if (getenv("FIRE_TEST_STOP") == NULL) test_skip("run by comm/openmpi/stopped");
    CHECK_OK(fire_comm_open_cluster(&o, &c));
    if (fire_comm_rank(c) == 2) sleep(20);
    st = fire_comm_allreduce(c, "tree", x, 1000);
    CHECK(st == FIRE_ERR_TIMEOUT || st == FIRE_ERR_PEER);
    printf("rank %d knows: %s\n", fire_comm_rank(c), fire_last_error());
    fflush(stdout);
    sleep(2); /* let the others print before mpirun kills them */
    fire_comm_close(c);
}

TEST(everything_holds_between_processes)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
    fire_comm_t        *two_sided, *one_sided;
    fire_status_t       st = fire_comm_open_cluster(&o, &two_sided);

    if (st == FIRE_ERR_UNSUPPORTED && !fire_cluster_launched())
        test_skip(fire_last_error()); /* no MPI here */
    CHECK_OK(st);
    check_transport(two_sided);
    check_library(two_sided);
    check_library_order(two_sided);
    check_agreement(two_sided);
    o.onesided = true;
    CHECK_OK(fire_comm_open_cluster(&o, &one_sided));
    CHECK_STR(fire_comm_transport(one_sided), "rma"); /* on one node it must work */
    check_transport(one_sided);
    check_apart();
    fire_comm_close(one_sided);
    fire_comm_close(two_sided);
}
