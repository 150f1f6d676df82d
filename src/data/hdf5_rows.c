/* hdf5_rows.c - in a build without HDF5, opening fails and says so; rows_hdf5.c has the
 * real functions. */
#include "data/hdf5_rows.h"

#ifndef FIRE_HAVE_HDF5
fire_status_t fire_rows_open(const char *list, char *const *name, int nset,
                             fire_rows_t **rows_p)
{
    (void)name, (void)nset, (void)rows_p;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "cannot read the files of \"%s\": this build has no HDF5", list);
}

void fire_rows_close(fire_rows_t *r)
{
    (void)r;
}

int64_t fire_rows_count(const fire_rows_t *r)
{
    (void)r;
    return 0;
}

const fire_rows_set_t *fire_rows_set(const fire_rows_t *r, int set)
{
    (void)r, (void)set;
    return NULL;
}

fire_status_t fire_rows_read(fire_rows_t *r, uint64_t seed, bool shuffle,
                             int64_t sample, const float **row_p)
{
    (void)r, (void)seed, (void)shuffle, (void)sample, (void)row_p;
    return FIRE_ERR_UNSUPPORTED;
}
#endif
