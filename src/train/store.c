/* store.c - data_store: "memory": each worker keeps a part of the training data in its
 * memory, and workers exchange records between epochs. */
#include <string.h>

#include "base/alloc.h"
#include "comm/alltoall.h"
#include "layers/data/data.h"
#include "train/trainer_state.h"

/* From bytes to floats; a part is a number of whole cache lines. */
static void to_spans(const fire_store_part_t *part, int n, fire_span_t *span)
{
    for (int i = 0; i < n; i++)
        span[i] = (fire_span_t){(size_t)part[i].at / sizeof(float),
                                (size_t)part[i].n / sizeof(float)};
}

/* Called by data layers during forward, on all workers in the same iteration. Gradients
 * that are still under way use the same communicator, so they are completed first. */
static fire_status_t exchange(void *arg, uint8_t *bytes, const fire_store_part_t *send,
                              const fire_store_part_t *recv)
{
    fire_trainer_t *t    = arg;
    int             size = fire_trainer_size(t);
    fire_span_t    *span;
    fire_status_t   st;

    FIRE_TRY(fire_trainer_wait(t));
    FIRE_TRY(FIRE_NEW(&span, 2 * size));
    to_spans(send, size, span);
    to_spans(recv, size, span + size);
    st = fire_comm_alltoall(t->options.comm, (float *)bytes, span, span + size);
    fire_free(span);
    return st;
}

/* Workers on this host, this one included: they share its memory. */
static int workers_here(const fire_trainer_t *t)
{
    fire_comm_t *c = t->options.comm;
    int          n = 0;

    if (c == NULL) return 1;
    for (int r = 0; r < fire_comm_size(c); r++)
        n += fire_comm_node(c, r) == fire_comm_node(c, fire_comm_rank(c));
    return n;
}

fire_status_t fire_trainer_keep_data(fire_trainer_t *t)
{
    const Caffe__FireParameter *f = t->param->fire;

    const fire_store_options_t o = {.part     = fire_trainer_rank(t),
                                    .parts    = fire_trainer_size(t),
                                    .lane     = t->share,
                                    .sharers  = workers_here(t),
                                    .exchange = exchange,
                                    .arg      = t};

    if (f == NULL || strcmp(f->data_store, "memory") != 0) return FIRE_OK;
    for (int i = 0; i < t->net->nlayer; i++)
        FIRE_TRY(fire_data_keep_in_memory(&t->net->layer[i].base, &o));
    return FIRE_OK;
}
