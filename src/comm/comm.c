/* comm.c - opens a communicator over a transport: node numbers, host names, how long
 * to spin while waiting; and forwards small calls to the transport. */
#include "comm/comm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "comm/comm_state.h"
#include "comm/select/select.h"

enum {
    PATIENCE      = 20000, /* spins, a few milliseconds */
    KERNEL_ID_LEN = 40     /* bytes of a boot id, a UUID as text */
};

int fire_comm_rank(const fire_comm_t *c)
{
    return c->tp->rank;
}

int fire_comm_size(const fire_comm_t *c)
{
    return c->tp->size;
}

int fire_comm_node(const fire_comm_t *c, int rank)
{
    return c->node[rank];
}

const char *fire_comm_host(const fire_comm_t *c, int rank)
{
    return c->host + (size_t)rank * FIRE_HOST_LEN;
}

int fire_comm_threads(const fire_comm_t *c)
{
    return c->threads;
}

void fire_comm_set_threads(fire_comm_t *c, int threads)
{
    c->threads = threads;
}

const char *fire_comm_transport(const fire_comm_t *c)
{
    return c->tp->ops->name;
}

const char *fire_comm_name(const void *comm, int rank, char *text, size_t size)
{
    const fire_comm_t *c = comm;

    if (c->host == NULL)
        snprintf(text, size, "%d", rank);
    else
        snprintf(text, size, "%d (%s)", rank, fire_comm_host(c, rank));
    return text;
}

/* If ranks share no memory, plain memory is better than an MPI window: it comes in
 * large pages. */
fire_status_t fire_comm_alloc(fire_comm_t *c, size_t bytes, void **memory_p)
{
    if (c->apart) return fire_alloc(bytes, 1, "exchange buffer", memory_p);
    return c->tp->ops->alloc(c->tp, bytes, memory_p);
}

void fire_comm_free(fire_comm_t *c, void *memory)
{
    if (c->apart)
        fire_free(memory);
    else if (memory != NULL)
        c->tp->ops->dealloc(c->tp, memory);
}

/* If the lock is taken, a blocking call is running and polls by itself. */
fire_status_t fire_comm_poll(fire_comm_t *c)
{
    fire_status_t st;

    if (pthread_mutex_trylock(&c->in_use) != 0) return FIRE_OK;
    st = c->tp->ops->poll(c->tp);
    pthread_mutex_unlock(&c->in_use);
    return st;
}

fire_status_t fire_comm_idle(fire_comm_t *c, fire_pause_t *pause)
{
    if (c->tp->ops->wait != NULL) return c->tp->ops->wait(c->tp);
    pause->patience = c->patience;
    fire_pause(pause);
    return FIRE_OK;
}

void fire_comm_fail(fire_comm_t *c)
{
    c->tp->ops->fail(c->tp, fire_last_error());
}

static fire_status_t learn_nodes(fire_comm_t *c, const fire_comm_options_t *o)
{
    FIRE_TRY(FIRE_NEW(&c->node, c->tp->size));
    for (int r = 0; r < c->tp->size; r++)
        c->node[r] = o->ranks_per_node > 0 ? r / o->ranks_per_node : c->tp->node[r];
    c->apart = o->ranks_per_node == 1;
    return FIRE_OK;
}

static fire_status_t learn_hosts(fire_comm_t *c)
{
    char mine[FIRE_HOST_LEN] = "";

    FIRE_TRY(FIRE_NEW(&c->host, c->tp->size * FIRE_HOST_LEN));
    gethostname(mine, sizeof(mine) - 1);
    return fire_comm_allgather(c, mine, sizeof(mine), c->host);
}

/* An id that all ranks on one machine share, even in containers, which have host names
 * of their own. Empty if the kernel does not tell. */
static void read_kernel_id(char id[KERNEL_ID_LEN])
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");

    memset(id, 0, KERNEL_ID_LEN);
    if (f == NULL) return;
    if (fgets(id, KERNEL_ID_LEN, f) == NULL) id[0] = '\0';
    fclose(f);
}

/* A process that yields its core gets it back after another program's time slice, which
 * is a thousand times longer than a message takes. Where every rank has a core of its
 * own, waiting ranks therefore spin for some milliseconds before they yield. */
static fire_status_t learn_patience(fire_comm_t *c)
{
    char          mine[KERNEL_ID_LEN], *all;
    int           here = 0;
    fire_status_t st;

    read_kernel_id(mine);
    FIRE_TRY(FIRE_NEW(&all, c->tp->size * KERNEL_ID_LEN));
    st = fire_comm_allgather(c, mine, sizeof(mine), all);
    for (int r = 0; r < c->tp->size && st >= 0; r++)
        here += memcmp(all + (size_t)r * KERNEL_ID_LEN, mine, KERNEL_ID_LEN) == 0;
    c->patience = here <= fire_parallel_threads(0) ? PATIENCE : 0;
    fire_free(all);
    return st;
}

static fire_status_t set_up(fire_comm_t *c, const fire_comm_options_t *o)
{
    const fire_collective_options_t flag_sum = {.op = FIRE_ALLREDUCE, .algo = "tree"};

    c->timeout = o->timeout;
    FIRE_TRY(learn_nodes(c, o));
    FIRE_TRY(FIRE_NEW(&c->flag, 1));
    FIRE_TRY(fire_collective_create(c, &flag_sum, c->flag, 1, &c->flag_sum));
    FIRE_TRY(learn_hosts(c));
    FIRE_TRY(learn_patience(c));
    return fire_tuning_read(c, o->tuning, &c->tuning);
}

fire_status_t fire_comm_open(fire_transport_t *tp, const fire_comm_options_t *options,
                             fire_comm_t **comm_p)
{
    fire_comm_t  *c;
    fire_status_t st = FIRE_NEW(&c, 1);

    if (st < 0) {
        tp->ops->close(tp);
        return st;
    }
    c->tp = tp;
    pthread_mutex_init(&c->in_use, NULL);
    st = set_up(c, options);
    if (st < 0) {
        /* FIRE_ERR_PEER: the cause is another rank's, which has reported it already;
         * a second report could overtake the first. */
        if (st != FIRE_ERR_PEER) fire_comm_fail(c);
        fire_comm_close(c);
        return st;
    }
    *comm_p = c;
    return FIRE_OK;
}

fire_status_t fire_comm_open_threads(fire_team_t *team, int rank,
                                     const fire_comm_options_t *options,
                                     fire_comm_t              **comm_p)
{
    fire_transport_t *tp;

    FIRE_TRY(fire_threads_open(team, rank, &tp));
    return fire_comm_open(tp, options, comm_p);
}

fire_status_t fire_comm_open_alone(const fire_comm_options_t *options,
                                   fire_comm_t              **comm_p)
{
    fire_team_t  *team;
    fire_status_t st;

    FIRE_TRY(fire_team_create(1, &team));
    st = fire_comm_open_threads(team, 0, options, comm_p);
    if (st < 0)
        fire_team_destroy(team);
    else
        (*comm_p)->alone = team;
    return st;
}

fire_status_t fire_comm_open_cluster(const fire_comm_options_t *options,
                                     fire_comm_t              **comm_p)
{
    fire_transport_t *tp;

    FIRE_TRY(options->onesided ? fire_rma_open(&tp) : fire_p2p_open(&tp));
    return fire_comm_open(tp, options, comm_p);
}

void fire_comm_close(fire_comm_t *c)
{
    if (c == NULL) return;
    fire_collective_destroy(c->flag_sum);
    fire_tuning_destroy(c->tuning);
    fire_free(c->flag);
    fire_free(c->node);
    fire_free(c->host);
    c->tp->ops->close(c->tp);
    fire_team_destroy(c->alone);
    pthread_mutex_destroy(&c->in_use);
    fire_free(c);
}
