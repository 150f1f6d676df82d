/* view.c - views: pointers to a blob's values that stay valid. */
#include <string.h>

#include "base/alloc.h"
#include "blob/blob.h"

struct fire_view {
    int            ndim;
    int64_t        dim[FIRE_MAX_DIMS];
    fire_place_t   place;
    fire_region_t *region;
};

fire_status_t fire_blob_view(fire_blob_t *b, fire_part_t part, fire_place_t where,
                             fire_view_t **view_p)
{
    fire_view_t  *v;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&v, 1));
    v->ndim  = b->ndim;
    v->place = where;
    memcpy(v->dim, b->dim, (size_t)b->ndim * sizeof(*v->dim));
    st = fire_storage_view(b->part[part], where, b->ndim, b->dim, &v->region);
    if (st < 0)
        fire_free(v);
    else
        *view_p = v;
    return st;
}

void fire_view_destroy(fire_view_t *v)
{
    if (v == NULL) return;
    fire_region_drop_view(v->region);
    fire_free(v);
}

float *fire_view_values(const fire_view_t *v)
{
    return fire_region_memory(v->region);
}

int fire_view_ndim(const fire_view_t *v)
{
    return v->ndim;
}

const int64_t *fire_view_dims(const fire_view_t *v)
{
    return v->dim;
}

fire_place_t fire_view_place(const fire_view_t *v)
{
    return v->place;
}

static fire_status_t
for_parts(fire_blob_t *b, fire_status_t (*call)(fire_storage_t *, int, const int64_t *))
{
    FIRE_TRY(call(b->part[FIRE_DATA], b->ndim, b->dim));
    return call(b->part[FIRE_DIFF], b->ndim, b->dim);
}

fire_status_t fire_blob_absorb_views(fire_blob_t *b)
{
    return for_parts(b, fire_storage_absorb);
}

fire_status_t fire_blob_refresh_views(fire_blob_t *b)
{
    return for_parts(b, fire_storage_refresh);
}
