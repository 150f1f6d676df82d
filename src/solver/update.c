/* update.c - replaces update.cu in builds without CUDA, where no net is on a GPU. */
#include "solver/update.h"

#ifndef FIRE_HAVE_CUDA
static fire_status_t missing(void)
{
    return FIRE_FAIL(FIRE_ERR_DEVICE, "this program was built without CUDA");
}

fire_status_t fire_update_gpu(fire_stream_t *s, const char *type,
                              const fire_update_t *u, int count)
{
    (void)s, (void)type, (void)u, (void)count;
    return missing();
}

fire_status_t fire_update_blend_gpu(fire_stream_t *s, int64_t n, float keep, float *w,
                                    float share, const float *g)
{
    (void)s, (void)n, (void)keep, (void)w, (void)share, (void)g;
    return missing();
}

fire_status_t fire_update_squares_gpu(fire_stream_t *s, const fire_update_t *u,
                                      int count, double *sum_p)
{
    (void)s, (void)u, (void)count, (void)sum_p;
    return missing();
}
#endif
