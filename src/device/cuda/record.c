/* record.c - work of a queue recorded as a CUDA graph, which starts with one call
 * instead of one for each kernel. */
#include "base/alloc.h"
#include "device/cuda/cuda.h"

struct fire_gpu_graph {
    cudaGraphExec_t exec;
};

fire_status_t fire_gpu_record_begin(fire_stream_t *s)
{
    return FIRE_CUDA(
        cudaStreamBeginCapture(s->main.stream, cudaStreamCaptureModeRelaxed));
}

fire_status_t fire_gpu_record_end(fire_stream_t *s, fire_gpu_graph_t **graph_p)
{
    cudaGraph_t       graph = NULL;
    fire_gpu_graph_t *g;
    fire_status_t     st = FIRE_CUDA(cudaStreamEndCapture(s->main.stream, &graph));

    FIRE_TRY(st); /* the queue has left capture mode even so */
    st = FIRE_NEW(&g, 1);
    if (st >= 0) {
        st = FIRE_CUDA(cudaGraphInstantiate(&g->exec, graph, 0));
        if (st < 0)
            fire_free(g);
        else
            *graph_p = g;
    }
    cudaGraphDestroy(graph);
    return st;
}

fire_status_t fire_gpu_replay(fire_stream_t *s, fire_gpu_graph_t *graph)
{
    return FIRE_CUDA(cudaGraphLaunch(graph->exec, s->main.stream));
}

void fire_gpu_graph_free(fire_gpu_graph_t *graph)
{
    if (graph == NULL) return;
    cudaGraphExecDestroy(graph->exec);
    fire_free(graph);
}

int64_t fire_gpu_generation(const fire_stream_t *s)
{
    return s->generation;
}
