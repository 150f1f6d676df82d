/* bench.c - allreduce in turns, one repeat of every algorithm after the other. */
#include "comm/measure/bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "comm/comm_state.h"
#include "comm/select/select.h"

enum { WARM_UPS = 2 }; /* repeats that do not count */

static const char AUTO[] = "auto", LIBRARY[] = "library";

/* One algorithm at one size; collective NULL: the library's blocking call. */
typedef struct runner {
    const char        *name;
    fire_collective_t *collective;
    double            *seconds; /* [repeats] */
} runner_t;

typedef struct bench {
    fire_comm_t        *c;
    const fire_bench_t *b;
    float              *buf;    /* [count] memory of the communicator */
    float              *plain;  /* [count] plain memory, for the library */
    size_t              count;  /* elements of the current size */
    runner_t           *runner; /* [nrunner] */
    int                 nrunner;
    double             *seconds; /* [runners * repeats] */
    double             *all;     /* [ranks] of one run */
} bench_t;

static bool has_library(const bench_t *x)
{
    return x->c->tp->ops->allreduce_now != NULL;
}

static float *buffer(const bench_t *x, const runner_t *r)
{
    return r->collective != NULL ? x->buf : x->plain;
}

static fire_status_t run_once(const bench_t *x, const runner_t *r)
{
    fire_transport_t *tp = x->c->tp;

    if (r->collective == NULL) return tp->ops->allreduce_now(tp, x->plain, x->count);
    FIRE_TRY(fire_collective_start(r->collective));
    return fire_collective_wait(r->collective);
}

/* All ranks contribute ones: check about 64 elements of the sum. */
static fire_status_t check(const bench_t *x, const runner_t *r)
{
    const float *buf = buffer(x, r);

    for (size_t i = 0; i < x->count; i += 1 + x->count / 64)
        if (buf[i] != (float)x->c->tp->size)
            return FIRE_FAIL(FIRE_ERR_COMM, "%s: element %zu of %zu is %g, not %d",
                             r->name, i, x->count, (double)buf[i], x->c->tp->size);
    return FIRE_OK;
}

/* A TCP connection between hosts keeps a congestion window and loss estimates from
 * recent traffic, so an algorithm would be measured with what the one before left
 * behind. After 0.4 s without traffic TCP starts afresh; in a training the backward
 * pass is that pause. */
static void let_rest(const fire_comm_t *c)
{
    const struct timespec pause = {.tv_nsec = 400000000};

    for (int i = 1; i < c->tp->size; i++)
        if (c->node[i] != c->node[0]) {
            nanosleep(&pause, NULL);
            return;
        }
}

/* Run once; seconds of the slowest rank. */
static fire_status_t measure(bench_t *x, const runner_t *r, double *seconds_p)
{
    float *buf = buffer(x, r);
    double start, mine;

    for (size_t i = 0; i < x->count; i++)
        buf[i] = 1;
    let_rest(x->c);
    FIRE_TRY(fire_comm_barrier(x->c));
    start = fire_clock_now();
    FIRE_TRY(run_once(x, r));
    mine = fire_clock_now() - start;
    FIRE_TRY(check(x, r));
    FIRE_TRY(fire_comm_allgather(x->c, &mine, sizeof(mine), x->all));
    *seconds_p = 0;
    for (int k = 0; k < x->c->tp->size; k++)
        if (x->all[k] > *seconds_p) *seconds_p = x->all[k];
    return FIRE_OK;
}

static int compare(const void *a, const void *b)
{
    double d = *(const double *)a - *(const double *)b;

    return d < 0 ? -1 : d > 0;
}

static double median(const bench_t *x, const runner_t *r)
{
    return r->seconds[x->b->repeats / 2];
}

/* Fill the runners' seconds, sorted. */
static fire_status_t measure_all(bench_t *x)
{
    for (int k = -WARM_UPS; k < x->b->repeats; k++)
        for (int i = 0; i < x->nrunner; i++) {
            double seconds;

            FIRE_TRY(measure(x, &x->runner[i], &seconds));
            if (k >= 0) x->runner[i].seconds[k] = seconds;
        }
    for (int i = 0; i < x->nrunner; i++)
        qsort(x->runner[i].seconds, (size_t)x->b->repeats, sizeof(double), compare);
    return FIRE_OK;
}

/* name NULL: the library's call. */
static fire_status_t add_runner(bench_t *x, const char *name)
{
    runner_t     *r = &x->runner[x->nrunner];
    fire_choice_t choice;

    r->name       = name != NULL ? name : LIBRARY;
    r->seconds    = x->seconds + x->nrunner * x->b->repeats;
    r->collective = NULL;
    if (name != NULL) {
        fire_collective_options_t o = {.algo = AUTO, .canonical = x->b->canonical};

        if (strcmp(name, AUTO) != 0) {
            FIRE_TRY(fire_choice_parse(name, &choice));
            o.algo   = choice.algo->name;
            o.colors = choice.colors;
            o.piece  = choice.piece;
        }
        FIRE_TRY(fire_collective_create(x->c, &o, x->buf, x->count, &r->collective));
    }
    x->nrunner++;
    return FIRE_OK;
}

static void report(bench_t *x, void (*each)(void *, const fire_bench_result_t *),
                   void    *arg)
{
    double ranks = x->c->tp->size, bytes = (double)(x->count * sizeof(float));
    double library = has_library(x) ? median(x, &x->runner[x->nrunner - 1]) : 0;

    for (int i = 0; i < x->nrunner; i++) {
        const runner_t     *r      = &x->runner[i];
        fire_bench_result_t result = {.algo    = r->name,
                                      .bytes   = x->count * sizeof(float),
                                      .seconds = median(x, r),
                                      .best    = r->seconds[0]};

        if (r->collective != NULL) {
            result.chosen = fire_collective_algo(r->collective)->name;
            result.piece  = fire_collective_piece(r->collective);
        }
        result.bus     = 2 * (ranks - 1) / ranks * bytes / result.seconds;
        result.library = library / result.seconds;
        each(arg, &result);
    }
}

static fire_status_t
bench_size(bench_t *x, void (*each)(void *, const fire_bench_result_t *), void *arg)
{
    fire_status_t st = FIRE_OK;

    for (int i = 0; i < x->b->nalgo && st == FIRE_OK; i++)
        st = add_runner(x, x->b->algo[i]);
    if (st == FIRE_OK && has_library(x)) st = add_runner(x, NULL);
    if (st == FIRE_OK) st = measure_all(x);
    if (st == FIRE_OK) report(x, each, arg);
    while (x->nrunner > 0)
        fire_collective_destroy(x->runner[--x->nrunner].collective);
    return st;
}

static fire_status_t take_memory(bench_t *x)
{
    const fire_bench_t *b    = x->b;
    size_t              most = 0;

    for (int i = 0; i < b->nbytes; i++)
        if (b->bytes[i] > most) most = b->bytes[i];
    FIRE_TRY(FIRE_NEW(&x->runner, b->nalgo + 1));
    FIRE_TRY(FIRE_NEW(&x->seconds, (b->nalgo + 1) * b->repeats));
    FIRE_TRY(FIRE_NEW(&x->all, x->c->tp->size));
    if (has_library(x)) FIRE_TRY(fire_alloc(most, 1, "buffer", (void **)&x->plain));
    return fire_comm_alloc(x->c, most, (void **)&x->buf);
}

fire_status_t fire_comm_bench(fire_comm_t *c, const fire_bench_t *b,
                              void (*each)(void *arg, const fire_bench_result_t *r),
                              void *arg)
{
    bench_t       x = {.c = c, .b = b};
    fire_status_t st;

    if (b->repeats < 1 || b->nbytes < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "nothing to measure: %d sizes, %d repeats",
                         b->nbytes, b->repeats);
    st = take_memory(&x);
    for (int i = 0; i < b->nbytes && st == FIRE_OK; i++) {
        x.count = b->bytes[i] / sizeof(float);
        st      = bench_size(&x, each, arg);
    }
    fire_comm_free(c, x.buf);
    fire_free(x.plain);
    fire_free(x.all);
    fire_free(x.seconds);
    fire_free(x.runner);
    return st;
}
