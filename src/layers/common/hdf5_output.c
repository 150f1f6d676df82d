/* hdf5_output.c - writes bottom 0 as "data" and bottom 1 as "label" into an HDF5 file,
 * as arrays of four axes; each pass appends its items. */
#include "layers/common/hdf5_writer.h"
#include "layers/layer.h"

enum { AXES = 4 };

typedef struct hdf5_output {
    fire_hdf5_writer_t *writer; /* opened by the first pass */
} hdf5_output_t;

static fire_status_t hdf5_output_setup(fire_layer_t *l)
{
    const Caffe__HDF5OutputParameter *p = l->param->hdf5_output_param;

    if (p == NULL || p->file_name == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "hdf5_output_param { file_name: \"...\" } is missing");
#ifndef FIRE_HAVE_HDF5
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "this build has no HDF5; install libhdf5-dev and build again");
#else
    return FIRE_OK;
#endif
}

static fire_status_t hdf5_output_reshape(fire_layer_t *l)
{
    for (int i = 0; i < 2; i++)
        if (l->bottom[i]->ndim > AXES)
            return FIRE_FAIL(FIRE_ERR_INVALID, "bottom %d has %d axes; at most %d fit",
                             i, l->bottom[i]->ndim, AXES);
    if (fire_blob_dim_or_1(l->bottom[0], 0) != fire_blob_dim_or_1(l->bottom[1], 0))
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld data items for %lld labels",
                         (long long)fire_blob_dim_or_1(l->bottom[0], 0),
                         (long long)fire_blob_dim_or_1(l->bottom[1], 0));
    return FIRE_OK;
}

#ifdef FIRE_HAVE_HDF5
static fire_status_t hdf5_output_forward(fire_layer_t *l)
{
    static const char *const name[] = {"data", "label"};
    hdf5_output_t           *s      = l->state;
    int64_t                  dim[AXES];
    const float             *x;

    if (s->writer == NULL)
        FIRE_TRY(
            fire_hdf5_writer_open(l->param->hdf5_output_param->file_name, &s->writer));
    for (int i = 0; i < 2; i++) {
        for (int a = 0; a < AXES; a++)
            dim[a] = fire_blob_dim_or_1(l->bottom[i], a);
        FIRE_IN(l, l->bottom[i], FIRE_DATA, &x);
        FIRE_TRY(fire_hdf5_writer_append(s->writer, name[i], AXES, dim, x));
    }
    return FIRE_OK;
}

static void hdf5_output_teardown(fire_layer_t *l)
{
    fire_hdf5_writer_close(FIRE_STATE(l, hdf5_output_t)->writer);
}
#endif

#ifdef FIRE_HAVE_HDF5
const fire_kernel_t fire_hdf5_output_ref = {
    .name    = "ref",
    .forward = hdf5_output_forward,
};

static const fire_kernel_t *const hdf5_output_kernels[] = {&fire_hdf5_output_ref, NULL};
#else
static const fire_kernel_t *const hdf5_output_kernels[] = {NULL};
#endif

const fire_layer_ops_t fire_layer_hdf5_output = {
    .type        = "HDF5Output",
    .bottoms     = {2, 2},
    .tops        = {0, 0},
    .flags       = FIRE_LAYER_HOST,
    .no_gradient = 3,
    .state_size  = sizeof(hdf5_output_t),
    .setup       = hdf5_output_setup,
    .reshape     = hdf5_output_reshape,
#ifdef FIRE_HAVE_HDF5
    .teardown = hdf5_output_teardown,
#endif
    .kernels = hdf5_output_kernels,
};
