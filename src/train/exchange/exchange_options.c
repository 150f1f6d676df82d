/* exchange_options.c - how gradients are exchanged: what the solver file says, and what
 * fits the workers and their device where it says "auto" or nothing. */
#include <string.h>

#include "base/host/cores.h"
#include "base/log.h"
#include "base/parallel.h"
#include "net/net_state.h"
#include "train/exchange/reducer.h"

static const char *const overlaps[] = {"thread", "poll", "off"};

const char *fire_overlap_name(fire_overlap_t overlap)
{
    return overlaps[overlap];
}

/* Cores of this host that no worker computes on; below 0 if there are too few. Where
 * processes are bound to cores, only the own ones count. */
static int spare_cores(const fire_reducer_options_t *r, int workers)
{
    int own = fire_cores();

    if (own < fire_cores_of_machine()) workers = 1;
    return own - workers * fire_parallel_threads(r->net->ctx.threads);
}

/* Among workers on one host, exchanging is computing: the CPU adds in shared memory, so
 * a thread for it pays only where a core is free. Over a network, or while a GPU
 * computes, a thread always pays. */
static fire_overlap_t choose_overlap(const fire_reducer_options_t *r)
{
    int here = 0, size = r->comm != NULL ? fire_comm_size(r->comm) : 1;

    for (int k = 0; k < size && size > 1; k++)
        here += fire_comm_node(r->comm, k) ==
                fire_comm_node(r->comm, fire_comm_rank(r->comm));
    if (here < size || r->net->ctx.place == FIRE_GPU || spare_cores(r, here) > 0)
        return FIRE_OVERLAP_THREAD;
    return FIRE_OVERLAP_POLL;
}

static fire_overlap_t overlap_of(const fire_reducer_options_t *r, const char *name)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, overlaps[i]) == 0) return (fire_overlap_t)i;
    return choose_overlap(r); /* "auto" */
}

/* The runs of lanes, where sums must follow the tree over lanes and the tree over
 * workers does not. Compression rounds what each worker sends, so results belong to a
 * number of workers anyway: each then hands on one sum. */
static const int *lanes_of(const fire_reducer_options_t  *r,
                           const fire_exchange_options_t *o)
{
    bool even = r->lane == NULL || r->comm == NULL ||
                fire_runs_are_even(r->lane, fire_comm_size(r->comm));

    return even || !o->canonical || strcmp(o->compress, "none") != 0 ? NULL : r->lane;
}

void fire_exchange_options_read(const fire_reducer_options_t *r,
                                fire_exchange_options_t      *o)
{
    static const Caffe__FireParameter defaults = CAFFE__FIRE_PARAMETER__INIT;
    const Caffe__FireParameter *f = r->param->fire != NULL ? r->param->fire : &defaults;
    int                         size  = r->comm != NULL ? fire_comm_size(r->comm) : 1;
    bool                        looks = r->solver->inspects;
    bool                        whole = looks || r->solver->adapt != FIRE_ADAPT_NONE;
    bool                        gpu   = r->net->ctx.place == FIRE_GPU;

    o->overlap       = overlap_of(r, f->overlap);
    o->deadline      = (double)f->deadline;
    o->algo          = f->comm;
    o->colors        = (int)f->colors;
    o->bucket_bytes  = (size_t)((double)f->bucket_mb * 1e6);
    o->compress      = f->compress;
    o->compress_from = f->has_compress_from ? f->compress_from : -1;
    o->hold          = looks || r->net->ctx.scaled;
    o->sharded       = strcmp(f->update, "sharded") == 0 && !whole && !gpu;
    o->canonical     = r->lanes > size || f->has_lanes;
    o->lane          = lanes_of(r, o);
    if (whole && strcmp(f->update, "sharded") == 0)
        FIRE_LOG(INFO, "%s needs whole gradients: update is replicated",
                 !looks                          ? f->adapt
                 : r->param->clip_gradients >= 0 ? "clip_gradients"
                                                 : "grad_norm or on_nan");
    if (gpu && strcmp(f->update, "sharded") == 0)
        FIRE_LOG(INFO, "a GPU updates all weights at once: update is replicated");
}

/* Unless the user chose a size, a small net gets smaller buckets: a single one could
 * not be sent before backward ends. Workers that poll in shared memory hide little of
 * the exchange, and each bucket costs them messages: two buckets do. */
size_t fire_exchange_options_bucket(const Caffe__FireParameter    *f,
                                    const fire_exchange_options_t *o, int64_t floats)
{
    size_t buckets = o->overlap == FIRE_OVERLAP_THREAD ? 8 : 2;
    size_t bytes   = (size_t)floats * sizeof(float) / buckets;

    if ((f != NULL && f->has_bucket_mb) || bytes > o->bucket_bytes)
        return o->bucket_bytes;
    return bytes > 16 << 10 ? bytes : 16 << 10;
}
