/* mean_file.c - loads mean images from .binaryproto and .npy files. */
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "data/picture/mean.h"
#include "model/blob_proto.h"
#include "model/load.h"
#include "model/npy.h"

/* Read a BlobProto as if it were an array of numpy. */
static fire_status_t load_proto(const char *path, fire_npy_t *array_p)
{
    Caffe__BlobProto *proto;
    fire_npy_t        a = {0};
    fire_status_t     st;

    FIRE_TRY(fire_message_load_binary(path, &caffe__blob_proto__descriptor,
                                      (ProtobufCMessage **)&proto));
    st = fire_blob_proto_shape(proto, path, &a.ndim, a.dim, &a.count);
    if (st >= 0 && a.count > (int64_t)(proto->n_data + proto->n_double_data))
        st = FIRE_FAIL(FIRE_ERR_PARSE,
                       "%s: the shape is of %lld numbers, more than the file has", path,
                       (long long)a.count);
    if (st >= 0) st = FIRE_NEW(&a.data, a.count);
    if (st >= 0) st = fire_blob_proto_read(proto, FIRE_DATA, path, a.count, a.data);
    fire_message_free(proto);
    if (st < 0)
        fire_npy_fini(&a);
    else
        *array_p = a;
    return st;
}

/* The image size of an array: (C) is C x 1 x 1, (H, W) is 1 x H x W, (C, H, W) and (1,
 * C, H, W) are C x H x W. */
static fire_status_t extent_of(const fire_npy_t *a, const char *path,
                               fire_extent_t *extent_p)
{
    const int64_t *dim = a->dim;
    int64_t        size[3];
    int            ndim = a->ndim;

    for (; ndim > 3 && dim[0] == 1; ndim--)
        dim++;
    for (int i = 0; i < 3; i++)
        size[i] = ndim == 1   ? (i == 0 ? dim[0] : 1)
                  : ndim == 2 ? (i == 0 ? 1 : dim[i - 1])
                  : ndim == 3 ? dim[i]
                              : 0;
    if (a->count < 1 || a->count > INT32_MAX || size[0] * size[1] * size[2] != a->count)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s is not a mean: it must be channels x height x width, or a "
                         "number for each channel",
                         path);
    *extent_p = (fire_extent_t){(int)size[0], (int)size[1], (int)size[2]};
    return FIRE_OK;
}

/* The mean of each channel. */
static void average(fire_mean_t *m)
{
    int64_t area = (int64_t)m->extent.height * m->extent.width;

    for (int c = 0; c < m->extent.channels; c++) {
        double sum = 0;

        for (int64_t i = 0; i < area; i++)
            sum += (double)m->image[c * area + i];
        m->channel[c] = (float)(sum / (double)area);
    }
}

fire_status_t fire_mean_load(const char *path, fire_mean_t *mean_p)
{
    fire_npy_t    a;
    fire_mean_t   m = {0};
    fire_status_t st;

    if (fire_path_has_suffix(path, ".npy"))
        FIRE_TRY(fire_npy_load(path, &a));
    else
        FIRE_TRY(load_proto(path, &a));
    st = extent_of(&a, path, &m.extent);
    if (st >= 0) st = FIRE_NEW(&m.channel, m.extent.channels);
    if (st < 0) {
        fire_npy_fini(&a);
        return st;
    }
    m.image = a.data;
    average(&m);
    *mean_p = m;
    return FIRE_OK;
}
