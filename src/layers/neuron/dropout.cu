/* dropout.cu - Dropout and SpatialDropout on the GPU. No mask is stored: backward draws
 * the same numbers once more. */
#include "layers/neuron/dropout.h"

#include "base/random/philox.h"
#include "layers/layer_cuda.h"
#include "device/cuda/kernel/map.h"

/* Which number of the random sequence belongs to an element. A row of the batch has
 * `units` numbers, each for `unit` neighbouring elements of the plain layout. */
typedef struct draws {
    uint64_t        base; /* key without the step, which the GPU reads from memory */
    const uint64_t *step;
    int64_t         first,
        stride; /* row i here is row first + i * stride of the global batch */
    unsigned unit, units, row;
    unsigned channels, plane; /* of a row, for channels last */
    uint32_t threshold;
    float    scale;
} draws_t;

template <typename T, bool LAST>
__global__ static void drop(int64_t n, const draws_t d, const T *x, T *y)
{
    fire_rng_key_t key  = fire_philox_key(d.base, *d.step);
    uint64_t       have = ~(uint64_t)0;
    uint32_t       four[4];

    /* A thread takes four neighbours: in the plain layout, one block of four numbers is
     * enough for them. */
    FIRE_GRID_STRIDE (quad, (n + 3) / 4)
        for (int64_t i = 4 * quad; i < n && i < 4 * quad + 4; i++) {
            int64_t  row = i / d.row;
            unsigned at  = (unsigned)(i % d.row);
            uint64_t number;

            if (LAST) at = at % d.channels * d.plane + at / d.channels;
            number = (uint64_t)(d.first + row * d.stride) * d.units + at / d.unit;
            if (number / 4 != have) {
                have = number / 4;
                fire_philox_block(key, have, four);
            }
            uint32_t drawn = number % 4 == 0   ? four[0]
                             : number % 4 == 1 ? four[1]
                             : number % 4 == 2 ? four[2]
                                               : four[3];

            y[i] = (T)((float)x[i] * (drawn >= d.threshold ? 1.0f : 0.0f) * d.scale);
        }
}

static draws_t draws_of(const fire_layer_t *l)
{
    const fire_dropout_t *s    = (const fire_dropout_t *)l->state;
    const fire_blob_t    *x    = l->bottom[0];
    int64_t               rows = fire_blob_dim_or_1(x, 0);
    draws_t               d    = {};

    d.base =
        fire_rng_base(l->moment->seed, FIRE_RNG_DROPOUT, fire_rng_name(l->param->name));
    d.step      = fire_cuda_step_state(l->ctx->stream)->step;
    d.first     = fire_moment_row(l->moment, rows, 0);
    d.stride    = rows > 1 ? fire_moment_row(l->moment, rows, 1) - d.first : 1;
    d.row       = (unsigned)(fire_blob_count(x) / rows);
    d.unit      = (unsigned)s->unit;
    d.units     = d.row / d.unit;
    d.channels  = (unsigned)fire_blob_dim_or_1(x, 1);
    d.plane     = d.row / d.channels;
    d.threshold = s->threshold;
    d.scale     = s->scale;
    return d;
}

template <typename T>
static fire_status_t run(fire_layer_t *l, const fire_format_t *f, const void *x,
                         void *y)
{
    int64_t n = fire_blob_count(l->bottom[0]);

    if (n == 0) return FIRE_OK;
    if (f->layout == FIRE_NHWC)
        return FIRE_LAUNCH(l->ctx->stream, (n + 3) / 4, (drop<T, true>), n, draws_of(l),
                           (const T *)x, (T *)y);
    return FIRE_LAUNCH(l->ctx->stream, (n + 3) / 4, (drop<T, false>), n, draws_of(l),
                       (const T *)x, (T *)y);
}

static fire_status_t pass(fire_layer_t *l, fire_part_t part, fire_blob_t *from,
                          fire_blob_t *to)
{
    const fire_dropout_t *s = (const fire_dropout_t *)l->state;
    fire_format_t         f = fire_gpu_format_of(from, part);
    void                 *x, *y;

    if (!s->draws && s->scale == 1.0f) return fire_blob_copy(to, from, part);
    FIRE_IN_AS(from, part, &f, &x);
    FIRE_OUT_AS(to, part, &f, &y);
    FIRE_WITH_TYPE(f.dtype, T, return run<T>(l, &f, x, y))
    return FIRE_OK;
}

static const char *dropout_cuda_declines(const fire_layer_t *l)
{
    return l->ctx->mt != NULL ? "Caffe's random numbers come one after another" : NULL;
}

static fire_status_t dropout_cuda_forward(fire_layer_t *l)
{
    return pass(l, FIRE_DATA, l->bottom[0], l->top[0]);
}

static fire_status_t dropout_cuda_backward(fire_layer_t *l)
{
    if (!l->propagate_down[0]) return FIRE_OK;
    return pass(l, FIRE_DIFF, l->top[0], l->bottom[0]);
}

extern "C" const fire_kernel_t fire_dropout_cuda = {"cuda",
                                                    FIRE_GPU,
                                                    dropout_cuda_forward,
                                                    dropout_cuda_backward,
                                                    dropout_cuda_declines,
                                                    NULL,
                                                    NULL,
                                                    &fire_fusion_reads_nothing};
