/* configs_cudnn.h - the engine configurations that cuDNN has for a graph, and which of
 * them our rules allow. */
#ifndef FIRE_DEVICE_CUDA_CUDNN_CONFIGS_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_CONFIGS_CUDNN_H
#include "device/cuda/cudnn/graph_cudnn.h"

enum { FIRE_CUDNN_CONFIGS = 12 };

/* What a plan may do to the numbers, and how it is chosen. */
typedef struct fire_cudnn_rules {
    bool deterministic; /* the same bits on every run */
    bool exact;         /* no Winograd, no FFT */
    bool tensor_cores;  /* allowed, with the rounding of factors that comes with them */
    bool measure; /* run the first few allowed configurations and take the fastest */
    bool
        unadvised; /* measure engines on tensor cores that cuDNN does not advise, too */
    /* one word for the problem and the rules, under which a measured choice is kept
     * (tune.h); NULL: not kept */
    const char *key;
} fire_cudnn_rules_t;

/* Where configurations come from, in the order in which they are tried. */
typedef enum fire_cudnn_source {
    FIRE_CUDNN_ADVISED,  /* by cuDNN's heuristic A */
    FIRE_CUDNN_OTHERS,   /* engines on tensor cores that it does not advise */
    FIRE_CUDNN_FALLBACK, /* slow ones that work nearly always */
    FIRE_CUDNN_SOURCES
} fire_cudnn_source_t;

/* Descriptors belong to the graph. */
typedef struct fire_cudnn_configs {
    fire_cudnn_source_t      source;
    int64_t                  n;
    cudnnBackendDescriptor_t config[FIRE_CUDNN_CONFIGS];
} fire_cudnn_configs_t;

/* Fill *to with the configurations of a source, best first. */
fire_status_t fire_cudnn_configs_list(fire_cudnn_graph_t      *g,
                                      cudnnBackendDescriptor_t graph,
                                      fire_cudnn_source_t      source,
                                      fire_cudnn_configs_t    *to);
/* Do the rules allow the engine of this configuration? */
bool fire_cudnn_is_allowed(const fire_cudnn_t *calls, const fire_cudnn_rules_t *r,
                           cudnnBackendDescriptor_t config);
#endif
