/* update.cu - the update rules on a GPU: one kernel updates up to MOST parameters.
 *
 * A block updates CHUNK elements of one parameter. Blocks are numbered through all
 * parameters, and a block finds its parameter by binary search in first_block[]. */
#include <string.h>

#include "device/cuda/kernel/block.h"
#include "solver/elements.h"

/* MOST: parameters whose description fits into a kernel's arguments (4 KB); CHUNK:
 * elements of one block. */
enum { MOST = 64, CHUNK = 1024 };

/* One parameter. */
typedef struct segment {
    float  *w, *g, *h0, *h1;
    int64_t n;
    float   rate, mult, decay, shrink;
} segment_t;

/* The argument of the kernels. */
typedef struct pack {
    fire_cuda_step_state_t state;
    fire_update_t          common;
    int                    count;
    unsigned               first_block[MOST + 1];
    segment_t              segment[MOST];
} pack_t;

/* The segment that this block works on. */
__device__ static int find_segment(const pack_t &p)
{
    int low = 0, high = p.count;

    while (high - low > 1) {
        int middle = (low + high) / 2;

        if (p.first_block[middle] <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

typedef void rule_t(const fire_update_t *u, float *w, float *g, float *h0, float *h1);

template <rule_t *rule> __global__ static void apply(const pack_t p)
{
    int             k   = find_segment(p);
    const segment_t s   = p.segment[k];
    fire_update_t   u   = p.common;
    int64_t         at  = (int64_t)(blockIdx.x - p.first_block[k]) * CHUNK;
    int64_t         end = at + CHUNK < s.n ? at + CHUNK : s.n;

    if (*p.state.skip) return;
    u.rate       = s.mult != 0 ? *p.state.rate * s.mult : s.rate;
    u.decay      = s.decay;
    u.correction = *p.state.correction;
    for (int64_t i = at + threadIdx.x; i < end; i += blockDim.x) {
        if (s.shrink != 0) s.w[i] *= 1 - u.rate * s.shrink;
        rule(&u, s.w + i, s.g + i, s.h0 + i, s.h1 != NULL ? s.h1 + i : NULL);
    }
}

/* Fill a pack from u[0 ...], as many as fit; returns how many. */
static int fill_pack(const fire_update_t *u, int count, pack_t *p)
{
    unsigned blocks = 0;

    p->common = u[0];
    p->count  = count < MOST ? count : MOST;
    for (int i = 0; i < p->count; i++) {
        p->first_block[i] = blocks;
        p->segment[i]     = segment_t{u[i].w, u[i].g,    u[i].h[0], u[i].h[1],
                                  u[i].n, u[i].rate, u[i].mult, u[i].decay, u[i].shrink};
        blocks += (unsigned)((u[i].n + CHUNK - 1) / CHUNK);
    }
    p->first_block[p->count] = blocks;
    return p->count;
}

static fire_status_t launch(fire_stream_t *s, const char *type, const pack_t &p)
{
    unsigned blocks = p.first_block[p.count];

    if (blocks == 0) return FIRE_OK;
#define RULE(name, element)      \
    if (strcmp(type, name) == 0) \
    return FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK, (apply<element>), p)
    RULE("SGD", fire_element_sgd);
    RULE("Nesterov", fire_element_nesterov);
    RULE("AdaGrad", fire_element_adagrad);
    RULE("RMSProp", fire_element_rmsprop);
    RULE("AdaDelta", fire_element_adadelta);
    RULE("Adam", fire_element_adam);
    RULE("AdamW", fire_element_adam);
#undef RULE
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "solver type %s has no GPU kernel", type);
}

fire_status_t fire_update_gpu(fire_stream_t *s, const char *type,
                              const fire_update_t *u, int count)
{
    pack_t p;

    for (int done = 0; done < count;) {
        done += fill_pack(u + done, count - done, &p);
        p.state = s->step_state;
        FIRE_TRY(launch(s, type, p));
    }
    return FIRE_OK;
}

__global__ static void blend(int64_t n, const int *skip, float keep, float *w,
                             float share, const float *g)
{
    if (*skip) return;
    FIRE_GRID_STRIDE (i, n)
        w[i] = keep * w[i] + share * g[i];
}

fire_status_t fire_update_blend_gpu(fire_stream_t *s, int64_t n, float keep, float *w,
                                    float share, const float *g)
{
    return FIRE_LAUNCH(s, n, blend, n, s->step_state.skip, keep, w, share, g);
}

/* ---- the norm of the gradient ---- */

__global__ static void squares(const pack_t p, double *out)
{
    int             k   = find_segment(p);
    const segment_t s   = p.segment[k];
    int64_t         at  = (int64_t)(blockIdx.x - p.first_block[k]) * CHUNK;
    int64_t         end = at + CHUNK < s.n ? at + CHUNK : s.n;
    double          sum = 0;

    for (int64_t i = at + threadIdx.x; i < end; i += blockDim.x)
        sum += (double)s.g[i] * (double)s.g[i];
    sum = fire_block_sum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ static void total(unsigned n, const double *x, double *out)
{
    double sum = 0;

    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        sum += x[i];
    sum = fire_block_sum(sum);
    if (threadIdx.x == 0) *out = sum;
}

static fire_status_t squares_of(fire_stream_t *s, const pack_t &p, double *sum_p)
{
    unsigned blocks = p.first_block[p.count];
    double  *part, sum = 0;
    void    *memory;

    if (blocks == 0) return FIRE_OK;
    FIRE_TRY(fire_cuda_squares(s, ((size_t)blocks + 1) * sizeof(double), &memory));
    part = (double *)memory;
    FIRE_TRY(FIRE_LAUNCH_GRID(s, blocks, FIRE_CUDA_BLOCK, squares, p, part));
    FIRE_TRY(
        FIRE_LAUNCH_GRID(s, 1, FIRE_CUDA_BLOCK, total, blocks, part, part + blocks));
    FIRE_TRY(FIRE_CUDA(cudaMemcpyAsync(&sum, part + blocks, sizeof(sum),
                                       cudaMemcpyDeviceToHost, s->main.stream)));
    FIRE_TRY(fire_gpu_sync(s));
    *sum_p += sum;
    return FIRE_OK;
}

fire_status_t fire_update_squares_gpu(fire_stream_t *s, const fire_update_t *u,
                                      int count, double *sum_p)
{
    double sum = 0;
    pack_t p;

    for (int done = 0; done < count;) {
        done += fill_pack(u + done, count - done, &p);
        FIRE_TRY(squares_of(s, p, &sum));
    }
    *sum_p = sum;
    return FIRE_OK;
}
