/* layer_cuda.c - formats of blobs on a GPU, gradients of parameters. */
#include "layers/layer_cuda.h"

fire_format_t fire_gpu_format(const fire_layer_t *l, const fire_blob_t *b)
{
    bool          last = l->ctx->precision != FIRE_F32 || l->ctx->tf32;
    fire_format_t f    = {.place = FIRE_GPU, .dtype = l->ctx->precision};

    if (last && b->ndim == 4) f.layout = FIRE_NHWC;
    return f;
}

fire_format_t fire_gpu_format_even(fire_format_t f)
{
    f.layout = FIRE_EVEN;
    return f;
}

fire_format_t fire_gpu_format_of(const fire_blob_t *b, fire_part_t part)
{
    return fire_blob_format_at(b, part, FIRE_GPU);
}

fire_gpu_view_t fire_gpu_view(const fire_blob_t *b, const fire_format_t *f)
{
    fire_gpu_view_t v = {fire_blob_dim_or_1(b, 0), fire_blob_dim_or_1(b, 1), 1};

    if (b->ndim > 2) v.inner = fire_blob_count_range(b, 2, b->ndim);
    if (f->layout == FIRE_NHWC) {
        v.outer *= v.inner;
        v.inner = 1;
    }
    return v;
}

fire_status_t fire_gpu_gradient(fire_blob_t *param, bool *add_p, float **diff_p)
{
    fire_format_t plain = FIRE_FORMAT_PLAIN(FIRE_GPU);
    void         *diff;

    *add_p = !fire_storage_is_zero(param->part[FIRE_DIFF]);
    FIRE_TRY(fire_blob_access(param, FIRE_DIFF, *add_p ? FIRE_UPDATE : FIRE_WRITE,
                              &plain, &diff));
    *diff_p = diff;
    return FIRE_OK;
}

bool fire_gpu_saves_memory(const fire_layer_t *l)
{
    return fire_pool_on(l->ctx->pool, FIRE_GPU) != NULL &&
           l->ctx->precision != FIRE_F32;
}
