/* side_queue.c - a second CUDA stream of a worker, for small kernels whose result the
 * next kernels do not read:
 *
 *     main  ---forked-------- what comes after end ------ join -->
 *                 \                                    /
 *     side         `-- between begin and end -- joined
 *
 * Between begin and end the two queues are swapped, with their handles and scratch
 * memory, so that callers queue work as usual. */
#include "device/cuda/cuda.h"

static void swap_queues(fire_stream_t *s)
{
    fire_cuda_work_queue_t now = s->main;

    s->main = s->side;
    s->side = now;
}

static fire_status_t make_event(cudaEvent_t *event_p)
{
    if (*event_p != NULL) return FIRE_OK;
    return FIRE_CUDA(cudaEventCreateWithFlags(event_p, cudaEventDisableTiming));
}

static fire_status_t open_queue(fire_stream_t *s)
{
    if (s->side.stream != NULL) return FIRE_OK;
    FIRE_TRY(make_event(&s->forked));
    FIRE_TRY(make_event(&s->joined));
    return FIRE_CUDA(cudaStreamCreate(&s->side.stream));
}

fire_status_t fire_cuda_side_queue_begin(fire_stream_t *s)
{
    if (s->shared) return FIRE_OK;
    FIRE_TRY(open_queue(s));
    FIRE_TRY(FIRE_CUDA(cudaEventRecord(s->forked, s->main.stream)));
    FIRE_TRY(FIRE_CUDA(cudaStreamWaitEvent(s->side.stream, s->forked, 0)));
    swap_queues(s);
    return FIRE_OK;
}

fire_status_t fire_cuda_side_queue_end(fire_stream_t *s, fire_status_t so_far)
{
    if (s->shared) return so_far;
    swap_queues(s);
    FIRE_TRY(so_far);
    return FIRE_CUDA(cudaEventRecord(s->joined, s->side.stream));
}

fire_status_t fire_cuda_side_queue_join(fire_stream_t *s)
{
    if (s->shared) return FIRE_OK;
    return FIRE_CUDA(cudaStreamWaitEvent(s->main.stream, s->joined, 0));
}

void fire_cuda_side_queue_close(fire_stream_t *s)
{
    if (s->forked != NULL) cudaEventDestroy(s->forked);
    if (s->joined != NULL) cudaEventDestroy(s->joined);
    if (s->side.stream == NULL) return;
    cudaStreamSynchronize(s->side.stream);
    fire_cuda_work_queue_close(&s->side);
}
