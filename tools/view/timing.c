/* timing.c - mean times of layers since the table before. */
#include "view/timing.h"

#include "base/alloc.h"
#include "base/log.h"

static void log_layer(const char *pass, int i, const char *layer, double seconds,
                      int64_t passes)
{
    FIRE_LOG(INFO, "%s %3d %8s : %.2f", pass, i, layer,
             1000 * seconds / (double)passes);
}

/* Milliseconds per pass, of rank 0. */
static void log_table(const timing_t *t, const fire_layer_times_t *p)
{
    int64_t passes = p->passes - t->passes;

    for (int i = 0; i < p->nlayer && passes > 0; i++)
        log_layer("forw", i, p->label[i].name, p->forward[i] - t->forward[i], passes);
    for (int i = p->nlayer - 1; i >= 0 && passes > 0; i--)
        log_layer("back", i, p->label[i].name, p->backward[i] - t->backward[i], passes);
    FIRE_LOG(INFO, "solver total: %.2f", 1000 * t->seconds / (double)t->iterations);
    FIRE_LOG(INFO, "allreduce: %.2f", 1000 * t->exchange / (double)t->iterations);
}

fire_status_t timing_add(timing_t *t, const fire_measured_t *m)
{
    const fire_layer_times_t *p = &m->layers;
    int                       n = p->nlayer;

    if (t->forward == NULL) FIRE_TRY(FIRE_NEW(&t->forward, n));
    if (t->backward == NULL) FIRE_TRY(FIRE_NEW(&t->backward, n));
    t->iterations += m->iterations;
    t->seconds += m->times[0].seconds;
    t->exchange += m->times[0].phase[FIRE_PHASE_EXPOSED] + m->times[0].hidden;
    if (!t->is_due || t->iterations == 0) return FIRE_OK;
    log_table(t, p);
    for (int i = 0; i < n; i++) {
        t->forward[i]  = p->forward[i];
        t->backward[i] = p->backward[i];
    }
    t->passes     = p->passes;
    t->iterations = 0;
    t->seconds = t->exchange = 0;
    t->is_due                = false;
    return FIRE_OK;
}

void timing_fini(timing_t *t)
{
    fire_free(t->forward);
    fire_free(t->backward);
}
