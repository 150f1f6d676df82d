/* workers.c - how a trainer is tied to the other workers: which lanes are its own, how
 * gradients are exchanged, what a finished sum does to the weights. */
#include <sched.h>
#include <string.h>

#include "base/log.h"
#include "base/parallel.h"
#include "device/gpu.h"
#include "train/trainer_state.h"

fire_status_t fire_trainer_agree(fire_trainer_t *t, fire_status_t mine)
{
    return t->options.comm != NULL ? fire_comm_agree(t->options.comm, mine) : mine;
}

fire_status_t fire_trainer_beat(fire_trainer_t *t)
{
    return t->exchange != NULL ? fire_exchange_beat(t->exchange) : FIRE_OK;
}

/* Aligned blocks of lanes keep the canonical tree whole: each worker's is a power of
 * two, or there is one worker. */
fire_status_t fire_trainer_take_lanes(fire_trainer_t *t)
{
    const Caffe__FireParameter *f    = t->param->fire;
    int                         size = fire_trainer_size(t);

    t->lanes      = f != NULL && f->lanes > 0 ? (int)f->lanes : size;
    t->lane_count = t->lanes / size;
    t->lane_first = t->lane_count * fire_trainer_rank(t);
    if (t->lanes % size != 0 ||
        (size > 1 && (t->lane_count & (t->lane_count - 1)) != 0))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%d lanes cannot be shared by %d workers: each needs the same "
                         "number, a power of two",
                         t->lanes, size);
    return FIRE_OK;
}

/* The part of parameter i that lies in [first, first + n) of the gradients. */
static fire_span_t part_in(const fire_grads_t *g, int i, int64_t first, int64_t n)
{
    int64_t at  = g->offset[i];
    int64_t lo  = first > at ? first - at : 0;
    int64_t end = at + fire_blob_count(g->net->learn[i].blob);
    int64_t hi  = (first + n < end ? first + n : end) - at;

    return (fire_span_t){(size_t)lo, hi > lo ? (size_t)(hi - lo) : 0};
}

static fire_status_t complete(void *arg, int64_t first, int64_t n)
{
    fire_trainer_t *t = arg;

    if (t->net->ctx.place == FIRE_GPU) fire_gpu_use(t->net->ctx.stream);
    FIRE_TRY(fire_grads_push(t->grads, first, n));
    for (int k = 0; k < t->net->nparam; k++) {
        int         i = t->grads->order[k];
        fire_span_t s = part_in(t->grads, i, first, n);

        if (s.len > 0)
            FIRE_TRY(fire_solver_update(t->solver, i, (int64_t)s.off, (int64_t)s.len));
    }
    return fire_solver_flush(t->solver);
}

/* Weights have changed under their blobs: copies in other formats are old. */
static fire_status_t gathered(void *arg, int64_t first, int64_t n)
{
    fire_trainer_t *t = arg;
    float          *w;

    for (int i = 0; i < t->net->nparam; i++)
        if (part_in(t->grads, i, first, n).len > 0)
            FIRE_TRY(fire_blob_update(t->net->learn[i].blob, FIRE_DATA, FIRE_CPU, &w));
    return FIRE_OK;
}

static fire_status_t all_summed(void *arg)
{
    fire_trainer_t *t = arg;

    if (t->net->ctx.place == FIRE_GPU) fire_gpu_use(t->net->ctx.stream);
    FIRE_TRY(fire_grads_push(t->grads, 0, t->grads->n));
    if (t->net->ctx.scaled) /* of all workers: they all decide alike */
        FIRE_TRY(fire_gpu_judge(t->net->ctx.stream, t->grads->here + t->grads->head,
                                t->grads->n - t->grads->head));
    return fire_solver_clip(t->solver);
}

static const char *const overlaps[] = {"thread", "poll", "off"};

/* Cores that nobody here computes on. Where processes are bound, each has its own. */
static int spare_cores(const fire_trainer_t *t, int workers)
{
    int       all = fire_parallel_threads(0), own = all;
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0) own = CPU_COUNT(&set);
    if (own < all) workers = 1;
    return own - workers * fire_parallel_threads(t->options.ctx.threads);
}

/* In common memory nothing moves by itself: to exchange is to compute, and a thread for
 * it pays where it has a core. A network, or a GPU, works beside it. */
static fire_overlap_t choose_overlap(const fire_trainer_t *t)
{
    int here = 0, size = fire_trainer_size(t);

    for (int r = 0; r < size && size > 1; r++)
        here += fire_comm_node(t->options.comm, r) ==
                fire_comm_node(t->options.comm, fire_trainer_rank(t));
    if (here < size || t->net->ctx.place == FIRE_GPU || spare_cores(t, here) > 0)
        return FIRE_OVERLAP_THREAD;
    return FIRE_OVERLAP_POLL;
}

static fire_overlap_t overlap_of(const fire_trainer_t *t, const char *name)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, overlaps[i]) == 0) return (fire_overlap_t)i;
    return choose_overlap(t); /* "auto" */
}

static void read_options(const fire_trainer_t *t, fire_exchange_options_t *o)
{
    static const Caffe__FireParameter defaults = CAFFE__FIRE_PARAMETER__INIT;
    const Caffe__FireParameter *f = t->param->fire != NULL ? t->param->fire : &defaults;
    bool                        clips = t->param->clip_gradients >= 0;
    bool                        whole = clips || t->solver->adapt != FIRE_ADAPT_NONE;
    bool                        gpu   = t->net->ctx.place == FIRE_GPU;

    o->overlap       = overlap_of(t, f->overlap);
    o->deadline      = (double)f->deadline;
    o->algo          = f->comm;
    o->colors        = (int)f->colors;
    o->bucket_bytes  = (size_t)((double)f->bucket_mb * 1e6);
    o->compress      = f->compress;
    o->compress_from = f->has_compress_from ? f->compress_from : -1;
    o->hold          = clips || t->net->ctx.scaled;
    o->sharded       = strcmp(f->update, "sharded") == 0 && !whole && !gpu;
    o->canonical     = t->lanes > fire_trainer_size(t) || f->has_lanes;
    if (whole && strcmp(f->update, "sharded") == 0)
        FIRE_LOG(INFO, "%s needs whole gradients: update is replicated",
                 clips ? "clip_gradients" : f->adapt);
    if (gpu && strcmp(f->update, "sharded") == 0)
        FIRE_LOG(INFO, "a GPU updates all weights at once: update is replicated");
}

/* Whose batch batch_size is has confused many: say both. */
static void log_plan(const fire_trainer_t *t, const fire_exchange_options_t *o)
{
    int size = fire_trainer_size(t), last = fire_comm_node(t->options.comm, size - 1);
    double each = (double)t->batch / size;

    FIRE_LOG(INFO, "Workers: %d on %d host%s, with %d lane%s each", size, last + 1,
             last > 0 ? "s" : "", t->lane_count, t->lane_count > 1 ? "s" : "");
    FIRE_LOG(INFO, "Global batch: %lld images, %g per worker%s", (long long)t->batch,
             each, t->param->iter_size > 1 ? ", in each of iter_size passes" : "");
    FIRE_LOG(INFO,
             "Gradients: %.2f MB in %d buckets, by %s, overlap: %s, compressed: %s, "
             "update: %s",
             (double)t->grads->n * sizeof(float) / 1e6,
             fire_exchange_nbucket(t->exchange), o->algo, overlaps[o->overlap],
             o->compress, o->sharded ? "sharded" : "replicated");
}

/* Unless the user chose, a small net gets smaller buckets: with one only, nothing
 * could be sent before backward ends. Where workers poll, in common memory, little can
 * be hidden, and each bucket costs them notes. */
static size_t bucket_bytes(const fire_trainer_t *t, const fire_exchange_options_t *o)
{
    const Caffe__FireParameter *f      = t->param->fire;
    size_t                      wanted = o->bucket_bytes;
    size_t                      parts  = o->overlap == FIRE_OVERLAP_THREAD ? 8 : 2;
    size_t                      part   = (size_t)t->grads->n * sizeof(float) / parts;

    if ((f != NULL && f->has_bucket_mb) || part > wanted) return wanted;
    return part > 16 << 10 ? part : 16 << 10;
}

fire_status_t fire_trainer_make_exchange(fire_trainer_t *t)
{
    fire_exchange_options_t o = {
        .arg = t, .complete = complete, .gathered = gathered, .all_summed = all_summed};
    fire_grads_options_t g = {.comm = t->options.comm, .lanes = t->lane_count};
    int64_t             *cut;
    int                  ncut;
    fire_status_t        st;

    read_options(t, &o);
    g.weights = o.sharded && fire_trainer_size(t) > 1;
    FIRE_TRY(fire_grads_create(t->net, &g, &t->grads));
    o.bucket_bytes = bucket_bytes(t, &o);
    FIRE_TRY(fire_trainer_open_nccl(t, &o));
    if (fire_trainer_size(t) == 1 || t->nccl != NULL) return FIRE_OK;
    if (t->net->ctx.place == FIRE_GPU && o.overlap == FIRE_OVERLAP_THREAD)
        fire_gpu_share(t->net->ctx.stream);
    FIRE_TRY(fire_grads_cuts(t->grads, &cut, &ncut));
    st = fire_exchange_create(t->options.comm, t->grads->sum, t->grads->weights, cut,
                              ncut, &o, &t->exchange);
    fire_free(cut);
    FIRE_TRY(st);
    log_plan(t, &o);
    return FIRE_OK;
}
