/* p2p_open_mpi.c - opens and closes the two-sided transport, and makes its slots.
 *
 * It uses duplicates of MPI_COMM_WORLD with MPI_ERRORS_RETURN, so that a fault becomes
 * a status instead of ending the process. */
#include <limits.h>

#include "base/alloc.h"
#include "comm/transport/p2p_mpi.h"

/* Messages of a channel in flight. SimGrid lets them share the link, so that more than
 * two only make each slower. */
#ifdef SMPI_H
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
    FIRE_TRY(regrow(&t->request, FIRE_P2P_REQUESTS * old, FIRE_P2P_REQUESTS * want,
                    sizeof(*t->request)));
    FIRE_TRY(regrow(&t->status, FIRE_P2P_REQUESTS * old, FIRE_P2P_REQUESTS * want,
                    sizeof(*t->status)));
    FIRE_TRY(regrow(&t->finished, FIRE_P2P_REQUESTS * old, FIRE_P2P_REQUESTS * want,
                    sizeof(int)));
    FIRE_TRY(regrow(&t->free, old, want, sizeof(*t->free)));
    FIRE_TRY(fire_alloc(1, sizeof(*b) + (size_t)n * sizeof(b->slot[0]), "message slots",
                        (void **)&b));
    b->next   = t->blocks;
    t->blocks = b;
    for (int i = 0; i < FIRE_P2P_REQUESTS * n; i++)
        t->request[FIRE_P2P_REQUESTS * old + i] = MPI_REQUEST_NULL;
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
    MPI_Comm         *comm[] = {&t->data, &t->receipts, &t->library};
    fire_p2p_block_t *next;

    if (!t->broken && t->nslot > 0 &&
        t->request[FIRE_P2P_CONTROL] != MPI_REQUEST_NULL) {
        MPI_Cancel(&t->request[FIRE_P2P_CONTROL]);
        MPI_Wait(&t->request[FIRE_P2P_CONTROL], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 3; i++)
        if (*comm[i] != MPI_COMM_NULL && !t->broken) MPI_Comm_free(comm[i]);
    fire_control_close(&t->control, t->broken);
    fire_job_close(&t->job, t->broken);
    for (fire_p2p_block_t *b = t->blocks; b != NULL; b = next) {
        next = b->next;
        fire_free(b);
    }
    fire_free(t->slot);
    fire_free(t->request);
    fire_free(t->status);
    fire_free(t->finished);
    fire_free(t->free);
    fire_free(t);
}

static fire_status_t set_up(fire_p2p_t *t, int threads)
{
    int *most, found; /* largest tag */

    FIRE_TRY(fire_job_open(&t->job, threads));
    FIRE_TRY(fire_job_dup(&t->job, &t->data));
    FIRE_TRY(fire_job_dup(&t->job, &t->receipts));
    FIRE_TRY(fire_job_dup(&t->job, &t->library));
    FIRE_TRY(fire_control_open(&t->job, &t->control));
    FIRE_TRY(FIRE_MPI(MPI_Comm_get_attr(t->data, MPI_TAG_UB, &most, &found)));
    t->base.rank    = t->job.rank;
    t->base.size    = t->job.size;
    t->base.node    = t->job.node_of;
    t->base.max_tag = found ? *most : SHRT_MAX;
    t->base.window  = WINDOW;
    FIRE_TRY(add_slots(t, 1));
    t->nfree--; /* slot FIRE_P2P_CONTROL is never free */
    t->reserved                         = 1;
    t->slot[FIRE_P2P_CONTROL]->receives = true;
    return fire_control_listen(&t->control,
                               &t->request[FIRE_P2P_REQUESTS * FIRE_P2P_CONTROL]);
}

fire_status_t fire_p2p_open_for(int threads, fire_transport_t **tp_p)
{
    fire_p2p_t   *t;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&t, 1));
    t->base.ops = &fire_p2p_ops;
    t->data = t->receipts = t->library = t->control.comm = MPI_COMM_NULL;

    st = set_up(t, threads);
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
    return fire_p2p_open_for(MPI_THREAD_MULTIPLE, tp_p);
}

MPI_Comm fire_p2p_comm(const fire_transport_t *tp)
{
    return ((const fire_p2p_t *)tp)->job.world;
}

bool fire_p2p_is_broken(const fire_transport_t *tp)
{
    return ((const fire_p2p_t *)tp)->broken;
}
