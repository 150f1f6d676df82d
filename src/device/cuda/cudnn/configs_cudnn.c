/* configs_cudnn.c - lists cuDNN's engine configurations for a graph. An engine is one
 * of cuDNN's implementations; a configuration is an engine with its settings; numerical
 * notes tell what an engine does to the numbers. */
#include "device/cuda/cudnn/configs_cudnn.h"

/* ---- what the rules allow ---- */

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

/* What cuDNN reports about the engine of a configuration. */
typedef struct notes {
    int64_t                     n; /* notes; -1: cuDNN does not tell */
    cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t                     engine; /* its global index */
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

bool fire_cudnn_is_allowed(const fire_cudnn_t *c, const fire_cudnn_rules_t *r,
                           cudnnBackendDescriptor_t config)
{
    notes_t s  = notes_of(c, config);
    bool    ok = s.n >= 0;

    for (int64_t i = 0; i < s.n && ok; i++)
        ok = !is_forbidden(r, s.note[i]);
    return ok;
}

/* ---- which configurations there are ---- */

/* A kind of descriptor that is made from a graph and one more attribute. */
typedef struct kind {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t  graph, name;
    cudnnBackendAttributeType_t  value;
} kind_t;

/* *ok_p: cuDNN has such a descriptor for this graph. */
static fire_status_t add_for_graph(fire_cudnn_graph_t      *g,
                                   cudnnBackendDescriptor_t graph, const kind_t *k,
                                   const void *value, cudnnBackendDescriptor_t *d_p,
                                   bool *ok_p)
{
    FIRE_TRY(fire_cudnn_graph_add(g, k->type, d_p));
    FIRE_CUDNN_SET(g, *d_p, k->graph, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &graph);
    FIRE_CUDNN_SET(g, *d_p, k->name, k->value, 1, value);
    *ok_p = g->calls->BackendFinalize(*d_p) == CUDNN_STATUS_SUCCESS;
    return FIRE_OK;
}

/* The configurations that one of cuDNN's heuristics advises, best first. */
static fire_status_t advise(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t graph,
                            cudnnBackendHeurMode_t mode, int64_t *n_p,
                            cudnnBackendDescriptor_t *config)
{
    static const kind_t      kind = {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
                                     CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                                     CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE};
    cudnnBackendDescriptor_t heuristic;
    bool                     ok;

    *n_p = 0;
    FIRE_TRY(add_for_graph(g, graph, &kind, &mode, &heuristic, &ok));
    if (!ok) return FIRE_OK;
    for (int i = 0; i < FIRE_CUDNN_CONFIGS; i++)
        FIRE_TRY(
            fire_cudnn_graph_add(g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config[i]));
    FIRE_TRY(FIRE_CUDNN(g->calls->BackendGetAttribute(
        heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
        FIRE_CUDNN_CONFIGS, n_p, config)));
    if (*n_p > FIRE_CUDNN_CONFIGS) *n_p = FIRE_CUDNN_CONFIGS;
    return FIRE_OK;
}

/* Engine `number` with its default settings; *ok_p: it exists and uses tensor cores. */
static fire_status_t add_engine(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t graph,
                                int64_t number, cudnnBackendDescriptor_t *config_p,
                                bool *ok_p)
{
    static const kind_t      kind = {CUDNN_BACKEND_ENGINE_DESCRIPTOR,
                                     CUDNN_ATTR_ENGINE_OPERATION_GRAPH,
                                     CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64};
    cudnnBackendDescriptor_t engine, config;
    bool                     is_there;
    notes_t                  s;

    *ok_p = false;
    FIRE_TRY(add_for_graph(g, graph, &kind, &number, &engine, &is_there));
    if (!is_there) return FIRE_OK;
    FIRE_TRY(fire_cudnn_graph_add(g, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config));
    FIRE_CUDNN_SET(g, config, CUDNN_ATTR_ENGINECFG_ENGINE,
                   CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &engine);
    if (g->calls->BackendFinalize(config) != CUDNN_STATUS_SUCCESS) return FIRE_OK;
    s         = notes_of(g->calls, config);
    *config_p = config;
    for (int64_t i = 0; i < s.n; i++)
        *ok_p |= s.note[i] == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    return FIRE_OK;
}

/* Engines on tensor cores that cuDNN does not advise: one of them may be the
 * fastest. */
static fire_status_t list_others(fire_cudnn_graph_t *g, cudnnBackendDescriptor_t graph,
                                 int64_t *n_p, cudnnBackendDescriptor_t *config)
{
    int64_t advised[FIRE_CUDNN_CONFIGS], known, count = 0, n;

    FIRE_TRY(advise(g, graph, CUDNN_HEUR_MODE_A, &known, config));
    for (int64_t i = 0; i < known; i++)
        advised[i] = notes_of(g->calls, config[i]).engine;
    FIRE_TRY(FIRE_CUDNN(g->calls->BackendGetAttribute(
        graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, 1, &n,
        &count)));
    *n_p = 0;
    for (int64_t e = 0; e < count && *n_p < FIRE_CUDNN_CONFIGS; e++) {
        bool ok = true;

        for (int64_t i = 0; i < known && ok; i++)
            ok = advised[i] != e;
        if (ok) FIRE_TRY(add_engine(g, graph, e, &config[*n_p], &ok));
        if (ok) ++*n_p;
    }
    return FIRE_OK;
}

fire_status_t fire_cudnn_configs_list(fire_cudnn_graph_t      *g,
                                      cudnnBackendDescriptor_t graph,
                                      fire_cudnn_source_t      source,
                                      fire_cudnn_configs_t    *to)
{
    to->source = source;
    if (source == FIRE_CUDNN_OTHERS) return list_others(g, graph, &to->n, to->config);
    return advise(g, graph,
                  source == FIRE_CUDNN_ADVISED ? CUDNN_HEUR_MODE_A
                                               : CUDNN_HEUR_MODE_FALLBACK,
                  &to->n, to->config);
}
