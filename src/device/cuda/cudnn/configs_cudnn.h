/* configs_cudnn.h - configurations of engines that cuDNN has for a graph, and which of them
 * the rules allow. */
#ifndef FIRE_DEVICE_CUDA_CUDNN_CONFIGS_CUDNN_H
#define FIRE_DEVICE_CUDA_CUDNN_CONFIGS_CUDNN_H
#include "device/cuda/cudnn/graph_cudnn.h"

enum { FIRE_CUDNN_CONFIGS = 12 };

/* What plans may do. */
typedef struct fire_cudnn_rules {
    bool deterministic, exact, tensor_cores;
    /* Run the best few of those that cuDNN advises, and take the fastest; key: a word for
     * the problem and the rules, under which the choice is kept (tune.h). unadvised: run
     * others that use tensor cores, too. */
    bool        measure, unadvised;
    const char *key;
} fire_cudnn_rules_t;

/* Where configurations come from, in the order in which they are tried. */
typedef enum fire_cudnn_source {
    FIRE_CUDNN_ADVISED,
    FIRE_CUDNN_OTHERS,
    FIRE_CUDNN_FALLBACK,
    FIRE_CUDNN_SOURCES
} fire_cudnn_source_t;

typedef struct fire_cudnn_configs {
    fire_cudnn_source_t      source;
    int64_t                  n;
    cudnnBackendDescriptor_t config[FIRE_CUDNN_CONFIGS];
} fire_cudnn_configs_t;

/* They live as long as the graph. */
fire_status_t fire_cudnn_configs_list(fire_cudnn_graph_t      *g,
                                      cudnnBackendDescriptor_t graph,
                                      fire_cudnn_source_t      source,
                                      fire_cudnn_configs_t    *to);
/* Do the rules allow the engine of this configuration? */
bool fire_cudnn_is_allowed(const fire_cudnn_t *calls, const fire_cudnn_rules_t *r,
                           cudnnBackendDescriptor_t config);
#endif
