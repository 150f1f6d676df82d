/* hdf5_data.c - HDF5Data: each top is the dataset of its name, from the HDF5 files of a
 * list. No prefetching and no transformation, as in Caffe.
 *
 *   top i: (N, shape of a row of dataset i) */
#include <string.h>

#include "base/clock.h"
#include "data/hdf5_rows.h"
#include "layers/layer.h"

typedef struct hdf5_data {
    fire_rows_t  *rows;
    const float **row; /* [ntop] the current row of each dataset */
} hdf5_data_t;

/* Open the files; the names of the tops are those of the datasets. */
static fire_status_t hdf5_setup(fire_layer_t *l)
{
    const Caffe__HDF5DataParameter *p = l->param->hdf5_data_param;
    hdf5_data_t                    *d = FIRE_STATE(l, hdf5_data_t);

    if (l->param->transform_param != NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "HDF5Data does not transform data: remove transform_param");
    if (p == NULL || p->source == NULL || p->batch_size == 0)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "hdf5_data_param needs a `source` and a positive `batch_size`");
    FIRE_LOG(INFO, "Loading list of HDF5 filenames from: %s", p->source);
    FIRE_TRY(fire_rows_open(p->source, l->param->top, l->ntop, &d->rows));
    l->records = fire_rows_count(d->rows);
    return FIRE_NEW(&d->row, l->ntop);
}

/* (N, row shape) for each top. */
static fire_status_t hdf5_reshape(fire_layer_t *l)
{
    hdf5_data_t *d = FIRE_STATE(l, hdf5_data_t);
    int64_t n = fire_moment_slice(l->moment, l->param->hdf5_data_param->batch_size).n;

    for (int i = 0; i < l->ntop; i++) {
        const fire_rows_set_t *set                = fire_rows_set(d->rows, i);
        int64_t                dim[FIRE_MAX_DIMS] = {n};

        memcpy(dim + 1, set->dim, (size_t)set->ndim * sizeof(*dim));
        FIRE_TRY(fire_blob_reshape(l->top[i], set->ndim + 1, dim));
    }
    return FIRE_OK;
}

/* Copy the row of a sample to row `to` of all tops. */
static fire_status_t copy_row(fire_layer_t *l, int64_t sample, int64_t to)
{
    hdf5_data_t *d = FIRE_STATE(l, hdf5_data_t);

    FIRE_TRY(fire_rows_read(d->rows, l->moment->seed,
                            l->param->hdf5_data_param->shuffle, sample, d->row));
    for (int i = 0; i < l->ntop; i++) {
        int64_t n = fire_rows_set(d->rows, i)->count;
        float  *out;

        FIRE_INOUT(l, l->top[i], FIRE_DATA, &out);
        FIRE_TRY(fire_device_find(l->kernel->where)
                     ->from_host(out + to * n, d->row[i], (size_t)n * sizeof(*out)));
    }
    return FIRE_OK;
}

/* Rows are read here, not ahead: at most one file is in memory. */
static fire_status_t hdf5_forward(fire_layer_t *l)
{
    fire_slice_t s =
        fire_moment_slice(l->moment, l->param->hdf5_data_param->batch_size);
    double start = fire_clock_now();

    for (int64_t i = 0; i < s.n; i++)
        FIRE_TRY(copy_row(l, s.first + i * s.stride, i));
    l->waited += fire_clock_now() - start;
    return FIRE_OK;
}

static void hdf5_teardown(fire_layer_t *l)
{
    hdf5_data_t *d = FIRE_STATE(l, hdf5_data_t);

    fire_rows_close(d->rows);
    fire_free(d->row);
}

const fire_kernel_t fire_hdf5_data_cuda = {
    .name    = "cuda",
    .where   = FIRE_GPU,
    .forward = hdf5_forward,
};

const fire_kernel_t fire_hdf5_data_ref = {
    .name    = "ref",
    .forward = hdf5_forward,
};

static const fire_kernel_t *const hdf5_kernels[] = {
    FIRE_IF_CUDA(fire_hdf5_data_cuda) &fire_hdf5_data_ref, NULL};

const fire_layer_ops_t fire_layer_hdf5_data = {
    .type       = "HDF5Data",
    .bottoms    = {0, 0},
    .tops       = {1, -1},
    .flags      = FIRE_LAYER_SOURCE,
    .state_size = sizeof(hdf5_data_t),
    .setup      = hdf5_setup,
    .reshape    = hdf5_reshape,
    .teardown   = hdf5_teardown,
    .kernels    = hdf5_kernels,
};
