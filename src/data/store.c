/* store.c - which worker holds which record in an epoch, how much memory that needs,
 * and the source that serves records from memory. */
#include "data/store.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "data/order.h"
#include "data/store_state.h"

static int worker_of(const store_t *s, const fire_moment_t *m, int64_t lane)
{
    int lo = 0, hi = s->opt.parts - 1;

    if (s->opt.lane == NULL) return (int)(lane / (m->lanes / s->opt.parts));
    while (lo < hi) { /* the last worker whose first lane is not behind it */
        int mid = (lo + hi + 1) / 2;

        if (s->opt.lane[mid] <= lane)
            lo = mid;
        else
            hi = mid - 1;
    }
    return lo;
}

/* The worker whose lane reads this sample: the inverse of fire_moment_slice(). With the
 * global rule, lane l of L gets batch/L samples of each batch and the first (batch
 * modulo L) lanes get one more. */
static int owner_of(const store_t *s, const fire_moment_t *m, int64_t sample)
{
    int64_t base = s->opt.batch_size / m->lanes, extra = s->opt.batch_size % m->lanes;
    int64_t place = sample % s->opt.batch_size, lane;

    if (m->rule == FIRE_BATCH_PER_WORKER)
        lane = sample % m->lanes;
    else if (place < extra * (base + 1))
        lane = place / (base + 1);
    else
        lane = extra + (place - extra * (base + 1)) / base;
    return worker_of(s, m, lane);
}

/* owner[record] = the worker that reads it in this epoch. */
static void find_owners(const store_t *s, const fire_moment_t *m, int64_t epoch,
                        uint16_t *owner)
{
    int64_t n       = s->base.count;
    bool    shuffle = s->opt.shuffle || m->shuffle;

    for (int64_t sample = epoch * n; sample < (epoch + 1) * n; sample++)
        owner[fire_order_record(m->seed, shuffle, n, sample)] =
            (uint16_t)owner_of(s, m, sample);
}

/* The epoch of the first sample of this step. */
static int64_t epoch_of(const store_t *s, const fire_moment_t *m)
{
    int64_t rows =
        s->opt.batch_size * (m->rule == FIRE_BATCH_PER_WORKER ? (int64_t)m->lanes : 1);

    return (m->step - m->origin) * rows / s->base.count;
}

/* ---- how much memory ---- */

/* Bytes that Linux can give without swapping; INT64_MAX where it does not tell. */
static int64_t free_memory(void)
{
    FILE     *file = fopen("/proc/meminfo", "r");
    char      line[128];
    long long kib = 0;

    if (file == NULL) return INT64_MAX;
    while (kib == 0 && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "MemAvailable: %lld kB", &kib) != 1) kib = 0;
    fclose(file);
    return kib > 0 ? kib * 1024 : INT64_MAX;
}

/* Fail now rather than run out of memory later. */
static fire_status_t check_budget(const store_t *s)
{
    int64_t here = s->opt.sharers > 0 ? s->opt.sharers : 1;
    int64_t have = s->opt.budget > 0 ? s->opt.budget : free_memory() / 10 * 9 / here;
    int64_t need = s->base.count * (int64_t)(sizeof(*s->record) + sizeof(*s->size)),
            n    = 0;

    for (int64_t i = 0; i < s->base.count; i++)
        if (s->now[i] == s->opt.part) {
            need += s->size[i] + STORE_OVERHEAD;
            n++;
        }
    FIRE_LOG(INFO, "Data store: %lld of %lld records of %s, %.1f MB", (long long)n,
             (long long)s->base.count, s->base.path, (double)need / 1e6);
    if (need <= have) return FIRE_OK;
    return FIRE_FAIL(
        FIRE_ERR_NOMEM,
        "%s: keeping this worker's share in memory needs %.1f MB, but only "
        "%.1f MB may be used; use more workers, or leave the data in files",
        s->base.path, (double)need / 1e6, (double)have / 1e6);
}

/* ---- the source ---- */

extern const fire_source_ops_t fire_source_store;

static void store_close(fire_source_t *base)
{
    store_t *s = (store_t *)base;

    fire_source_close(s->file);
    for (int64_t i = 0; s->record != NULL && i < s->base.count; i++)
        fire_free(s->record[i]);
    pthread_rwlock_destroy(&s->lock);
    fire_free(s->record);
    fire_free(s->size);
    fire_free(s->now);
    fire_free(s->then);
    fire_free(s->send);
    fire_free(s->recv);
    fire_free(s->cursor);
    fire_free(s->bytes);
    fire_buffer_fini(&s->spare);
    fire_free(s);
}

/* Fill size[] by reading every record once. */
static fire_status_t read_sizes(store_t *s)
{
    fire_buffer_t b  = {0};
    fire_record_t r  = {0};
    fire_status_t st = FIRE_OK;

    for (int64_t i = 0; st == FIRE_OK && i < s->base.count; i++) {
        st         = fire_source_read(s->file, i, &b, &r);
        s->size[i] = (uint32_t)r.n;
        if (st < 0) fire_source_error_prefix(s->file, i, st);
    }
    fire_buffer_fini(&b);
    return st;
}

fire_status_t fire_store_open(fire_source_t *file, const fire_store_options_t *options,
                              fire_source_t **store_p)
{
    store_t      *s;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    s->base  = (fire_source_t){&fire_source_store, file->path, file->count};
    s->opt   = *options;
    s->epoch = -1;
    pthread_rwlock_init(&s->lock, NULL);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->record, file->count), err_store);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->size, file->count), err_store);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->now, file->count), err_store);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->then, file->count), err_store);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->send, options->parts), err_store);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->recv, options->parts), err_store);
    FIRE_TRY_GOTO(st, FIRE_NEW(&s->cursor, options->parts), err_store);
    s->file = file;
    st      = read_sizes(s);
    s->file = NULL; /* on failure it stays the caller's */
    if (st < 0) goto err_store;
    s->file  = file;
    *store_p = &s->base;
    return FIRE_OK;

err_store:
    store_close(&s->base);
    return st;
}

/* Serve a record from memory, else from the file. It is copied, since an exchange may
 * free the stored one while the copy is being decoded. */
static fire_status_t store_read(fire_source_t *base, int64_t i, fire_buffer_t *b,
                                fire_record_t *record_p)
{
    store_t      *s  = (store_t *)base;
    fire_status_t st = FIRE_OK;
    bool          here;

    pthread_rwlock_rdlock(&s->lock);
    here = s->record[i] != NULL;
    if (here) st = fire_grow(&b->bytes, &b->cap, s->size[i], 1);
    if (here && st == FIRE_OK) memcpy(b->bytes, s->record[i], s->size[i]);
    pthread_rwlock_unlock(&s->lock);
    if (!here) return fire_source_read(s->file, i, b, record_p);
    if (st == FIRE_OK) *record_p = (fire_record_t){b->bytes, s->size[i]};
    return st;
}

static void store_key(const fire_source_t *base, int64_t i, char text[FIRE_KEY_TEXT])
{
    fire_source_t *file = ((const store_t *)base)->file;

    file->ops->key(file, i, text);
}

const fire_source_ops_t fire_source_store = {
    .name  = "memory",
    .close = store_close,
    .read  = store_read,
    .key   = store_key,
};

/* ---- epochs ---- */

static fire_status_t begin(store_t *s, const fire_moment_t *m, int64_t epoch)
{
    if (s->opt.lane == NULL && m->lanes % s->opt.parts != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%d lanes cannot be shared by %d workers",
                         m->lanes, s->opt.parts);
    find_owners(s, m, epoch, s->now);
    FIRE_TRY(check_budget(s));
    return fire_store_load(s);
}

/* Does this epoch need another set of records? With iter_size, lanes run one after
 * another over the same few steps: a lane that is still one epoch behind reads from the
 * file instead of exchanging the records back. */
static bool is_due(const store_t *s, int64_t epoch)
{
    return epoch > s->epoch || epoch < s->epoch - 1;
}

fire_status_t fire_store_prepare(fire_source_t *base, const fire_moment_t *m)
{
    store_t *s     = (store_t *)base;
    int64_t  epoch = epoch_of(s, m);

    if (!is_due(s, epoch)) return FIRE_OK;
    if (s->epoch < 0) {
        FIRE_TRY(begin(s, m, epoch));
    } else if (s->opt.parts > 1) {
        uint16_t *swap = s->now;

        find_owners(s, m, epoch, s->then);
        FIRE_TRY(fire_store_exchange(s));
        s->now  = s->then;
        s->then = swap;
    }
    s->epoch = epoch;
    return FIRE_OK;
}

int64_t fire_store_held(const fire_source_t *base, int64_t *bytes_p)
{
    const store_t *s = (const store_t *)base;
    int64_t        n = 0;

    *bytes_p = 0;
    for (int64_t i = 0; i < s->base.count; i++)
        if (s->record[i] != NULL) {
            *bytes_p += s->size[i];
            n++;
        }
    return n;
}
