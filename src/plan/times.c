/* times.c - measured seconds of layers, from a file of `firecaffe time --json`. */
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text/json.h"
#include "plan/plan.h"

static const fire_json_t *find_layer(const fire_json_t *layers, const char *name)
{
    for (int64_t i = 0; i < layers->n; i++)
        if (strcmp(fire_json_string_or(&layers->item[i], "name", ""), name) == 0)
            return &layers->item[i];
    return NULL;
}

/* `crowd`: how many times as long a layer took because workers shared cores. */
static fire_status_t read_layers(const fire_plan_net_t *n, const char *path,
                                 const fire_json_t *layers, double crowd,
                                 double *forward, double *backward)
{
    for (int i = 0; i < n->nlayer; i++) {
        const fire_json_t *l = find_layer(layers, n->name[i]), *f, *b;

        if (l == NULL)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "%s:%d: layer \"%s\" of the net is missing; was another "
                             "net timed?",
                             path, layers->line, n->name[i]);
        FIRE_TRY(fire_json_want(l, "forward_s", FIRE_JSON_NUMBER, &f));
        FIRE_TRY(fire_json_want(l, "backward_s", FIRE_JSON_NUMBER, &b));
        forward[i]  = f->number / crowd;
        backward[i] = b->number / crowd;
    }
    return FIRE_OK;
}

/* Seconds of a pass between its layers. */
static double between(const fire_plan_net_t *n, const fire_json_t *item, double crowd,
                      const double *forward, const double *backward)
{
    double rest = (fire_json_number_or(item, "forward_s", 0) +
                   fire_json_number_or(item, "backward_s", 0)) /
                  crowd;

    for (int i = 0; i < n->nlayer; i++)
        rest -= forward[i] + backward[i];
    return rest > 0 ? rest : 0;
}

static fire_status_t read_batch(fire_plan_net_t *n, const char *path,
                                const fire_json_t *item, double crowd)
{
    fire_timing_t     *t = &n->timing[n->ntiming];
    const fire_json_t *batch, *layers;
    double            *forward, *backward;

    FIRE_TRY(fire_json_want(item, "batch", FIRE_JSON_NUMBER, &batch));
    FIRE_TRY(fire_json_want(item, "layers", FIRE_JSON_ARRAY, &layers));
    if (!(batch->number >= 1 && batch->number <= 1 << 24))
        return FIRE_FAIL(FIRE_ERR_PARSE, "%s:%d: a batch of %g is impossible", path,
                         batch->line, batch->number);
    FIRE_TRY(FIRE_NEW(&forward, n->nlayer));
    t->forward = forward;
    n->ntiming++; /* from here on fire_plan_net_fini() ends it */
    FIRE_TRY(FIRE_NEW(&backward, n->nlayer));
    t->backward = backward;
    t->batch    = (int)batch->number;
    FIRE_TRY(read_layers(n, path, layers, crowd, forward, backward));
    t->other   = between(n, item, crowd, forward, backward);
    t->meeting = fire_json_number_or(item, "meeting_s", 0) / crowd;
    return FIRE_OK;
}

static int by_batch(const void *a, const void *b)
{
    return ((const fire_timing_t *)a)->batch - ((const fire_timing_t *)b)->batch;
}

static fire_status_t read_times(fire_plan_net_t *n, const fire_cluster_t *c,
                                const char *path, const fire_json_t *json)
{
    double workers = fire_json_number_or(json, "workers", 1);
    double crowd   = fire_cluster_crowd(c, workers < 1 << 20 ? (int)workers : 1 << 20);
    const fire_json_t *times;

    FIRE_TRY(fire_json_want(json, "times", FIRE_JSON_ARRAY, &times));
    FIRE_TRY(FIRE_NEW(&n->timing, times->n));
    for (int64_t i = 0; i < times->n; i++)
        FIRE_TRY(read_batch(n, path, &times->item[i], crowd));
    qsort(n->timing, (size_t)n->ntiming, sizeof(*n->timing), by_batch);
    for (int i = 1; i < n->ntiming; i++)
        if (n->timing[i].batch == n->timing[i - 1].batch)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "%s: times of a batch of %d are given twice", path,
                             n->timing[i].batch);
    return FIRE_OK;
}

fire_status_t fire_plan_net_time(fire_plan_net_t *n, const fire_cluster_t *c,
                                 const char *path)
{
    fire_json_t  *json;
    fire_status_t st;

    FIRE_TRY(fire_json_load(path, &json));
    st = read_times(n, c, path, json);
    fire_json_free(json);
    return st < 0 ? fire_error_prefix(st, "%s", path) : st;
}
