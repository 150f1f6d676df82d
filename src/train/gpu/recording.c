/* recording.c - a graph of an iteration, and the formats of blobs around it. */
#include "train/gpu/recording.h"

#include "base/alloc.h"
#include "net/net_state.h"

/* Data or diff of a blob, and which of its copies are valid (bits of
 * fire_storage_marks()): when the graph begins, and after an iteration. */
typedef struct held {
    fire_storage_t *storage;
    unsigned        before, after;
} held_t;

struct fire_recording {
    fire_net_t       *net;
    int               first;
    fire_gpu_graph_t *graph; /* NULL: nothing is recorded */
    int64_t           generation;
    uint64_t          before; /* hash of what the data layers had made */
    int               n;
    held_t           *held;
};

/* A hash (FNV-1a) of shapes and formats of what the data layers have made. */
static uint64_t hash_sources(const fire_recording_t *r)
{
    uint64_t h = 1469598103934665603u;

    for (int i = 0; i < r->first; i++)
        for (int k = 0; k < r->net->layer[i].base.ntop; k++) {
            const fire_blob_t *b = r->net->layer[i].base.top[k];

            h = (h ^ fire_storage_marks(b->part[FIRE_DATA])) * 1099511628211u;
            for (int d = 0; d < b->ndim; d++)
                h = (h ^ (uint64_t)b->dim[d]) * 1099511628211u;
        }
    return h;
}

/* Remember a blob; the formats are filled in later. */
static void hold(fire_recording_t *r, const fire_blob_t *b)
{
    for (int part = 0; part < 2; part++)
        r->held[r->n++].storage = b->part[part];
}

static int count_blobs(const fire_net_t *net, const fire_solver_t *solver)
{
    int n = net->nblob + solver->rule->nhistory * net->nparam;

    for (int i = 0; i < net->nlayer; i++)
        n += net->layer[i].base.nblob;
    return n;
}

fire_status_t fire_recording_create(fire_net_t *net, fire_solver_t *solver, int first,
                                    fire_recording_t **recording_p)
{
    fire_recording_t *r;
    fire_status_t     st;

    FIRE_TRY(FIRE_NEW(&r, 1));
    FIRE_TRY_GOTO(st, FIRE_NEW(&r->held, 2 * count_blobs(net, solver)), err_recording);
    r->net   = net;
    r->first = first;
    for (int i = 0; i < net->nblob; i++)
        hold(r, net->blob[i].blob);
    for (int i = 0; i < net->nlayer; i++)
        for (int k = 0; k < net->layer[i].base.nblob; k++)
            hold(r, net->layer[i].base.blob[k]);
    for (int i = 0; i < solver->rule->nhistory * net->nparam; i++)
        hold(r, solver->history[i]);
    *recording_p = r;
    return FIRE_OK;

err_recording:
    fire_free(r);
    return st;
}

void fire_recording_destroy(fire_recording_t *r)
{
    if (r == NULL) return;
    fire_gpu_graph_free(r->graph);
    fire_free(r->held);
    fire_free(r);
}

/* Are all copies valid that were valid when recording began? More do no harm. */
static bool has_all_copies(const fire_recording_t *r)
{
    for (int i = 0; i < r->n; i++) {
        unsigned before = r->held[i].before;

        if ((fire_storage_marks(r->held[i].storage) & before) != before) return false;
    }
    return true;
}

bool fire_recording_is_good(const fire_recording_t *r)
{
    return r->graph != NULL &&
           r->generation == fire_gpu_generation(r->net->ctx.stream) &&
           r->before == hash_sources(r) && has_all_copies(r);
}

void fire_recording_note(fire_recording_t *r)
{
    for (int i = 0; i < r->n; i++)
        r->held[i].after = fire_storage_marks(r->held[i].storage);
}

/* A test, for example, may have made copies of the weights since the last iteration.
 * They are out of date after the next update, so the graph must not read them:
 * invalidate what the last iteration did not leave. */
static void drop_other_copies(fire_recording_t *r)
{
    for (int i = 0; i < r->n; i++) {
        held_t  *h    = &r->held[i];
        unsigned both = fire_storage_marks(h->storage) & h->after;

        if (both != 0) fire_storage_set_marks(h->storage, both);
        h->before = fire_storage_marks(h->storage);
    }
}

void fire_recording_drop(fire_recording_t *r)
{
    fire_gpu_graph_free(r->graph);
    r->graph = NULL;
}

fire_status_t fire_recording_begin(fire_recording_t *r)
{
    fire_recording_drop(r);
    drop_other_copies(r);
    r->before = hash_sources(r);
    return fire_gpu_record_begin(r->net->ctx.stream);
}

fire_status_t fire_recording_end(fire_recording_t *r)
{
    FIRE_TRY(fire_gpu_record_end(r->net->ctx.stream, &r->graph));
    r->generation = fire_gpu_generation(r->net->ctx.stream);
    fire_recording_note(r);
    return FIRE_OK;
}

fire_status_t fire_recording_run(fire_recording_t *r)
{
    FIRE_TRY(fire_gpu_replay(r->net->ctx.stream, r->graph));
    for (int i = 0; i < r->n; i++)
        fire_storage_set_marks(r->held[i].storage, r->held[i].after);
    return FIRE_OK;
}
