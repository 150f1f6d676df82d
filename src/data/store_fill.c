/* store_fill.c - how records come into the store: from the file, by several threads,
 * and from other workers, in rounds that need little memory. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "data/store_state.h"

enum { MAX_THREADS = 16, ROUND_BYTES = 1 << 24 }; /* a round: per worker, about */

fire_status_t fire_store_keep(store_t *s, int64_t i, const uint8_t *bytes)
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

typedef struct loader {
    store_t        *store;
    _Atomic int64_t next;
    atomic_bool     failed;
    pthread_mutex_t lock; /* of what follows: the first failure */
    fire_status_t   status;
    char            error[512];
} loader_t;

static fire_status_t load_one(store_t *s, int64_t i, fire_buffer_t *b)
{
    fire_record_t r;

    FIRE_TRY(fire_source_read(s->file, i, b, &r));
    return fire_store_keep(s, i, r.bytes);
}

static void note_error(loader_t *l, fire_status_t st)
{
    pthread_mutex_lock(&l->lock);
    if (l->status == FIRE_OK) {
        l->status = st;
        snprintf(l->error, sizeof(l->error), "%s", fire_last_error());
    }
    pthread_mutex_unlock(&l->lock);
    atomic_store(&l->failed, true);
}

static void *load_thread(void *arg)
{
    loader_t     *l = arg;
    store_t      *s = l->store;
    fire_buffer_t b = {0};
    int64_t       i;

    while ((i = atomic_fetch_add(&l->next, 1)) < s->base.count &&
           !atomic_load(&l->failed)) {
        fire_status_t st = s->now[i] == s->opt.part ? load_one(s, i, &b) : FIRE_OK;

        if (st < 0) note_error(l, st);
    }
    fire_buffer_fini(&b);
    return NULL;
}

fire_status_t fire_store_load(store_t *s)
{
    loader_t  l    = {.store = s};
    int       want = s->opt.threads > 0 ? s->opt.threads : 4, n = 0;
    pthread_t thread[MAX_THREADS];

    pthread_mutex_init(&l.lock, NULL);
    while (n < want - 1 && n < MAX_THREADS &&
           pthread_create(&thread[n], NULL, load_thread, &l) == 0)
        n++;
    load_thread(&l); /* this thread works too */
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&l.lock);
    return l.status < 0 ? FIRE_FAIL(l.status, "%s", l.error) : FIRE_OK;
}

/* ---- from other workers ---- */

/* One round: records [first, end). All workers see the same rounds, since all know all
 * sizes; records travel in the order of their numbers and need no names. */
typedef struct round {
    int64_t  first, end;
    int64_t *send_at, *send_n, *recv_at, *recv_n; /* [parts] */
} round_t;

static bool leaves(const store_t *s, int64_t i)
{
    return s->now[i] == s->opt.part && s->then[i] != s->opt.part;
}

static bool arrives(const store_t *s, int64_t i)
{
    return s->now[i] != s->opt.part && s->then[i] == s->opt.part;
}

/* Where each worker's bytes begin; leaves the cursors at the beginnings. */
static int64_t lay_out(int parts, int64_t *at, const int64_t *n)
{
    int64_t sum = 0;

    for (int w = 0; w < parts; w++) {
        at[w] = sum;
        sum += n[w];
    }
    return sum;
}

static fire_status_t count_bytes(store_t *s, round_t *r)
{
    int parts = s->opt.parts;

    memset(s->plan, 0, 4 * (size_t)parts * sizeof(*s->plan));
    r->send_at = s->plan;
    r->send_n  = s->plan + parts;
    r->recv_at = s->plan + 2 * parts;
    r->recv_n  = s->plan + 3 * parts;
    for (int64_t i = r->first; i < r->end; i++) {
        if (leaves(s, i)) r->send_n[s->then[i]] += s->size[i];
        if (arrives(s, i)) r->recv_n[s->now[i]] += s->size[i];
    }
    FIRE_TRY(
        fire_grow(&s->send, &s->send_cap, lay_out(parts, r->send_at, r->send_n), 1));
    return fire_grow(&s->recv, &s->recv_cap, lay_out(parts, r->recv_at, r->recv_n), 1);
}

static fire_status_t pack(store_t *s, const round_t *r)
{
    for (int64_t i = r->first; i < r->end; i++) {
        if (!leaves(s, i)) continue;
        if (s->record[i] == NULL) FIRE_TRY(load_one(s, i, &s->spare));
        memcpy(s->send + r->send_at[s->then[i]], s->record[i], s->size[i]);
        r->send_at[s->then[i]] += s->size[i];
        pthread_rwlock_wrlock(&s->lock);
        fire_free(s->record[i]);
        s->record[i] = NULL;
        pthread_rwlock_unlock(&s->lock);
    }
    lay_out(s->opt.parts, r->send_at, r->send_n);
    return FIRE_OK;
}

static fire_status_t unpack(store_t *s, const round_t *r)
{
    for (int64_t i = r->first; i < r->end; i++) {
        if (!arrives(s, i)) continue;
        FIRE_TRY(fire_store_keep(s, i, s->recv + r->recv_at[s->now[i]]));
        r->recv_at[s->now[i]] += s->size[i];
    }
    return FIRE_OK;
}

static fire_status_t run_round(store_t *s, round_t *r)
{
    FIRE_TRY(count_bytes(s, r));
    FIRE_TRY(pack(s, r));
    FIRE_TRY(
        s->opt.exchange(s->opt.arg, &(fire_parcels_t){s->send, r->send_at, r->send_n,
                                                      s->recv, r->recv_at, r->recv_n}));
    return unpack(s, r);
}

fire_status_t fire_store_pass_on(store_t *s)
{
    round_t r = {0};

    while (r.end < s->base.count) {
        int64_t bytes = 0;

        for (r.first = r.end;
             r.end < s->base.count && bytes < (int64_t)ROUND_BYTES * s->opt.parts;
             r.end++)
            bytes += s->size[r.end];
        FIRE_TRY(run_round(s, &r));
    }
    return FIRE_OK;
}
