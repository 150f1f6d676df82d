/* caffe_draws.c - a Mersenne Twister stream with random access. */
#include "data/transform/caffe_draws.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"

enum { KEPT = 1 << 16 }; /* numbers; decode threads are never this far apart */

struct fire_caffe_draws {
    pthread_mutex_t lock;
    fire_mt_t      *mt;
    uint32_t        seed;       /* to start over */
    int64_t         next;       /* index of the number that mt gives next */
    uint32_t        kept[KEPT]; /* number i is kept[i % KEPT] */
    int64_t         epoch;      /* order[epoch % 2] is of this epoch; -1: none yet */
    uint32_t       *order[2];   /* [n] each: of this epoch and the one before */
};

fire_status_t fire_caffe_draws_create(uint32_t seed, fire_caffe_draws_t **draws_p)
{
    fire_caffe_draws_t *d;
    fire_status_t       st;

    FIRE_TRY(FIRE_NEW(&d, 1));
    st = fire_mt_create(seed, &d->mt);
    if (st < 0) {
        fire_free(d);
        return st;
    }
    pthread_mutex_init(&d->lock, NULL);
    d->seed  = seed;
    d->epoch = -1;
    *draws_p = d;
    return FIRE_OK;
}

void fire_caffe_draws_destroy(fire_caffe_draws_t *d)
{
    if (d == NULL) return;
    pthread_mutex_destroy(&d->lock);
    fire_mt_destroy(d->mt);
    fire_free(d->order[0]);
    fire_free(d->order[1]);
    fire_free(d);
}

uint32_t fire_caffe_draws_at(fire_caffe_draws_t *d, int64_t index)
{
    uint32_t x;

    pthread_mutex_lock(&d->lock);
    if (index < d->next - KEPT) {
        fire_mt_seed(d->mt, d->seed);
        d->next = 0;
    }
    for (; d->next <= index; d->next++)
        d->kept[d->next % KEPT] = fire_mt_u32(d->mt);
    x = d->kept[index % KEPT];
    pthread_mutex_unlock(&d->lock);
    return x;
}

/* ---- order ---- */

/* Fisher-Yates, as Caffe's shuffle() does it. */
static void shuffle(fire_mt_t *mt, uint32_t *order, int64_t n)
{
    for (int64_t i = n - 1; i > 0; i--) {
        uint32_t j = fire_mt_below(mt, (uint32_t)i + 1), keep = order[i];

        order[i] = order[j];
        order[j] = keep;
    }
}

/* Compute the order of epoch 0. */
static fire_status_t begin_order(fire_caffe_draws_t *d, int64_t n)
{
    for (int i = 0; i < 2; i++)
        if (d->order[i] == NULL) FIRE_TRY(FIRE_NEW(&d->order[i], n));
    for (int64_t i = 0; i < n; i++)
        d->order[0][i] = (uint32_t)i;
    fire_mt_seed(d->mt, d->seed);
    shuffle(d->mt, d->order[0], n);
    d->epoch = 0;
    return FIRE_OK;
}

fire_status_t fire_caffe_draws_record(fire_caffe_draws_t *d, int64_t n, int64_t sample,
                                      int64_t *record_p)
{
    int64_t       epoch = sample / n;
    fire_status_t st    = FIRE_OK;

    pthread_mutex_lock(&d->lock);
    if (d->epoch < 0 || epoch < d->epoch - 1) st = begin_order(d, n);
    for (; st >= 0 && d->epoch < epoch; d->epoch++) {
        uint32_t *last = d->order[d->epoch % 2], *now = d->order[(d->epoch + 1) % 2];

        memcpy(now, last, (size_t)n * sizeof(*now));
        shuffle(d->mt, now, n);
    }
    if (st >= 0) *record_p = d->order[epoch % 2][sample % n];
    pthread_mutex_unlock(&d->lock);
    return st;
}
