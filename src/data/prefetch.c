/* prefetch.c - a ring of batches, filled by decode threads and emptied by one reader.
 *
 * Each slot of the ring holds one batch. A decode thread takes a chunk of rows of the
 * oldest slot that has unassigned ones, loads them without the lock, and counts them as
 * done. The reader waits until all rows of the slot at the head are done.
 *
 *   slot:      head           head+1         head+2         ...
 *              handed out     being loaded   being loaded   free */
#include "data/prefetch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/parallel.h"

enum { USEFUL_THREADS = 8, MAX_CHUNK = 16, MAX_DEPTH = 1000 };

/* One batch of the ring. */
typedef struct slot {
    fire_batch_t  batch;
    int64_t       assigned, done; /* rows assigned to threads, rows finished */
    fire_status_t status;         /* of the first row that failed */
    int64_t       bad_row;        /* its number; -1: the batch got no memory */
    char          error[1024];    /* its message */
} slot_t;

/* The slots head ... head + used - 1 (modulo nslot) hold batches, oldest first. `lock`
 * guards everything except the rows assigned to a thread, which only that thread
 * touches until it counts them as done. */
struct fire_prefetch {
    fire_prefetch_options_t opt;
    pthread_mutex_t         lock;
    /* for threads: there are rows to load; for the reader: a batch may be complete */
    pthread_cond_t work, ready;
    pthread_t      thread[FIRE_MAX_PARALLEL];
    int            nthread, target_threads; /* running now; to be started */
    bool           stop, draining;

    slot_t            *slot;
    int                nslot, head, used;
    bool               handed_out; /* the reader still uses the batch at the head */
    fire_moment_t      next; /* moment of the batch that the next free slot will hold */
    int                busy; /* threads that load rows now */
    fire_log_context_t log_context; /* log prefix of the worker that created us */
    double             waited;      /* seconds spent in fire_prefetch_get() */
};

fire_status_t fire_batch_row(fire_batch_t *b, int64_t row, fire_extent_t extent,
                             float **data_p)
{
    if (!fire_extent_equal(extent, b->extent)) {
        if (!b->any_extent)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the image is %d x %d x %d, others of its batch are "
                             "%d x %d x %d; resize or crop them, or use batch_size: 1",
                             extent.channels, extent.height, extent.width,
                             b->extent.channels, b->extent.height, b->extent.width);
        b->extent = extent;
        FIRE_TRY(fire_grow(&b->data, &b->data_cap, fire_extent_count(extent),
                           sizeof(*b->data)));
    }
    *data_p = b->data + row * fire_extent_count(b->extent);
    return FIRE_OK;
}

/* ---- decode threads ---- */

/* Slot i of those in use, the oldest first. */
static slot_t *slot_at(fire_prefetch_t *p, int i)
{
    return &p->slot[(p->head + i) % p->nslot];
}

static int64_t label_width(const fire_prefetch_t *p)
{
    return p->opt.label_width > 0 ? p->opt.label_width : 1;
}

/* Floats of a row that are kept with its label. */
static int64_t label_values(const fire_prefetch_t *p)
{
    return label_width(p) + p->opt.extra_width;
}

/* Floats (or bytes, if packed) of all rows. */
static int64_t values_of(const fire_batch_t *b)
{
    return b->slice.n * fire_extent_count(b->extent);
}

/* Bytes of the host memory that is copied to the GPU: rows, then labels. */
static size_t upload_bytes(const fire_prefetch_t *p, const fire_batch_t *b)
{
    return b->label_at + (size_t)(b->slice.n * label_values(p)) * sizeof(float);
}

/* Point rows and labels of b into its page-locked memory, labels 16-byte aligned. */
static fire_status_t fit_upload(fire_prefetch_t *p, fire_batch_t *b)
{
    size_t rows = (size_t)values_of(b) * (p->opt.packed ? 1 : sizeof(float));
    void  *host;

    if (b->upload == NULL) FIRE_TRY(fire_gpu_upload_create(p->opt.stream, &b->upload));
    b->label_at = (rows + 15) / 16 * 16;
    FIRE_TRY(fire_gpu_upload_fit(b->upload, upload_bytes(p, b), &host));
    if (p->opt.packed)
        b->packed = host;
    else
        b->data = host;
    b->label = (float *)((char *)host + b->label_at);
    return FIRE_OK;
}

/* Make room for all rows and labels of a batch; memory of earlier batches is used
 * again. */
static fire_status_t fit_memory(fire_prefetch_t *p, fire_batch_t *b)
{
    if (p->opt.stream != NULL) return fit_upload(p, b);
    FIRE_TRY(fire_grow(&b->data, &b->data_cap, values_of(b), sizeof(*b->data)));
    return fire_grow(&b->label, &b->label_cap, b->slice.n * label_values(p),
                     sizeof(*b->label));
}

/* Open the free slot s for the moment p->next. If memory runs out, all rows count as
 * done, so that the reader finds the error. Called with the lock. */
static void start_batch(fire_prefetch_t *p, slot_t *s)
{
    fire_batch_t *b = &s->batch;

    b->moment     = p->next;
    b->slice      = fire_moment_slice(&p->next, p->opt.batch_size);
    b->extent     = p->opt.extent;
    b->any_extent = p->opt.batch_size == 1;
    s->assigned = s->done = 0;
    s->status             = fit_memory(p, b);
    if (s->status == FIRE_OK) {
        b->extra = b->label + b->slice.n * label_width(p);
    } else {
        snprintf(s->error, sizeof(s->error), "%s", fire_last_error());
        s->bad_row  = -1;
        s->assigned = s->done = b->slice.n;
    }
    p->next = fire_moment_next(p->next);
    p->used++;
    if (s->done == b->slice.n) pthread_cond_signal(&p->ready);
}

/* Return the oldest batch with unassigned rows; open the next slot if there is none but
 * room for one. NULL: nothing to do now. Called with the lock. */
static slot_t *find_work(fire_prefetch_t *p)
{
    if (p->draining) return NULL;
    for (int i = 0; i < p->used; i++)
        if (slot_at(p, i)->assigned < slot_at(p, i)->batch.slice.n)
            return slot_at(p, i);
    while (p->used < p->nslot) {
        slot_t *s = slot_at(p, p->used);

        start_batch(p, s);
        if (s->assigned < s->batch.slice.n) return s;
    }
    return NULL;
}

/* Keep the error of the first row that failed, whichever thread reports first. */
static void note_error(slot_t *s, int64_t row, fire_status_t st)
{
    if (s->status != FIRE_OK && s->bad_row <= row) return;
    s->status  = st;
    s->bad_row = row;
    snprintf(s->error, sizeof(s->error), "%s", fire_last_error());
}

/* All rows are loaded: finish the batch and start its copy to the GPU. Called with the
 * lock and returns with it, but works without it. */
static fire_status_t complete(fire_prefetch_t *p, slot_t *s)
{
    if (p->opt.complete != NULL) {
        pthread_mutex_unlock(&p->lock);
        p->opt.complete(p->opt.arg, &s->batch);
        pthread_mutex_lock(&p->lock);
    }
    if (s->batch.upload == NULL) return FIRE_OK;
    return fire_gpu_upload_send(s->batch.upload, upload_bytes(p, &s->batch));
}

/* Load one chunk of rows of s. Chunks are small, so that all threads share even a
 * single batch; not single rows, so that small rows do not spend their time on the
 * lock. The thread that finishes the last row starts the copy to the GPU. Called with
 * the lock and returns with it, but loads without it. */
static void load_rows(fire_prefetch_t *p, slot_t *s, fire_workspace_t *scratch)
{
    int64_t       n = s->batch.slice.n, first = s->assigned;
    int64_t       chunk = n / (2 * p->target_threads) + 1, row;
    fire_status_t st    = FIRE_OK;

    if (chunk > MAX_CHUNK) chunk = MAX_CHUNK;
    if (chunk > n - first) chunk = n - first;
    s->assigned += chunk;
    p->busy++;
    pthread_mutex_unlock(&p->lock);
    for (row = first; row < first + chunk && st == FIRE_OK; row++)
        st = p->opt.load(p->opt.arg, scratch, &s->batch, row);
    pthread_mutex_lock(&p->lock);
    if (st == FIRE_OK && s->status == FIRE_OK && s->done + chunk == n)
        st = complete(p, s);
    if (st != FIRE_OK) note_error(s, row - 1, st);
    p->busy--;
    s->done += chunk;
    if (s->done == n || p->busy == 0) pthread_cond_signal(&p->ready);
}

static void *decode_thread(void *arg)
{
    fire_prefetch_t *p       = arg;
    fire_workspace_t scratch = {0};

    fire_log_set_context(&p->log_context);
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        slot_t *s = find_work(p);

        if (s != NULL)
            load_rows(p, s, &scratch);
        else
            pthread_cond_wait(&p->work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    fire_workspace_fini(&scratch);
    return NULL;
}

/* ---- the reader's side ---- */

/* More than 8 decode threads only compete with the compute threads on most machines, so
 * an automatic choice (0) stops there. */
static int useful_threads(int requested)
{
    int n = fire_parallel_threads(requested);

    return requested == 0 && n > USEFUL_THREADS ? USEFUL_THREADS : n;
}

static int slots_for(int64_t depth)
{
    return 1 + (int)(depth < 1 ? 1 : depth > MAX_DEPTH ? MAX_DEPTH : depth);
}

fire_status_t fire_prefetch_create(const fire_prefetch_options_t *options,
                                   fire_prefetch_t              **prefetch_p)
{
    fire_prefetch_t *p;
    fire_status_t    st;

    FIRE_TRY(FIRE_NEW(&p, 1));
    p->opt   = *options;
    p->nslot = slots_for(options->depth); /* depth + 1: one is with the reader */
    st       = FIRE_NEW(&p->slot, p->nslot);
    if (st != FIRE_OK) {
        fire_free(p);
        return st;
    }
    p->target_threads = useful_threads(options->threads);
    p->log_context    = fire_log_context();
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->ready, NULL);
    *prefetch_p = p;
    return FIRE_OK;
}

/* Fewer threads than wanted still work; none at all is an error. */
static fire_status_t start_threads(fire_prefetch_t *p)
{
    int rc = 0;

    while (p->nthread < p->target_threads && rc == 0) {
        rc = pthread_create(&p->thread[p->nthread], NULL, decode_thread, p);
        if (rc == 0) p->nthread++;
    }
    if (p->nthread == 0)
        return FIRE_FAIL(FIRE_ERR_NOMEM, "cannot start a decode thread: %s",
                         strerror(rc));
    return FIRE_OK;
}

/* With an upload, data and label point into its memory. */
static void free_batch(fire_batch_t *b)
{
    if (b->upload == NULL) {
        fire_free(b->data);
        fire_free(b->label);
    }
    fire_gpu_upload_destroy(b->upload);
}

void fire_prefetch_destroy(fire_prefetch_t *p)
{
    if (p == NULL) return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->nthread; i++)
        pthread_join(p->thread[i], NULL);
    for (int i = 0; i < p->nslot; i++)
        free_batch(&p->slot[i].batch);
    pthread_cond_destroy(&p->ready);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    fire_free(p->slot);
    fire_free(p);
}

/* Do two moments mean the same samples? `pass` and other members do not matter here. */
static bool same_samples(const fire_moment_t *a, const fire_moment_t *b)
{
    return a->seed == b->seed && a->step == b->step && a->origin == b->origin &&
           a->lane == b->lane && a->lanes == b->lanes && a->rule == b->rule &&
           a->shuffle == b->shuffle;
}

/* Discard all batches loaded ahead and continue with the moment m. Waits for threads
 * that still load rows, since their memory is used again. */
static void restart_at(fire_prefetch_t *p, const fire_moment_t *m)
{
    p->draining = true;
    while (p->busy > 0)
        pthread_cond_wait(&p->ready, &p->lock);
    p->draining = false;
    p->used     = 0;
    p->next     = *m;
}

/* Take back the batch that was handed out, then wait for the one of m. Called with the
 * lock. */
static slot_t *wait_for(fire_prefetch_t *p, const fire_moment_t *m)
{
    if (p->handed_out) {
        p->head = (p->head + 1) % p->nslot;
        p->used--;
        p->handed_out = false;
    }
    if (!same_samples(p->used > 0 ? &slot_at(p, 0)->batch.moment : &p->next, m))
        restart_at(p, m);
    pthread_cond_broadcast(&p->work);
    while (p->used == 0 || slot_at(p, 0)->done < slot_at(p, 0)->batch.slice.n)
        pthread_cond_wait(&p->ready, &p->lock);
    p->handed_out = true;
    return slot_at(p, 0);
}

fire_status_t fire_prefetch_get(fire_prefetch_t *p, const fire_moment_t *moment,
                                const fire_batch_t **batch_p)
{
    double  start = fire_clock_now();
    slot_t *s;

    if (p->nthread == 0) {
        p->next = *moment;
        FIRE_TRY(start_threads(p));
    }
    pthread_mutex_lock(&p->lock);
    s = wait_for(p, moment);
    pthread_mutex_unlock(&p->lock);
    p->waited += fire_clock_now() - start;
    if (s->status != FIRE_OK) return FIRE_FAIL(s->status, "%s", s->error);
    *batch_p = &s->batch;
    return FIRE_OK;
}

double fire_prefetch_waited(const fire_prefetch_t *p)
{
    return p->waited;
}
