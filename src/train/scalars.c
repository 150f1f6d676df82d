/* scalars.c - adds loss and outputs of the net up over passes and lanes, in the first
 * floats of the gradient array (grads.h). */
#include "train/trainer_state.h"

/* The weight of one pass of this lane in the mean over the batch. */
static float share_of(const fire_trainer_t *t)
{
    return t->net->loss_scale / (float)t->param->iter_size;
}

static bool has_outputs(const fire_trainer_t *t)
{
    return t->grads->nscalar > FIRE_SCALAR_OUTPUTS;
}

fire_status_t fire_trainer_add_scalars(fire_trainer_t *t, float loss)
{
    fire_grads_t *g     = t->grads;
    float         share = share_of(t);
    float        *at    = g->sum + FIRE_SCALAR_OUTPUTS;

    g->sum[FIRE_SCALAR_LOSS] += share * loss;
    for (int i = 0; i < t->net->noutput && has_outputs(t); i++) {
        const float *x;

        FIRE_TRY(fire_net_read_output(t->net, i, FIRE_CPU, &x));
        for (int64_t k = 0; k < t->net->output_size[i]; k++, at++)
            if (x != NULL) *at += share * x[k];
    }
    return FIRE_OK;
}

/* ---- on a GPU, without waiting for it ---- */

/* Additions that one kernel launch does. */
typedef struct terms {
    fire_trainer_t *t;
    int64_t         clear; /* scalars to zero before the first addition */
    int             n;
    fire_gpu_term_t term[FIRE_GPU_TERMS];
} terms_t;

static fire_status_t flush(terms_t *s)
{
    FIRE_TRY(fire_gpu_add_terms(s->t->net->ctx.stream, s->t->grads->here, s->clear,
                                s->term, s->n));
    s->clear = s->n = 0;
    return FIRE_OK;
}

static fire_status_t add(terms_t *s, fire_gpu_term_t term)
{
    if (s->n == FIRE_GPU_TERMS) FIRE_TRY(flush(s));
    s->term[s->n++] = term;
    return FIRE_OK;
}

static fire_status_t add_losses(terms_t *s, const fire_layer_t *l)
{
    const float *x;

    for (int k = 0; k < l->ntop; k++) {
        if (l->loss_weight[k] == 0) continue;
        FIRE_TRY(fire_blob_read(l->top[k], FIRE_DATA, FIRE_GPU, &x));
        FIRE_TRY(add(s, (fire_gpu_term_t){.src = x,
                                          .a   = share_of(s->t) * l->loss_weight[k],
                                          .at  = FIRE_SCALAR_LOSS,
                                          .n   = l->top[k]->count,
                                          .sum = true}));
    }
    return FIRE_OK;
}

static fire_status_t add_outputs(terms_t *s)
{
    const fire_net_t *net = s->t->net;
    int64_t           at  = FIRE_SCALAR_OUTPUTS;
    const float      *x;

    for (int i = 0; i < net->noutput && has_outputs(s->t); i++) {
        FIRE_TRY(fire_net_read_output(net, i, FIRE_GPU, &x));
        if (x != NULL)
            FIRE_TRY(add(s, (fire_gpu_term_t){.src = x,
                                              .a   = share_of(s->t),
                                              .at  = at,
                                              .n   = net->output_size[i]}));
        at += net->output_size[i];
    }
    return FIRE_OK;
}

fire_status_t fire_trainer_add_scalars_gpu(fire_trainer_t *t, bool clear)
{
    terms_t s = {.t = t, .clear = clear ? t->grads->nscalar : 0};

    for (int i = 0; i < t->net->nlayer; i++)
        FIRE_TRY(add_losses(&s, &t->net->layer[i].base));
    FIRE_TRY(add_outputs(&s));
    return flush(&s);
}
