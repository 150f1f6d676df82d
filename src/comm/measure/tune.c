/* tune.c - writes a tuning table from measurements of bench.c, line by line as results
 * arrive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/text.h"
#include "comm/comm_state.h"
#include "comm/measure/bench.h"

typedef struct tuner {
    const fire_bench_t  *b;
    fire_bench_result_t *result;  /* [n] of the current size */
    int                  n, size; /* size: index into b->bytes */
    fire_str_t           text;    /* the table so far */
    fire_status_t        st;      /* of write_line(), kept for the end */
    int                  ranks;
} tuner_t;

static int compare_result(const void *va, const void *vb)
{
    const fire_bench_result_t *a = va, *b = vb;

    return a->seconds < b->seconds ? -1 : a->seconds > b->seconds;
}

/* The line of one size, fastest first. It holds from the geometric mean with the next
 * smaller size on. */
static fire_status_t write_line(tuner_t *t)
{
    const size_t *bytes = &t->b->bytes[t->size];
    double        from  = t->size == 0 ? 0 : sqrt((double)bytes[-1] * (double)bytes[0]);

    qsort(t->result, (size_t)t->n, sizeof(*t->result), compare_result);
    FIRE_TRY(fire_str_printf(&t->text, "%d %.0f", t->ranks, from));
    for (int i = 0; i < t->n; i++)
        FIRE_TRY(fire_str_printf(&t->text, " %s", t->result[i].algo));
    return fire_str_printf(&t->text, "\n");
}

/* All results of one size are there. */
static void next_size(tuner_t *t)
{
    if (t->st == FIRE_OK) t->st = write_line(t);
    t->n = 0;
    t->size++;
}

static void collect(void *arg, const fire_bench_result_t *r)
{
    tuner_t *t = arg;

    if (r->bytes != t->b->bytes[t->size] / sizeof(float) * sizeof(float)) next_size(t);
    if (strcmp(r->algo, "library") != 0 && strcmp(r->algo, "auto") != 0)
        t->result[t->n++] = *r;
}

fire_status_t fire_comm_tune(fire_comm_t *c, const fire_bench_t *b, char **text_p)
{
    tuner_t       t = {.b = b, .ranks = c->tp->size};
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&t.result, b->nalgo));
    st = fire_str_printf(&t.text, "# firecaffe tuning 1\n");
    if (st == FIRE_OK) st = fire_comm_bench(c, b, collect, &t);
    if (st == FIRE_OK) next_size(&t);
    if (st == FIRE_OK) st = t.st;
    if (st == FIRE_OK) st = fire_str_take(&t.text, text_p);
    fire_str_fini(&t.text);
    fire_free(t.result);
    return st;
}
