/* gpu_sums.c - gradients of workers that have a GPU each, summed by NCCL: a bucket leaves
 * as soon as backward has finished it, and the host only asks for it. */
#include <string.h>

#include "base/log.h"
#include "train/trainer_state.h"

static const char *reason_against(const fire_trainer_t          *t,
                                  const fire_exchange_options_t *o)
{
    return t->net->ctx.place != FIRE_GPU ? "needs --gpu"
           : o->canonical
               ? "does not give the same bits for any number of workers, which "
                 "--lanes asks for"
           : strcmp(o->compress, "none") != 0 ? "does not compress"
                                              : NULL;
}

fire_status_t fire_trainer_open_nccl(fire_trainer_t                *t,
                                     const fire_exchange_options_t *o)
{
    bool          asked = strcmp(o->algo, "nccl") == 0;
    const char   *why   = reason_against(t, o);
    fire_status_t st;

    if (!asked &&
        (strcmp(o->algo, "auto") != 0 || fire_trainer_size(t) == 1 || why != NULL))
        return FIRE_OK;
    if (why != NULL) return FIRE_FAIL(FIRE_ERR_INVALID, "--comm nccl %s", why);
    st = fire_nccl_open(t->options.comm, t->net->ctx.stream, &t->nccl);
    if (st < 0) {
        if (asked) return st;
        FIRE_LOG(INFO, "Gradients go by the host: %s", fire_last_error());
        return FIRE_OK;
    }
    t->bucket = (int64_t)(o->bucket_bytes / sizeof(float));
    FIRE_LOG(INFO, "Gradients: %.2f MB, by NCCL, from GPU to GPU",
             (double)t->grads->n * sizeof(float) / 1e6);
    return FIRE_OK;
}

static fire_status_t sum_upto(fire_trainer_t *t, int64_t upto)
{
    float  *g = t->grads->here + t->summed;
    int64_t n = upto - t->summed;

    if (n == 0) return FIRE_OK;
    if (t->net->ctx.scaled && t->summed >= t->grads->head)
        FIRE_TRY(fire_gpu_unscale(t->net->ctx.stream, g, n));
    t->summed = upto;
    return fire_nccl_sum(t->nccl, g, n);
}

fire_status_t fire_trainer_sum_head(fire_trainer_t *t)
{
    t->summed = 0;
    return sum_upto(t, t->grads->head);
}

fire_status_t fire_trainer_sum_ready(fire_trainer_t *t, int64_t upto)
{
    return upto - t->summed >= t->bucket ? sum_upto(t, upto) : FIRE_OK;
}

fire_status_t fire_trainer_sum_rest(fire_trainer_t *t)
{
    FIRE_TRY(sum_upto(t, t->grads->n));
    return fire_nccl_join(t->nccl);
}
