/* p2p_open_mpi.c - opens and closes the two-sided transport, and makes its slots.
 *
 * It uses duplicates of MPI_COMM_WORLD, in which a fault becomes a status instead of
 * ending the process. */
#include <limits.h>

#include "base/alloc.h"
#include "comm/transport/p2p_mpi.h"

/* Messages of a channel in flight. SimGrid lets them share the link, so that more than
 * two only make each slower. */
#ifdef FIRE_SIMGRID
enum { WINDOW = 2 };
#else
enum { WINDOW = 8 };
#endif

/* Grow an array whose capacity is exactly `have`. */
static fire_status_t regrow(void *array_p, int64_t have, int64_t want, size_t size)
{
    return fire_grow(array_p, &have, want, size);
}

static fire_status_t add_slots(fire_p2p_t *t, int n)
{
    int               old = t->nslot, want = old + n;
    fire_p2p_block_t *b;

    FIRE_TRY(regrow(&t->slot, old, want, sizeof(*t->slot)));
    FIRE_TRY(regrow(&t->requests, FIRE_P2P_REQUESTS * old, FIRE_P2P_REQUESTS * want,
                    t->job.mpi->request_size));
    FIRE_TRY(regrow(&t->statuses, FIRE_P2P_REQUESTS * old, FIRE_P2P_REQUESTS * want,
                    t->job.mpi->status_size));
    FIRE_TRY(regrow(&t->finished, FIRE_P2P_REQUESTS * old, FIRE_P2P_REQUESTS * want,
                    sizeof(int)));
    FIRE_TRY(regrow(&t->free, old, want, sizeof(*t->free)));
    FIRE_TRY(fire_alloc(1, sizeof(*b) + (size_t)n * sizeof(b->slot[0]), "message slots",
                        (void **)&b));
    b->next   = t->blocks;
    t->blocks = b;
    t->job.mpi->request_clear(t->requests, FIRE_P2P_REQUESTS * old,
                              FIRE_P2P_REQUESTS * n);
    for (int i = 0; i < n; i++) {
        t->slot[old + i]      = &b->slot[i];
        t->free[t->nfree + i] = want - 1 - i;
    }
    t->nfree += n;
    t->nslot = want;
    return FIRE_OK;
}

fire_status_t fire_p2p_reserve(fire_transport_t *tp, int more)
{
    fire_p2p_t *t = fire_p2p_of(tp);

    if (t->reserved + more > t->nslot)
        FIRE_TRY(add_slots(t, t->reserved + more - t->nslot));
    t->reserved += more;
    return FIRE_OK;
}

void fire_p2p_close(fire_transport_t *tp)
{
    fire_p2p_t       *t      = fire_p2p_of(tp);
    fire_mpi_comm_t  *comm[] = {&t->data, &t->receipts, &t->library};
    const fire_mpi_t *mpi    = t->job.mpi; /* NULL, and t->broken: there is none */
    fire_p2p_block_t *next;

    if (!t->broken && !mpi->request_is_clear(t->requests, FIRE_P2P_CONTROL)) {
        mpi->cancel(t->requests, FIRE_P2P_CONTROL);
        mpi->wait(t->requests, FIRE_P2P_CONTROL);
    }
    for (int i = 0; i < 3; i++)
        if (*comm[i] != NULL && !t->broken) mpi->comm_free(comm[i]);
    fire_control_close(&t->control, t->broken);
    fire_job_close(&t->job, t->broken);
    for (fire_p2p_block_t *b = t->blocks; b != NULL; b = next) {
        next = b->next;
        fire_free(b);
    }
    fire_free(t->slot);
    fire_free(t->requests);
    fire_free(t->statuses);
    fire_free(t->finished);
    fire_free(t->free);
    fire_free(t);
}

static fire_status_t set_up(fire_p2p_t *t, fire_mpi_threads_t threads)
{
    int most; /* largest tag */

    FIRE_TRY(fire_job_open(&t->job, threads));
    FIRE_TRY(fire_job_dup(&t->job, &t->data));
    FIRE_TRY(fire_job_dup(&t->job, &t->receipts));
    FIRE_TRY(fire_job_dup(&t->job, &t->library));
    FIRE_TRY(fire_control_open(&t->job, &t->control));
    FIRE_TRY(FIRE_MPI(t->job.mpi, comm_get_attr(t->data, &most)));
    t->base.rank    = t->job.rank;
    t->base.size    = t->job.size;
    t->base.node    = t->job.node_of;
    t->base.max_tag = most >= 0 ? most : SHRT_MAX;
    t->base.window  = WINDOW;
    FIRE_TRY(add_slots(t, 1));
    t->nfree--; /* slot FIRE_P2P_CONTROL is never free */
    t->reserved                         = 1;
    t->slot[FIRE_P2P_CONTROL]->receives = true;
    return fire_control_listen(&t->control, t->requests,
                               FIRE_P2P_REQUESTS * FIRE_P2P_CONTROL);
}

fire_status_t fire_p2p_open_for(fire_mpi_threads_t threads, fire_transport_t **tp_p)
{
    fire_p2p_t   *t;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&t, 1));
    t->base.ops = &fire_p2p_ops;
    st          = set_up(t, threads);
    if (st < 0) {
        t->broken = true;
        fire_p2p_close(&t->base);
        return st;
    }
    *tp_p = &t->base;
    return FIRE_OK;
}

fire_status_t fire_p2p_open(fire_transport_t **tp_p)
{
    return fire_p2p_open_for(FIRE_MPI_MULTIPLE, tp_p);
}

const fire_job_t *fire_p2p_job(const fire_transport_t *tp)
{
    return &((const fire_p2p_t *)tp)->job;
}

bool fire_p2p_is_broken(const fire_transport_t *tp)
{
    return ((const fire_p2p_t *)tp)->broken;
}
