/* reducer_gpu.c - workers that have a GPU each: NCCL sums their gradients from GPU to
 * GPU. A bucket is sent as soon as backward has finished it; the host only queues the
 * work. Without NCCL in the build, fire_nccl_open() says so. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "comm/transport/nccl.h"
#include "net/net_state.h"
#include "train/exchange/reducer.h"

typedef struct reducer_nccl {
    fire_reducer_t base;
    fire_nccl_t   *nccl;
    int64_t        bucket; /* floats that are worth a sum of their own */
    int64_t        summed; /* grads[0 ... summed) is queued in this iteration */
} reducer_nccl_t;

/* Queue the sum of everything up to `upto` that is not queued yet. */
static fire_status_t sum_upto(reducer_nccl_t *x, int64_t upto)
{
    const fire_reducer_t *r = &x->base;
    float                *g = r->grads->here + x->summed;
    int64_t               n = upto - x->summed;

    if (n == 0) return FIRE_OK;
    if (r->net->ctx.scaled && x->summed >= r->grads->head)
        FIRE_TRY(fire_gpu_unscale(r->net->ctx.stream, g, n));
    x->summed = upto;
    return fire_nccl_sum(x->nccl, g, n);
}

static fire_status_t begin(fire_reducer_t *r, int64_t iter)
{
    (void)iter;
    ((reducer_nccl_t *)r)->summed = 0;
    return FIRE_OK;
}

/* The head is a sum of its own, since loss scaling does not apply to it. */
static fire_status_t ready(fire_reducer_t *r, int64_t first, int64_t n)
{
    reducer_nccl_t *x = (reducer_nccl_t *)r;

    if (first > 0 && first + n - x->summed < x->bucket) return FIRE_OK;
    return sum_upto(x, first + n);
}

static fire_status_t finish(fire_reducer_t *r)
{
    reducer_nccl_t *x = (reducer_nccl_t *)r;

    FIRE_TRY(sum_upto(x, r->grads->n));
    FIRE_TRY(fire_nccl_join(x->nccl));
    return fire_reducer_update(r, true);
}

static void destroy(fire_reducer_t *r)
{
    fire_nccl_close(((reducer_nccl_t *)r)->nccl);
    fire_free(r);
}

static const fire_reducer_ops_t nccl_ops = {.name    = "nccl",
                                            .begin   = begin,
                                            .ready   = ready,
                                            .finish  = finish,
                                            .destroy = destroy};

static const char *reason_against(const fire_net_t              *net,
                                  const fire_exchange_options_t *o)
{
    return net->ctx.place != FIRE_GPU ? "needs --gpu"
           : o->canonical
               ? "does not give the same bits for any number of workers, which "
                 "--lanes asks for"
           : strcmp(o->compress, "none") != 0 ? "does not compress"
                                              : NULL;
}

static fire_status_t create(const fire_reducer_t *base, fire_nccl_t *nccl,
                            const fire_exchange_options_t *o,
                            fire_reducer_t               **reducer_p)
{
    reducer_nccl_t *x;
    fire_status_t   st = FIRE_NEW(&x, 1);

    if (st < 0) {
        fire_nccl_close(nccl);
        return st;
    }
    x->base     = *base;
    x->base.ops = &nccl_ops;
    x->nccl     = nccl;
    x->bucket   = (int64_t)(o->bucket_bytes / sizeof(float));
    *reducer_p  = &x->base;
    FIRE_LOG(INFO, "Gradients: %.2f MB, by NCCL, from GPU to GPU",
             (double)base->grads->n * sizeof(float) / 1e6);
    return FIRE_OK;
}

fire_status_t fire_reducer_create_nccl(const fire_reducer_t *base, fire_comm_t *comm,
                                       const fire_exchange_options_t *o,
                                       fire_reducer_t               **reducer_p)
{
    bool          asked = strcmp(o->algo, "nccl") == 0;
    int           size  = comm != NULL ? fire_comm_size(comm) : 1;
    const char   *why   = reason_against(base->net, o);
    fire_nccl_t  *nccl;
    fire_status_t st;

    *reducer_p = NULL;
    if (!asked && (strcmp(o->algo, "auto") != 0 || size == 1 || why != NULL))
        return FIRE_OK;
    if (why != NULL) return FIRE_FAIL(FIRE_ERR_INVALID, "--comm nccl %s", why);
    st = fire_nccl_open(comm, base->net->ctx.stream, &nccl);
    if (st < 0) {
        if (asked) return st;
        FIRE_LOG(INFO, "Gradients go by the host: %s", fire_last_error());
        return FIRE_OK;
    }
    return create(base, nccl, o, reducer_p);
}
