/* dummy_data.c - DummyData: tops of given shapes, filled by fillers. A constant top is
 * filled once; a random one in every pass, row by row, each keyed by its sample number,
 * so that several lanes together see the same values as one lane alone.
 *
 *   top i: the shape of dummy_data_param, the batch on axis 0 */
#include <string.h>

#include "layers/layer.h"

typedef struct dummy_data {
    int64_t     *filled; /* [ntop] elements of a constant top when it was filled */
    fire_blob_t *row;    /* one row: fillers fill a blob */
} dummy_data_t;

/* The filler of a top: its own, the only one, or constant 0. */
static const Caffe__FillerParameter *filler_of(const fire_layer_t *l, int top)
{
    static const Caffe__FillerParameter zero = CAFFE__FILLER_PARAMETER__INIT;
    const Caffe__DummyDataParameter    *p    = l->param->dummy_data_param;

    if (p->n_data_filler == 0) return &zero;
    return p->data_filler[p->n_data_filler == 1 ? 0 : top];
}

/* The shape that the prototxt gives for a top, with the whole batch. */
static void shape_of(const fire_layer_t *l, int top, int *ndim_p,
                     int64_t dim[FIRE_MAX_DIMS])
{
    const Caffe__DummyDataParameter *p = l->param->dummy_data_param;

    if (p->n_shape > 0) {
        const Caffe__BlobShape *s = p->shape[p->n_shape == 1 ? 0 : top];

        *ndim_p = (int)s->n_dim;
        memcpy(dim, s->dim, s->n_dim * sizeof(*dim));
    } else {
        *ndim_p = 4;
        dim[0]  = p->num[p->n_num == 1 ? 0 : top];
        dim[1]  = p->channels[p->n_channels == 1 ? 0 : top];
        dim[2]  = p->height[p->n_height == 1 ? 0 : top];
        dim[3]  = p->width[p->n_width == 1 ? 0 : top];
    }
}

/* Is the first axis the batch? Not if the net's batch size is known and different. */
static bool is_batch(const fire_layer_t *l, int ndim, int64_t rows)
{
    int64_t batch = l->moment->batch;

    if (l->moment->rule == FIRE_BATCH_PER_WORKER) batch /= l->moment->lanes;
    return ndim > 0 && (batch == 0 || batch == rows);
}

/* The samples of a top in this pass: the lane's slice, or all rows if the first axis is
 * not the batch. */
static fire_slice_t slice_of(const fire_layer_t *l, int ndim, int64_t rows)
{
    fire_moment_t alone = *l->moment;

    if (is_batch(l, ndim, rows)) return fire_moment_slice(l->moment, rows);
    alone.lane  = 0;
    alone.lanes = 1;
    return fire_moment_slice(&alone, ndim > 0 ? rows : 1);
}

/* Is a setting given once, or once for each top? */
static bool one_or_each(size_t n, int ntop)
{
    return n == 1 || n == (size_t)ntop;
}

static fire_status_t check_shapes(const Caffe__DummyDataParameter *p, int ntop)
{
    bool old = p->n_num + p->n_channels + p->n_height + p->n_width > 0;

    if (old && p->n_shape > 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "dummy_data_param has both shape and num/channels/height/width");
    if (old ? !one_or_each(p->n_num, ntop) || !one_or_each(p->n_channels, ntop) ||
                  !one_or_each(p->n_height, ntop) || !one_or_each(p->n_width, ntop)
            : !one_or_each(p->n_shape, ntop))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "dummy_data_param needs one shape, or one for each top");
    for (size_t i = 0; i < p->n_shape; i++)
        if (p->shape[i]->n_dim > FIRE_MAX_DIMS)
            return FIRE_FAIL(FIRE_ERR_INVALID, "a shape has at most %d dimensions",
                             FIRE_MAX_DIMS);
    return FIRE_OK;
}

static fire_status_t dummy_setup(fire_layer_t *l)
{
    const Caffe__DummyDataParameter *p = l->param->dummy_data_param;
    dummy_data_t                    *d = FIRE_STATE(l, dummy_data_t);

    if (p == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "dummy_data_param with a shape is missing");
    if (p->n_data_filler > 1 && p->n_data_filler != (size_t)l->ntop)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%zu fillers for %d tops; give none, one, or one for each",
                         p->n_data_filler, l->ntop);
    FIRE_TRY(check_shapes(p, l->ntop));
    FIRE_TRY(fire_blob_create(&d->row));
    return FIRE_NEW(&d->filled, l->ntop);
}

static fire_status_t dummy_reshape(fire_layer_t *l)
{
    for (int i = 0; i < l->ntop; i++) {
        int     ndim;
        int64_t dim[FIRE_MAX_DIMS];

        shape_of(l, i, &ndim, dim);
        if (ndim > 0) dim[0] = slice_of(l, ndim, dim[0]).n;
        FIRE_TRY(fire_blob_reshape(l->top[i], ndim, dim));
    }
    return FIRE_OK;
}

/* Fill one row (a sample) of a top. */
static fire_status_t fill_row(fire_layer_t *l, int top, int64_t sample, float *out)
{
    dummy_data_t  *d      = FIRE_STATE(l, dummy_data_t);
    uint64_t       stream = fire_rng_name(l->param->name) + (uint64_t)top;
    fire_rng_key_t key =
        fire_rng_key(l->moment->seed, FIRE_RNG_DATA, stream, (uint64_t)sample);
    const float *x;

    FIRE_TRY(fire_filler_fill(filler_of(l, top), d->row, key, l->ctx->mt));
    FIRE_TRY(fire_blob_read(d->row, FIRE_DATA, FIRE_CPU, &x));
    return fire_device_find(l->kernel->where)
        ->from_host(out, x, (size_t)fire_blob_count(d->row) * sizeof(*out));
}

/* Fill a random top with this lane's samples. */
static fire_status_t fill_rows(fire_layer_t *l, int top)
{
    fire_blob_t *row = FIRE_STATE(l, dummy_data_t)->row;
    fire_slice_t slice;
    int          ndim;
    int64_t      dim[FIRE_MAX_DIMS];
    float       *out;

    shape_of(l, top, &ndim, dim);
    slice = slice_of(l, ndim, ndim > 0 ? dim[0] : 1);
    if (ndim > 0) dim[0] = 1;
    FIRE_TRY(fire_blob_reshape(row, ndim, dim));
    FIRE_OUT(l, l->top[top], FIRE_DATA, &out);
    for (int64_t i = 0; i < slice.n; i++)
        FIRE_TRY(fill_row(l, top, slice.first + i * slice.stride,
                          out + i * fire_blob_count(row)));
    return FIRE_OK;
}

/* A constant top is filled again only when its size has changed. */
static fire_status_t dummy_forward(fire_layer_t *l)
{
    dummy_data_t *d = FIRE_STATE(l, dummy_data_t);

    for (int i = 0; i < l->ntop; i++) {
        const Caffe__FillerParameter *f     = filler_of(l, i);
        int64_t                       count = fire_blob_count(l->top[i]);

        if (strcmp(f->type, "constant") != 0) {
            FIRE_TRY(fill_rows(l, i));
        } else if (d->filled[i] != count) {
            FIRE_TRY(fire_blob_fill(l->top[i], FIRE_DATA, l->kernel->where, f->value));
            d->filled[i] = count;
        }
    }
    return FIRE_OK;
}

static void dummy_teardown(fire_layer_t *l)
{
    dummy_data_t *d = FIRE_STATE(l, dummy_data_t);

    fire_blob_destroy(d->row);
    fire_free(d->filled);
}

const fire_kernel_t fire_dummy_data_cuda = {
    .name    = "cuda",
    .where   = FIRE_GPU,
    .forward = dummy_forward,
};

const fire_kernel_t fire_dummy_data_ref = {
    .name    = "ref",
    .forward = dummy_forward,
};

static const fire_kernel_t *const dummy_kernels[] = {
    FIRE_IF_CUDA(fire_dummy_data_cuda) &fire_dummy_data_ref, NULL};

const fire_layer_ops_t fire_layer_dummy_data = {
    .type       = "DummyData",
    .bottoms    = {0, 0},
    .tops       = {1, -1},
    .flags      = FIRE_LAYER_SOURCE,
    .state_size = sizeof(dummy_data_t),
    .setup      = dummy_setup,
    .reshape    = dummy_reshape,
    .teardown   = dummy_teardown,
    .kernels    = dummy_kernels,
};
