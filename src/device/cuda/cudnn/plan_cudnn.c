/* plan_cudnn.c - chooses and runs execution plans: by cuDNN's advice, by measuring, or
 * as an earlier run has measured. */
#include "device/cuda/cudnn/plan_cudnn.h"

#include <stdio.h>

#include "device/tune.h"

/* ---- running a plan ---- */

void fire_cudnn_plan_free(const fire_cudnn_t *calls, fire_cudnn_plan_t *p)
{
    if (p->plan != NULL) calls->BackendDestroyDescriptor(p->plan);
    *p = (fire_cudnn_plan_t){0};
}

/* Tell the plan where its tensors and its workspace are. */
static fire_status_t point_to(const fire_cudnn_t *c, cudnnBackendDescriptor_t pack,
                              const fire_cudnn_args_t *args, void *workspace)
{
    FIRE_TRY(FIRE_CUDNN(c->BackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,
                                               CUDNN_TYPE_INT64, args->n, args->uid)));
    FIRE_TRY(
        FIRE_CUDNN(c->BackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
                                          CUDNN_TYPE_VOID_PTR, args->n, args->ptr)));
    FIRE_TRY(FIRE_CUDNN(c->BackendSetAttribute(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
                                               CUDNN_TYPE_VOID_PTR, 1, &workspace)));
    return FIRE_CUDNN(c->BackendFinalize(pack));
}

/* A pack of pointers is made for each run: cuDNN does not let a finished one change. */
fire_status_t fire_cudnn_plan_run(fire_stream_t *s, const fire_cudnn_plan_t *p,
                                  const fire_cudnn_args_t *args)
{
    cudnnBackendDescriptor_t pack;
    const fire_cudnn_t      *c;
    cudnnHandle_t            handle;
    void                    *workspace = NULL;
    fire_status_t            st;

    FIRE_TRY(fire_cudnn_get(s, &c, &handle));
    if (p->workspace > 0) FIRE_TRY(fire_cuda_workspace(s, p->workspace, &workspace));
    FIRE_TRY(FIRE_CUDNN(
        c->BackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack)));
    st = point_to(c, pack, args, workspace);
    if (st >= 0) st = FIRE_CUDNN(c->BackendExecute(handle, p->plan, pack));
    c->BackendDestroyDescriptor(pack);
    return st;
}

/* ---- choosing a plan ---- */

enum { MOST_MEASURED = 6, REPEATS = 3 };
#define MOST_WORKSPACE ((int64_t)2 << 30) /* bytes; plans that need more are skipped */

/* Build the plan of a configuration; false if it does not work on this GPU or shape. */
static bool build(const fire_cudnn_graph_t *g, cudnnBackendDescriptor_t config,
                  fire_cudnn_plan_t *p)
{
    const fire_cudnn_t *c     = g->calls;
    int64_t             bytes = 0, n = 0;

    *p = (fire_cudnn_plan_t){0};
    if (c->BackendCreateDescriptor(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, &p->plan) ==
            CUDNN_STATUS_SUCCESS &&
        c->BackendSetAttribute(p->plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE,
                               CUDNN_TYPE_HANDLE, 1,
                               &g->handle) == CUDNN_STATUS_SUCCESS &&
        c->BackendSetAttribute(p->plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                               CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                               &config) == CUDNN_STATUS_SUCCESS &&
        c->BackendFinalize(p->plan) == CUDNN_STATUS_SUCCESS &&
        c->BackendGetAttribute(p->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                               CUDNN_TYPE_INT64, 1, &n,
                               &bytes) == CUDNN_STATUS_SUCCESS &&
        bytes <= MOST_WORKSPACE) {
        p->workspace = (size_t)bytes;
        return true;
    }
    fire_cudnn_plan_free(c, p);
    return false;
}

/* p->ms: the fastest of REPEATS runs. */
static fire_status_t measure(fire_stream_t *s, fire_cudnn_plan_t *p,
                             const fire_cudnn_args_t *args, cudaEvent_t event[2])
{
    float ms;

    FIRE_TRY(fire_cudnn_plan_run(s, p, args)); /* warm up */
    for (int i = 0; i < REPEATS; i++) {
        FIRE_TRY(FIRE_CUDA(cudaEventRecord(event[0], s->main.stream)));
        FIRE_TRY(fire_cudnn_plan_run(s, p, args));
        FIRE_TRY(FIRE_CUDA(cudaEventRecord(event[1], s->main.stream)));
        FIRE_TRY(FIRE_CUDA(cudaEventSynchronize(event[1])));
        FIRE_TRY(FIRE_CUDA(cudaEventElapsedTime(&ms, event[0], event[1])));
        if (i == 0 || ms < p->ms) p->ms = ms;
    }
    return FIRE_OK;
}

/* The first allowed configuration that works or, if measuring, the fastest of the first
 * few. *best is replaced if a faster one is found. */
static fire_status_t pick(const fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                          const fire_cudnn_args_t    *args,
                          const fire_cudnn_configs_t *from, fire_cudnn_plan_t *best)
{
    int           most     = !r->measure                          ? 1
                             : from->source == FIRE_CUDNN_ADVISED ? MOST_MEASURED
                                                                  : FIRE_CUDNN_CONFIGS;
    cudaEvent_t   event[2] = {0};
    int           seen     = 0;
    fire_status_t st       = FIRE_OK;

    for (int i = 0; i < 2 && r->measure && st >= 0; i++)
        st = FIRE_CUDA(cudaEventCreate(&event[i]));
    for (int64_t i = 0; i < from->n && seen < most && st >= 0; i++) {
        fire_cudnn_plan_t p;

        if (!fire_cudnn_is_allowed(g->calls, r, from->config[i]) ||
            !build(g, from->config[i], &p))
            continue;
        if (r->measure && measure(g->stream, &p, args, event) < 0) {
            fire_cudnn_plan_free(g->calls, &p);
            continue;
        }
        seen++;
        if (best->plan != NULL && best->ms <= p.ms) {
            fire_cudnn_plan_free(g->calls, &p);
        } else {
            fire_cudnn_plan_free(g->calls, best);
            *best        = p;
            best->choice = (int)from->source * FIRE_CUDNN_CONFIGS + (int)i;
        }
    }
    for (int i = 0; i < 2; i++)
        if (event[i] != NULL) cudaEventDestroy(event[i]);
    return st;
}

static fire_status_t find_tune(const fire_cudnn_graph_t *g)
{
    struct cudaDeviceProp p;
    char                  library[32];

    if (g->stream->tune != NULL) return FIRE_OK;
    FIRE_TRY(FIRE_CUDA(cudaGetDeviceProperties(&p, g->stream->device)));
    snprintf(library, sizeof(library), "cudnn-%zu", g->calls->GetVersion());
    return fire_tune_open(p.name, library, &g->stream->tune);
}

/* The plan that an earlier run measured as the fastest; plan->plan is NULL if there is
 * none, or if it no longer works. */
static fire_status_t recall(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                            cudnnBackendDescriptor_t graph, fire_cudnn_plan_t *plan)
{
    fire_cudnn_configs_t from;
    int                  choice;

    FIRE_TRY(find_tune(g));
    if (!fire_tune_find(g->stream->tune, r->key, &choice) ||
        choice >= FIRE_CUDNN_SOURCES * FIRE_CUDNN_CONFIGS)
        return FIRE_OK;
    FIRE_TRY(fire_cudnn_configs_list(
        g, graph, (fire_cudnn_source_t)(choice / FIRE_CUDNN_CONFIGS), &from));
    choice %= FIRE_CUDNN_CONFIGS;
    if (choice >= from.n || !fire_cudnn_is_allowed(g->calls, r, from.config[choice]) ||
        !build(g, from.config[choice], plan))
        *plan = (fire_cudnn_plan_t){0};
    return FIRE_OK;
}

/* Shall this source be tried? Unadvised engines compete in measurements; the fallback
 * is for problems for which nothing else was found. */
static bool asks(const fire_cudnn_rules_t *r, fire_cudnn_source_t source,
                 const fire_cudnn_plan_t *best)
{
    if (source == FIRE_CUDNN_OTHERS) return r->measure && r->unadvised;
    return source == FIRE_CUDNN_ADVISED || best->plan == NULL;
}

/* *best is set even if a later source fails; the caller frees it. */
static fire_status_t find_best(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                               cudnnBackendDescriptor_t graph,
                               const fire_cudnn_args_t *args, fire_cudnn_plan_t *best)
{
    fire_cudnn_configs_t from;

    for (int i = 0; i < FIRE_CUDNN_SOURCES; i++)
        if (asks(r, (fire_cudnn_source_t)i, best)) {
            FIRE_TRY(fire_cudnn_configs_list(g, graph, (fire_cudnn_source_t)i, &from));
            FIRE_TRY(pick(g, r, args, &from, best));
        }
    if (best->plan == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "cuDNN has no plan for this operation");
    return FIRE_OK;
}

fire_status_t fire_cudnn_plan_make(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                                   const fire_cudnn_args_t *args,
                                   fire_cudnn_plan_t       *plan_p)
{
    bool                     keeps = r->measure && r->key != NULL;
    fire_cudnn_plan_t        best  = {0};
    cudnnBackendDescriptor_t graph;
    fire_status_t            st;

    FIRE_TRY(fire_cudnn_graph_seal(g, &graph));
    if (keeps) FIRE_TRY(recall(g, r, graph, &best));
    if (best.plan == NULL) {
        st = find_best(g, r, graph, args, &best);
        if (st >= 0 && keeps)
            st = fire_tune_keep(g->stream->tune, r->key, best.choice, (double)best.ms);
        if (st < 0) {
            fire_cudnn_plan_free(g->calls, &best);
            return st;
        }
    }
    *plan_p = best;
    return FIRE_OK;
}
