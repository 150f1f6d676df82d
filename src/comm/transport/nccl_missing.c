/* nccl_missing.c - what nccl.h declares, for builds without NCCL: it all fails. */
#include "comm/transport/nccl.h"

#ifndef FIRE_HAVE_NCCL
static fire_status_t missing(void)
{
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "this program was built without NCCL");
}

fire_status_t fire_nccl_open(fire_comm_t *comm, fire_stream_t *stream,
                             fire_nccl_t **nccl_p)
{
    (void)comm, (void)stream, (void)nccl_p;
    return missing();
}

void fire_nccl_close(fire_nccl_t *n)
{
    (void)n;
}

fire_status_t fire_nccl_sum(fire_nccl_t *n, float *x, int64_t count)
{
    (void)n, (void)x, (void)count;
    return missing();
}

fire_status_t fire_nccl_join(fire_nccl_t *n)
{
    (void)n;
    return missing();
}
#endif
