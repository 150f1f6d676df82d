/* aside.c - a second queue beside a worker's own, for work that the next does not need. */
#include "device/cuda/cuda.h"

static void change_lanes(fire_stream_t *s)
{
    fire_cuda_lane_t now = s->lane;

    s->lane   = s->beside;
    s->beside = now;
}

static fire_status_t make_event(cudaEvent_t *event_p)
{
    if (*event_p != NULL) return FIRE_OK;
    return FIRE_CUDA(cudaEventCreateWithFlags(event_p, cudaEventDisableTiming));
}

static fire_status_t open_queue(fire_stream_t *s)
{
    if (s->beside.queue != NULL) return FIRE_OK;
    FIRE_TRY(make_event(&s->parted));
    FIRE_TRY(make_event(&s->met));
    return FIRE_CUDA(cudaStreamCreate(&s->beside.queue));
}

fire_status_t fire_cuda_aside_begin(fire_stream_t *s)
{
    if (s->shared) return FIRE_OK;
    FIRE_TRY(open_queue(s));
    FIRE_TRY(FIRE_CUDA(cudaEventRecord(s->parted, s->lane.queue)));
    FIRE_TRY(FIRE_CUDA(cudaStreamWaitEvent(s->beside.queue, s->parted, 0)));
    change_lanes(s);
    return FIRE_OK;
}

fire_status_t fire_cuda_aside_end(fire_stream_t *s, fire_status_t so_far)
{
    if (s->shared) return so_far;
    change_lanes(s);
    FIRE_TRY(so_far);
    return FIRE_CUDA(cudaEventRecord(s->met, s->beside.queue));
}

fire_status_t fire_cuda_aside_meet(fire_stream_t *s)
{
    if (s->shared) return FIRE_OK;
    return FIRE_CUDA(cudaStreamWaitEvent(s->lane.queue, s->met, 0));
}

void fire_cuda_aside_close(fire_stream_t *s)
{
    if (s->parted != NULL) cudaEventDestroy(s->parted);
    if (s->met != NULL) cudaEventDestroy(s->met);
    if (s->beside.queue == NULL) return;
    cudaStreamSynchronize(s->beside.queue);
    fire_cuda_lane_close(&s->beside);
}
