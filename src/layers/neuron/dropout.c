/* dropout.c - in training, sets each element to 0 with probability dropout_ratio and
 * multiplies the others by 1 / (1 - ratio), so that the expected value stays; at test y
 * = x. With scale_train: false, training multiplies by 1 and test by 1 - ratio. With
 * sample_weights_test: true, test does what training does.
 *
 * The random number of an element is a function of the seed, the layer, the step and
 * the element's row in the global batch, so the mask is the same for any number of
 * workers. */
#include "layers/neuron/dropout.h"

fire_status_t fire_dropout_init(fire_layer_t *l, float ratio,
                                const Caffe__DropoutParameter *p)
{
    fire_dropout_t *s     = l->state;
    bool            train = l->phase == CAFFE__PHASE__TRAIN || p->sample_weights_test;

    if (!(ratio >= 0.0f && ratio < 1.0f))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "dropout_ratio %g; it must be at least 0 and less than 1",
                         (double)ratio);
    s->draws     = train;
    s->keep      = (float)(1.0 - ratio);
    s->threshold = train ? (uint32_t)(ratio * 4294967296.0) : 0;
    if (p->scale_train)
        s->scale = train ? (float)(1.0 / (1.0 - ratio)) : 1.0f;
    else
        s->scale = train ? 1.0f : s->keep;
    return FIRE_OK;
}

fire_status_t fire_dropout_reshape(fire_layer_t *l, int64_t unit)
{
    fire_dropout_t *s = l->state;

    s->unit = unit;
    if (s->draws && unit > 0)
        FIRE_TRY(fire_grow(&s->mask, &s->cap, fire_blob_count(l->bottom[0]) / unit, 1));
    return fire_layer_reshape_same(l);
}

void fire_dropout_teardown(fire_layer_t *l)
{
    fire_free(FIRE_STATE(l, fire_dropout_t)->mask);
}

/* The mask of one row; its n random numbers begin at number `index` of the sequence.
 * The generator makes four at a time. */
static void draw(const fire_dropout_t *s, fire_rng_key_t key, uint64_t index, int64_t n,
                 uint8_t *mask)
{
    uint32_t four[4];

    for (int64_t j = 0; j < n; j++, index++) {
        if (j == 0 || index % 4 == 0) fire_rng_block(key, index / 4, four);
        mask[j] = four[index % 4] >= s->threshold;
    }
}

/* As Caffe draws: the next numbers of its one generator, element after element. */
static void draw_caffe(const fire_layer_t *l, int64_t n)
{
    const fire_dropout_t *s = l->state;

    for (int64_t i = 0; i < n; i++)
        s->mask[i] = fire_mt_bernoulli(l->ctx->mt, s->keep);
}

static void draw_all(const fire_layer_t *l)
{
    const fire_dropout_t *s    = l->state;
    const fire_blob_t    *x    = l->bottom[0];
    fire_rng_key_t        key  = fire_layer_rng(l, FIRE_RNG_DROPOUT);
    int64_t               rows = fire_blob_dim_or_1(x, 0);
    int64_t n = rows > 0 && s->unit > 0 ? fire_blob_count(x) / rows / s->unit : 0;

    if (l->ctx->mt != NULL) {
        draw_caffe(l, rows * n);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        draw(s, key, (uint64_t)(fire_moment_row(l->moment, rows, i) * n), n,
             s->mask + i * n);
}

static void apply(const fire_dropout_t *s, int64_t n, const float *x, float *y)
{
    for (int64_t i = 0, m = 0; i < n; m++)
        for (int64_t end = i + s->unit; i < end; i++)
            y[i] = x[i] * (float)s->mask[m] * s->scale;
}

/* Either direction at test. */
static fire_status_t pass_all(fire_layer_t *l, fire_part_t part, fire_blob_t *from,
                              fire_blob_t *to)
{
    float        scale = FIRE_STATE(l, fire_dropout_t)->scale;
    const float *x;
    float       *y;

    if (scale == 1.0f) return fire_blob_copy(to, from, part);
    FIRE_IN(l, from, part, &x);
    FIRE_OUT(l, to, part, &y);
    for (int64_t i = 0; i < fire_blob_count(from); i++)
        y[i] = x[i] * scale;
    return FIRE_OK;
}

static fire_status_t dropout_forward(fire_layer_t *l)
{
    const float *x;
    float       *y;

    if (!FIRE_STATE(l, fire_dropout_t)->draws)
        return pass_all(l, FIRE_DATA, l->bottom[0], l->top[0]);
    FIRE_IN(l, l->bottom[0], FIRE_DATA, &x);
    FIRE_OUT(l, l->top[0], FIRE_DATA, &y);
    draw_all(l);
    apply(l->state, fire_blob_count(l->bottom[0]), x, y);
    return FIRE_OK;
}

static fire_status_t dropout_backward(fire_layer_t *l)
{
    const float *dy;
    float       *dx;

    if (!l->propagate_down[0]) return FIRE_OK;
    if (!FIRE_STATE(l, fire_dropout_t)->draws)
        return pass_all(l, FIRE_DIFF, l->top[0], l->bottom[0]);
    FIRE_IN(l, l->top[0], FIRE_DIFF, &dy);
    FIRE_OUT(l, l->bottom[0], FIRE_DIFF, &dx);
    apply(l->state, fire_blob_count(l->bottom[0]), dy, dx);
    return FIRE_OK;
}

const fire_kernel_t fire_dropout_ref = {
    .name     = "ref",
    .forward  = dropout_forward,
    .backward = dropout_backward,
};

extern const fire_kernel_t fire_dropout_cuda; /* dropout.cu */

const fire_kernel_t *const fire_dropout_kernels[] = {
    FIRE_IF_CUDA(fire_dropout_cuda) &fire_dropout_ref, NULL};

static fire_status_t dropout_setup(fire_layer_t *l)
{
    const Caffe__DropoutParameter *p =
        FIRE_PARAM(l, dropout_param, CAFFE__DROPOUT_PARAMETER__INIT);

    return fire_dropout_init(l, p->dropout_ratio, p);
}

static fire_status_t dropout_reshape(fire_layer_t *l)
{
    return fire_dropout_reshape(l, 1);
}

const fire_layer_ops_t fire_layer_dropout = {
    .type       = "Dropout",
    .bottoms    = {1, 1},
    .tops       = {1, 1},
    .flags      = FIRE_LAYER_INPLACE,
    .state_size = sizeof(fire_dropout_t),
    .setup      = dropout_setup,
    .reshape    = dropout_reshape,
    .teardown   = fire_dropout_teardown,
    .kernels    = fire_dropout_kernels,
};
