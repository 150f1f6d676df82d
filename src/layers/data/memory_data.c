/* memory_data.c - MemoryData: samples from arrays or from a function that the caller
 * provides.
 *
 *   top 0: (N, channels, height, width)
 *   top 1: (N, 1, 1, 1) labels */
#include "layers/data/memory_data.h"

typedef struct memory_data {
    int64_t      batch_size, row; /* row: floats of a sample */
    int64_t      dim[3];          /* channels, height, width */
    fire_fetch_t fetch;           /* brings the samples; NULL: they are in `data` */
    void        *arg;
    const float *data, *labels; /* the caller's: (n, row) and (n) */
    int64_t      n;             /* samples */
    bool         begun;         /* `origin` is set */
    int64_t      origin;        /* first pass over these arrays, less the moment's */
} memory_data_t;

fire_status_t fire_memory_data_set(fire_layer_t *l, const float *data,
                                   const float *labels, int64_t n)
{
    memory_data_t *d = FIRE_STATE(l, memory_data_t);

    if (n <= 0 || n % d->batch_size != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld samples are not a multiple of batch_size %lld",
                         (long long)n, (long long)d->batch_size);
    d->fetch  = NULL;
    d->data   = data;
    d->labels = labels;
    d->n      = n;
    d->begun  = false;
    return FIRE_OK;
}

void fire_memory_data_set_source(fire_layer_t *l, fire_fetch_t fetch, void *arg)
{
    memory_data_t *d = FIRE_STATE(l, memory_data_t);

    d->fetch = fetch;
    d->arg   = arg;
}

static fire_status_t memory_setup(fire_layer_t *l)
{
    const Caffe__MemoryDataParameter *p = l->param->memory_data_param;
    memory_data_t                    *d = FIRE_STATE(l, memory_data_t);

    if (p == NULL || p->batch_size == 0 || p->channels == 0 || p->height == 0 ||
        p->width == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "memory_data_param needs positive batch_size, channels, height and width");
    *d = (memory_data_t){.batch_size = p->batch_size,
                         .dim        = {p->channels, p->height, p->width}};
    if (__builtin_mul_overflow(d->dim[0], d->dim[1], &d->row) ||
        __builtin_mul_overflow(d->row, d->dim[2], &d->row))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "memory_data_param: channels x height x width is too large");
    return FIRE_OK;
}

static fire_status_t memory_reshape(fire_layer_t *l)
{
    const memory_data_t *d = FIRE_STATE(l, memory_data_t);
    int64_t              n = fire_moment_slice(l->moment, d->batch_size).n;

    FIRE_TRY(fire_blob_reshape(l->top[0], 4,
                               (int64_t[]){n, d->dim[0], d->dim[1], d->dim[2]}));
    return fire_blob_reshape(l->top[1], 4, (int64_t[]){n, 1, 1, 1});
}

static fire_status_t copy(const fire_layer_t *l, float *to, const float *from,
                          int64_t n)
{
    return fire_device_find(l->kernel->where)
        ->from_host(to, from, (size_t)n * sizeof(*to));
}

void fire_memory_data_ahead(const fire_layer_t *l, int64_t batch, int n,
                            fire_samples_t *samples)
{
    fire_moment_t m = *l->moment;

    for (int i = 0; i < n; i++) {
        fire_slice_t s = fire_moment_slice(&m, batch);

        samples[i] = (fire_samples_t){s.first, s.stride, s.n};
        m          = fire_moment_next(m);
    }
}

enum { AHEAD = 64 }; /* passes that a source is told of */

static fire_status_t forward_source(fire_layer_t *l)
{
    const memory_data_t *d = FIRE_STATE(l, memory_data_t);
    fire_samples_t       samples[AHEAD];
    const float         *x, *y;
    float               *data, *label;

    fire_memory_data_ahead(l, d->batch_size, AHEAD, samples);
    FIRE_TRY(d->fetch(d->arg, samples, AHEAD, &x, &y));
    FIRE_OUT(l, l->top[0], FIRE_DATA, &data);
    FIRE_OUT(l, l->top[1], FIRE_DATA, &label);
    FIRE_TRY(copy(l, data, x, samples[0].n * d->row));
    return copy(l, label, y, samples[0].n);
}

/* Samples wrap around at the end of the arrays. */
static fire_status_t memory_forward(fire_layer_t *l)
{
    memory_data_t *d = FIRE_STATE(l, memory_data_t);
    fire_moment_t  m = *l->moment;
    fire_slice_t   s;
    float         *data, *label;

    if (d->fetch != NULL) return forward_source(l);
    if (d->data == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a MemoryData layer must be given arrays before it runs");
    if (!d->begun) d->origin = m.step - m.origin;
    d->begun = true;
    m.origin += d->origin;
    s = fire_moment_slice(&m, d->batch_size);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &data);
    FIRE_OUT(l, l->top[1], FIRE_DATA, &label);
    for (int64_t i = 0; i < s.n; i++) {
        int64_t at = (s.first + i * s.stride) % d->n;

        FIRE_TRY(copy(l, data + i * d->row, d->data + at * d->row, d->row));
        FIRE_TRY(copy(l, label + i, d->labels + at, 1));
    }
    return FIRE_OK;
}

const fire_kernel_t fire_memory_data_cuda = {
    .name    = "cuda",
    .where   = FIRE_GPU,
    .forward = memory_forward,
};

const fire_kernel_t fire_memory_data_ref = {
    .name    = "ref",
    .forward = memory_forward,
};

static const fire_kernel_t *const memory_kernels[] = {
    FIRE_IF_CUDA(fire_memory_data_cuda) &fire_memory_data_ref, NULL};

const fire_layer_ops_t fire_layer_memory_data = {
    .type       = "MemoryData",
    .bottoms    = {0, 0},
    .tops       = {2, 2},
    .flags      = FIRE_LAYER_SOURCE,
    .state_size = sizeof(memory_data_t),
    .setup      = memory_setup,
    .reshape    = memory_reshape,
    .kernels    = memory_kernels,
};
