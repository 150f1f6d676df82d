/* detections_hdf5.c - writes windows and their scores as HDF5. */
#include "base/alloc.h"
#include "data/picture/detections.h"
#include "model/hdf5_io.h"

static fire_status_t write_files(hid_t file, const char *path,
                                 const fire_detections_t *d)
{
    const char  **name;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&name, d->n));
    for (int64_t i = 0; i < d->n; i++)
        name[i] = d->row[i].file;
    st = fire_hdf5_write_texts(file, "filename", path, d->n, name);
    fire_free(name);
    return st;
}

static fire_status_t write_windows(hid_t file, const char *path,
                                   const fire_detections_t *d)
{
    int64_t       dim[] = {d->n, 4};
    int          *side;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&side, 4 * d->n));
    for (int64_t i = 0; i < d->n; i++) {
        side[4 * i]     = d->row[i].window.ymin;
        side[4 * i + 1] = d->row[i].window.xmin;
        side[4 * i + 2] = d->row[i].window.ymax;
        side[4 * i + 3] = d->row[i].window.xmax;
    }
    st = fire_hdf5_write_ints(file, "window", path, 2, dim, side);
    fire_free(side);
    return st;
}

static fire_status_t write_all(hid_t file, const char *path, const fire_detections_t *d,
                               int64_t classes, const float *score)
{
    int64_t dim[] = {d->n, classes};

    FIRE_TRY(write_files(file, path, d));
    FIRE_TRY(write_windows(file, path, d));
    return fire_hdf5_write_floats(file, "prediction", path, 2, dim, score);
}

fire_status_t fire_detections_save_hdf5(const char *path, const fire_detections_t *d,
                                        int64_t classes, const float *score)
{
    hid_t         file;
    fire_status_t st;

    fire_hdf5_lock();
    st = fire_hdf5_create(&file);
    if (st >= 0) {
        st = write_all(file, path, d, classes, score);
        if (st >= 0)
            st = fire_hdf5_commit(file, path, false);
        else
            fire_hdf5_close(file);
    }
    fire_hdf5_unlock();
    return st;
}
