#include "device/cuda/graph_cudnn.h"

#include <stdio.h>
#include <string.h>

#include "device/tune.h"

/* ---- descriptors ---- */

fire_status_t fire_cudnn_graph_init(fire_stream_t *s, fire_cudnn_graph_t *g)
{
    *g = (fire_cudnn_graph_t){.stream = s};
    return fire_cudnn_get(s, &g->calls, &g->handle);
}

void fire_cudnn_graph_fini(fire_cudnn_graph_t *g)
{
    while (g->n > 0)
        g->calls->BackendDestroyDescriptor(g->made[--g->n]);
}

fire_status_t fire_cudnn_graph_add(fire_cudnn_graph_t          *g,
                                   cudnnBackendDescriptorType_t type,
                                   cudnnBackendDescriptor_t    *d_p)
{
    if (g->n == (int)(sizeof(g->made) / sizeof(g->made[0])))
        return FIRE_FAIL(FIRE_ERR_INVALID, "a cuDNN graph of too many parts");
    FIRE_TRY(FIRE_CUDNN(g->calls->BackendCreateDescriptor(type, &g->made[g->n])));
    *d_p = g->made[g->n++];
    return FIRE_OK;
}

fire_status_t fire_cudnn_graph_set(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t d,
                                   cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type, int64_t n,
                                   const void *value)
{
    return FIRE_CUDNN(g->calls->BackendSetAttribute(d, name, type, n, value));
}

fire_status_t fire_cudnn_graph_finish(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t d)
{
    return FIRE_CUDNN(g->calls->BackendFinalize(d));
}

#define SET(d, name, type, n, value) \
    FIRE_TRY(fire_cudnn_graph_set(g, (d), (name), (type), (n), (value)))

fire_status_t fire_cudnn_graph_tensor(fire_cudnn_graph_t        *g,
                                      const fire_cudnn_tensor_t *t,
                                      cudnnBackendDescriptor_t  *d_p)
{
    int64_t                  alignment = 16, uid = t->uid;
    bool                     inside = t->uid == 0;
    cudnnBackendDescriptor_t d;

    if (inside) uid = 1000 + g->n;
    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_TENSOR_DESCRIPTOR, &d));
    SET(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &t->type);
    SET(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, t->ndim, t->dim);
    SET(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, t->ndim, t->stride);
    SET(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    SET(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    SET(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &inside);
    FIRE_TRY(fire_cudnn_graph_finish(g, d));
    *d_p = d;
    return FIRE_OK;
}

static fire_status_t finish_graph(fire_cudnn_graph_t       *g,
                                  cudnnBackendDescriptor_t *graph_p)
{
    cudnnBackendDescriptor_t d;

    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &d));
    SET(d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &g->handle);
    SET(d, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, g->nop, g->op);
    FIRE_TRY(fire_cudnn_graph_finish(g, d));
    *graph_p = d;
    return FIRE_OK;
}

/* ---- running a plan ---- */

void fire_cudnn_plan_free(const fire_cudnn_t *calls, fire_cudnn_plan_t *p)
{
    if (p->plan != NULL) calls->BackendDestroyDescriptor(p->plan);
    *p = (fire_cudnn_plan_t){0};
}

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

/* A pack of pointers serves once: it cannot be changed when it is final. */
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

/* ---- choosing one ---- */

enum { MOST_CONFIGS = 12, MOST_MEASURED = 6, REPEATS = 3 };
#define MOST_WORKSPACE ((int64_t)2 << 30)

static bool is_forbidden(const fire_cudnn_rules_t *r, cudnnBackendNumericalNote_t note)
{
    switch (note) {
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
        return r->deterministic;
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
        return !r->tensor_cores;
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        return true;
    case CUDNN_NUMERICAL_NOTE_FFT:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        return r->exact;
    default:
        return false;
    }
}

/* What cuDNN says of the engine of a configuration. */
typedef struct notes {
    int64_t                     n; /* -1: nothing */
    cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t                     engine;
} notes_t;

static notes_t notes_of(const fire_cudnn_t *c, cudnnBackendDescriptor_t config)
{
    notes_t                  s = {.n = -1};
    cudnnBackendDescriptor_t engine;
    int64_t                  n = 0;

    if (c->BackendCreateDescriptor(CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine) !=
        CUDNN_STATUS_SUCCESS)
        return s;
    if (c->BackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
                               CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &n,
                               &engine) != CUDNN_STATUS_SUCCESS ||
        c->BackendGetAttribute(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64,
                               1, &n, &s.engine) != CUDNN_STATUS_SUCCESS ||
        c->BackendGetAttribute(
            engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
            CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &s.n, s.note) != CUDNN_STATUS_SUCCESS)
        s.n = -1;
    c->BackendDestroyDescriptor(engine);
    return s;
}

/* Do the rules allow the engine of this configuration? */
static bool is_allowed(const fire_cudnn_t *c, const fire_cudnn_rules_t *r,
                       cudnnBackendDescriptor_t config)
{
    notes_t s  = notes_of(c, config);
    bool    ok = s.n >= 0;

    for (int64_t i = 0; i < s.n && ok; i++)
        ok = !is_forbidden(r, s.note[i]);
    return ok;
}

/* A plan for a configuration; false where this GPU or size has none. */
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

static fire_status_t measure(fire_stream_t *s, fire_cudnn_plan_t *p,
                             const fire_cudnn_args_t *args, cudaEvent_t event[2])
{
    float ms;

    FIRE_TRY(fire_cudnn_plan_run(s, p, args)); /* warm up */
    for (int i = 0; i < REPEATS; i++) {
        FIRE_TRY(FIRE_CUDA(cudaEventRecord(event[0], s->queue)));
        FIRE_TRY(fire_cudnn_plan_run(s, p, args));
        FIRE_TRY(FIRE_CUDA(cudaEventRecord(event[1], s->queue)));
        FIRE_TRY(FIRE_CUDA(cudaEventSynchronize(event[1])));
        FIRE_TRY(FIRE_CUDA(cudaEventElapsedTime(&ms, event[0], event[1])));
        if (i == 0 || ms < p->ms) p->ms = ms;
    }
    return FIRE_OK;
}

/* Where configurations come from, in this order. */
enum source { ADVISED, OTHERS, FALLBACK, SOURCES };

typedef struct configs {
    enum source              source;
    int64_t                  n;
    cudnnBackendDescriptor_t config[MOST_CONFIGS];
} configs_t;

/* Plans of the configurations in order: the first, or the fastest of the first few. */
static fire_status_t pick(const fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                          const fire_cudnn_args_t *args, const configs_t *from,
                          fire_cudnn_plan_t *best)
{
    int most = !r->measure ? 1 : from->source == ADVISED ? MOST_MEASURED : MOST_CONFIGS;
    cudaEvent_t   event[2] = {0};
    int           seen     = 0;
    fire_status_t st       = FIRE_OK;

    for (int i = 0; i < 2 && r->measure && st >= 0; i++)
        st = FIRE_CUDA(cudaEventCreate(&event[i]));
    for (int64_t i = 0; i < from->n && seen < most && st >= 0; i++) {
        fire_cudnn_plan_t p;

        if (!is_allowed(g->calls, r, from->config[i]) || !build(g, from->config[i], &p))
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
            best->choice = (int)from->source * MOST_CONFIGS + (int)i;
        }
    }
    for (int i = 0; i < 2; i++)
        if (event[i] != NULL) cudaEventDestroy(event[i]);
    return st;
}

/* The configurations that cuDNN advises, best first. */
static fire_status_t advise(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t graph,
                            cudnnBackendHeurMode_t mode, int64_t *n_p,
                            cudnnBackendDescriptor_t *config)
{
    cudnnBackendDescriptor_t heuristic;

    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, &heuristic));
    SET(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        1, &graph);
    SET(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    if (g->calls->BackendFinalize(heuristic) != CUDNN_STATUS_SUCCESS) {
        *n_p = 0;
        return FIRE_OK;
    }
    for (int i = 0; i < MOST_CONFIGS; i++)
        FIRE_TRY(
            fire_cudnn_graph_add(g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config[i]));
    FIRE_TRY(FIRE_CUDNN(g->calls->BackendGetAttribute(
        heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        MOST_CONFIGS, n_p, config)));
    if (*n_p > MOST_CONFIGS) *n_p = MOST_CONFIGS;
    return FIRE_OK;
}

/* The engine of a number, as it comes; *ok_p: it has tensor cores do the work. */
static fire_status_t add_engine(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t graph,
                                int64_t number, cudnnBackendDescriptor_t *config_p,
                                bool *ok_p)
{
    cudnnBackendDescriptor_t engine, config;
    notes_t                  s;

    *ok_p = false;
    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_ENGINE_DESCRIPTOR, &engine));
    SET(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
        &graph);
    SET(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &number);
    if (g->calls->BackendFinalize(engine) != CUDNN_STATUS_SUCCESS) return FIRE_OK;
    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config));
    SET(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    if (g->calls->BackendFinalize(config) != CUDNN_STATUS_SUCCESS) return FIRE_OK;
    s         = notes_of(g->calls, config);
    *config_p = config;
    for (int64_t i = 0; i < s.n; i++)
        *ok_p |= s.note[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    return FIRE_OK;
}

/* Engines that cuDNN does not advise, though one of them may be the fastest. */
static fire_status_t list_others(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t graph,
                                 int64_t *n_p, cudnnBackendDescriptor_t *config)
{
    int64_t advised[MOST_CONFIGS], known, count = 0, n;

    FIRE_TRY(advise(g, graph, CUDNN_HEUR_MODE_A, &known, config));
    for (int64_t i = 0; i < known; i++)
        advised[i] = notes_of(g->calls, config[i]).engine;
    FIRE_TRY(FIRE_CUDNN(g->calls->BackendGetAttribute(
        graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, 1, &n,
        &count)));
    *n_p = 0;
    for (int64_t e = 0; e < count && *n_p < MOST_CONFIGS; e++) {
        bool ok = true;

        for (int64_t i = 0; i < known && ok; i++)
            ok = advised[i] != e;
        if (ok) FIRE_TRY(add_engine(g, graph, e, &config[*n_p], &ok));
        if (ok) ++*n_p;
    }
    return FIRE_OK;
}

static fire_status_t list(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t graph,
                          enum source source, configs_t *to)
{
    to->source = source;
    if (source == OTHERS) return list_others(g, graph, &to->n, to->config);
    return advise(g, graph,
                  source == ADVISED ? CUDNN_HEUR_MODE_A : CUDNN_HEUR_MODE_FALLBACK,
                  &to->n, to->config);
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

/* The plan that was found the fastest on an earlier day, if there is one. */
static fire_status_t recall(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                            cudnnBackendDescriptor_t graph, fire_cudnn_plan_t *plan)
{
    configs_t from;
    int       choice;

    FIRE_TRY(find_tune(g));
    if (!fire_tune_find(g->stream->tune, r->key, &choice) ||
        choice >= SOURCES * MOST_CONFIGS)
        return FIRE_OK;
    FIRE_TRY(list(g, graph, (enum source)(choice / MOST_CONFIGS), &from));
    choice %= MOST_CONFIGS;
    if (choice >= from.n || !is_allowed(g->calls, r, from.config[choice]) ||
        !build(g, from.config[choice], plan))
        *plan = (fire_cudnn_plan_t){0};
    return FIRE_OK;
}

/* Measured ones compete with those that are not advised; what is left is for where there
 * is nothing else. */
static bool asks(const fire_cudnn_rules_t *r, enum source source,
                 const fire_cudnn_plan_t *best)
{
    if (source == OTHERS) return r->measure && r->unadvised;
    return source == ADVISED || best->plan == NULL;
}

fire_status_t fire_cudnn_plan_make(fire_cudnn_graph_t *g, const fire_cudnn_rules_t *r,
                                   const fire_cudnn_args_t *args,
                                   fire_cudnn_plan_t       *plan_p)
{
    bool                     keeps = r->measure && r->key != NULL;
    fire_cudnn_plan_t        best  = {0};
    cudnnBackendDescriptor_t graph;
    configs_t                from;

    FIRE_TRY(finish_graph(g, &graph));
    if (keeps) FIRE_TRY(recall(g, r, graph, &best));
    if (best.plan != NULL) {
        *plan_p = best;
        return FIRE_OK;
    }
    for (int i = 0; i < SOURCES; i++)
        if (asks(r, (enum source)i, &best)) {
            FIRE_TRY(list(g, graph, (enum source)i, &from));
            FIRE_TRY(pick(g, r, args, &from, &best));
        }
    if (best.plan == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "cuDNN has no plan for this operation");
    if (keeps)
        FIRE_TRY(fire_tune_keep(g->stream->tune, r->key, best.choice, (double)best.ms));
    *plan_p = best;
    return FIRE_OK;
}
