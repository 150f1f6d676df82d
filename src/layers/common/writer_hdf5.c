/* writer_hdf5.c - HDF5Output: appends the rows of each pass to two datasets of a file. */
#include "base/alloc.h"
#include "layers/common/hdf5_writer.h"
#include "model/hdf5_io.h"

struct fire_hdf5_writer {
    hid_t file;
    char *path;
};

fire_status_t fire_hdf5_writer_open(const char *path, fire_hdf5_writer_t **writer_p)
{
    fire_hdf5_writer_t *w;
    fire_status_t       st;

    FIRE_TRY(FIRE_NEW(&w, 1));
    FIRE_TRY_GOTO(st, fire_strdup(path, &w->path), err_writer);
    fire_hdf5_lock();
    w->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    st      = w->file < 0 ? fire_hdf5_fail("create", path, "") : FIRE_OK;
    fire_hdf5_unlock();
    if (st < 0) goto err_path;
    *writer_p = w;
    return FIRE_OK;

err_path:
    fire_free(w->path);
err_writer:
    fire_free(w);
    return st;
}

void fire_hdf5_writer_close(fire_hdf5_writer_t *w)
{
    if (w == NULL) return;
    fire_hdf5_lock();
    H5Fclose(w->file);
    fire_hdf5_unlock();
    fire_free(w->path);
    fire_free(w);
}

/* An array without rows yet, that can grow along the first axis; -1 on failure. */
static hid_t create_array(hid_t file, const char *name, int ndim, const hsize_t *rows)
{
    hsize_t none[FIRE_MAX_DIMS], most[FIRE_MAX_DIMS];
    hid_t   props = H5Pcreate(H5P_DATASET_CREATE), space, set = -1;

    for (int i = 0; i < ndim; i++)
        none[i] = most[i] = rows[i];
    none[0] = 0;
    most[0] = H5S_UNLIMITED;
    space   = H5Screate_simple(ndim, none, most);
    if (props >= 0 && space >= 0 && H5Pset_chunk(props, ndim, rows) >= 0)
        set = H5Dcreate2(file, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, props,
                         H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(props);
    return set;
}

/* Make room for the rows behind those that are there, and fill it. */
static herr_t append_rows(hid_t set, int ndim, const hsize_t *rows, const float *values)
{
    hsize_t size[FIRE_MAX_DIMS], start[FIRE_MAX_DIMS] = {0};
    hid_t   from = H5Screate_simple(ndim, rows, NULL), to = H5Dget_space(set);
    herr_t  st = -1;

    if (to >= 0 && H5Sget_simple_extent_dims(to, size, NULL) == ndim) {
        start[0] = size[0];
        size[0] += rows[0];
        H5Sclose(to);
        to = H5Dset_extent(set, size) < 0 ? -1 : H5Dget_space(set);
        if (H5Sselect_hyperslab(to, H5S_SELECT_SET, start, NULL, rows, NULL) >= 0)
            st = H5Dwrite(set, H5T_NATIVE_FLOAT, from, to, H5P_DEFAULT, values);
    }
    H5Sclose(to);
    H5Sclose(from);
    return st;
}

fire_status_t fire_hdf5_writer_append(fire_hdf5_writer_t *w, const char *name, int ndim,
                                      const int64_t *dim, const float *values)
{
    hsize_t       rows[FIRE_MAX_DIMS], count = 1;
    fire_status_t st = FIRE_OK;
    hid_t         set;

    for (int i = 0; i < ndim; i++)
        count *= rows[i] = (hsize_t)dim[i];
    if (count == 0) return FIRE_OK;
    fire_hdf5_lock();
    set = fire_hdf5_kind(w->file, name) == H5I_DATASET
              ? H5Dopen2(w->file, name, H5P_DEFAULT)
              : create_array(w->file, name, ndim, rows);
    if (set < 0 || append_rows(set, ndim, rows, values) < 0 ||
        H5Fflush(w->file, H5F_SCOPE_LOCAL) < 0)
        st = fire_hdf5_fail("write", w->path, name);
    if (set >= 0) H5Dclose(set);
    fire_hdf5_unlock();
    return st;
}
