/* store_fill.c - fills the store: from the file with several threads, and from other
 * workers in rounds of limited size. */
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "data/store_state.h"

/* GRAIN: parts begin at multiples of it. ROUND_BYTES: of records per round and worker. */
enum { GRAIN = 64, ROUND_BYTES = 1 << 24 };

/* Store a copy of record i. */
static fire_status_t keep_copy(store_t *s, int64_t i, const uint8_t *bytes)
{
    uint8_t *copy;

    FIRE_TRY(fire_alloc(s->size[i], 1, "record", (void **)&copy));
    memcpy(copy, bytes, s->size[i]);
    pthread_rwlock_wrlock(&s->lock);
    s->record[i] = copy;
    pthread_rwlock_unlock(&s->lock);
    return FIRE_OK;
}

/* ---- from the file ---- */

static fire_status_t load_one(store_t *s, int64_t i, fire_buffer_t *b)
{
    fire_record_t r;
    fire_status_t st = fire_source_read(s->file, i, b, &r);

    if (st < 0) return fire_source_error_prefix(s->file, i, st);
    return keep_copy(s, i, r.bytes);
}

typedef struct loader {
    store_t      *store;
    fire_buffer_t buffer[FIRE_MAX_PARALLEL]; /* one for each thread */
} loader_t;

static fire_status_t load_own(void *arg, int worker, int64_t i)
{
    loader_t *l = arg;
    store_t  *s = l->store;

    return s->now[i] == s->opt.part ? load_one(s, i, &l->buffer[worker]) : FIRE_OK;
}

fire_status_t fire_store_load(store_t *s)
{
    loader_t      l  = {.store = s};
    fire_status_t st = fire_parallel(s->base.count, s->opt.threads, load_own, &l);

    for (int i = 0; i < FIRE_MAX_PARALLEL; i++)
        fire_buffer_fini(&l.buffer[i]);
    return st;
}

/* ---- from other workers ---- */

/* Does record i go to another worker with this exchange? */
static bool leaves(const store_t *s, int64_t i)
{
    return s->now[i] == s->opt.part && s->then[i] != s->opt.part;
}

/* Does this worker get record i from another one? */
static bool arrives(const store_t *s, int64_t i)
{
    return s->now[i] != s->opt.part && s->then[i] == s->opt.part;
}

/* Place one part after another from offset `at`; returns the end of the last. */
static int64_t lay_out(const store_t *s, fire_store_part_t *part, int64_t at)
{
    for (int w = 0; w < s->opt.parts; w++) {
        part[w].at = at;
        part[w].n  = (part[w].n + GRAIN - 1) / GRAIN * GRAIN;
        at += part[w].n;
    }
    return at;
}

/* Sizes and offsets of what is sent and received for records first ... end - 1. */
static fire_status_t measure(store_t *s, int64_t first, int64_t end)
{
    size_t n = (size_t)s->opt.parts * sizeof(fire_store_part_t);

    memset(s->send, 0, n);
    memset(s->recv, 0, n);
    for (int64_t i = first; i < end; i++) {
        if (leaves(s, i)) s->send[s->then[i]].n += s->size[i];
        if (arrives(s, i)) s->recv[s->now[i]].n += s->size[i];
    }
    return fire_grow(&s->bytes, &s->bytes_cap,
                     lay_out(s, s->recv, lay_out(s, s->send, 0)), 1);
}

/* cursor[w] = offset of the next record of worker w's part. */
static void rewind_cursors(store_t *s, const fire_store_part_t *part)
{
    for (int w = 0; w < s->opt.parts; w++)
        s->cursor[w] = part[w].at;
}

/* Copy the records that leave into the send parts, and free them. One that an earlier
 * failure has lost is read from the file again. */
static fire_status_t pack(store_t *s, int64_t first, int64_t end)
{
    rewind_cursors(s, s->send);
    for (int64_t i = first; i < end; i++) {
        if (!leaves(s, i)) continue;
        if (s->record[i] == NULL) FIRE_TRY(load_one(s, i, &s->spare));
        memcpy(s->bytes + s->cursor[s->then[i]], s->record[i], s->size[i]);
        s->cursor[s->then[i]] += s->size[i];
        pthread_rwlock_wrlock(&s->lock);
        fire_free(s->record[i]);
        s->record[i] = NULL;
        pthread_rwlock_unlock(&s->lock);
    }
    return FIRE_OK;
}

/* Store the records that have arrived. */
static fire_status_t unpack(store_t *s, int64_t first, int64_t end)
{
    rewind_cursors(s, s->recv);
    for (int64_t i = first; i < end; i++) {
        if (!arrives(s, i)) continue;
        FIRE_TRY(keep_copy(s, i, s->bytes + s->cursor[s->now[i]]));
        s->cursor[s->now[i]] += s->size[i];
    }
    return FIRE_OK;
}

/* Exchange records in rounds, so that the buffer stays small. All workers know all
 * sizes and therefore make the same rounds. Records of a part are in ascending order,
 * so the receiver knows which is which. */
fire_status_t fire_store_exchange(store_t *s)
{
    int64_t most = (int64_t)ROUND_BYTES * s->opt.parts;

    for (int64_t first = 0, end = 0; first < s->base.count; first = end) {
        for (int64_t bytes = 0; end < s->base.count && bytes < most; end++)
            bytes += s->size[end];
        FIRE_TRY(measure(s, first, end));
        FIRE_TRY(pack(s, first, end));
        FIRE_TRY(s->opt.exchange(s->opt.arg, s->bytes, s->send, s->recv));
        FIRE_TRY(unpack(s, first, end));
    }
    return FIRE_OK;
}
