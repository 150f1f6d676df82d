/* layer.c - what all layers share: adding parameters, naming the layer in messages,
 * freeing. */
#include "layers/layer.h"

fire_status_t fire_layer_add_blob(fire_layer_t *l, int ndim, const int64_t *dim,
                                  const Caffe__FillerParameter *filler)
{
    int64_t       cap = l->nblob;
    fire_blob_t  *b;
    fire_status_t st;

    FIRE_TRY(fire_grow(&l->blob, &cap, l->nblob + 1, sizeof(*l->blob)));
    FIRE_TRY(fire_blob_create(&b));
    /* On a GPU, parameters between short-lived blobs would fragment the pool. */
    if (l->ctx->lean && l->ctx->place == FIRE_CPU)
        fire_blob_use_pool(b, l->ctx->pool, true);
    FIRE_TRY_GOTO(st, fire_blob_reshape(b, ndim, dim), err_blob);
    if (filler != NULL && l->ctx->unfilled)
        FIRE_TRY_GOTO(st, fire_filler_check(filler), err_blob);
    else if (filler != NULL)
        FIRE_TRY_GOTO(st,
                      fire_filler_fill(filler, b,
                                       fire_rng_key(l->moment->seed, FIRE_RNG_FILL,
                                                    fire_rng_name(l->param->name),
                                                    (uint64_t)l->nblob),
                                       l->ctx->mt),
                      err_blob);
    l->blob[l->nblob++] = b;
    return FIRE_OK;

err_blob:
    fire_blob_destroy(b);
    return st;
}

fire_status_t fire_layer_loss_weight(fire_layer_t *l, float *weight_p)
{
    const float *diff;

    FIRE_TRY(fire_blob_read(l->top[0], FIRE_DIFF, FIRE_CPU, &diff));
    *weight_p = diff[0];
    return FIRE_OK;
}

fire_status_t fire_layer_reshape_same(fire_layer_t *l)
{
    return fire_blob_reshape_like(l->top[0], l->bottom[0]);
}

fire_status_t fire_layer_blame(fire_status_t st, const fire_layer_t *l)
{
    const char *type = l->param->type != NULL ? l->param->type : "no type";

    if (st >= 0) return st;
    return fire_error_prefix(st, "layer \"%s\" (%s)", l->param->name, type);
}

void fire_layer_fini(fire_layer_t *l)
{
    if (l->kernel != NULL && l->kernel->release != NULL) l->kernel->release(l);
    if (l->ops != NULL && l->ops->teardown != NULL && l->state != NULL)
        l->ops->teardown(l);
    for (int i = 0; i < l->nblob; i++)
        fire_blob_destroy(l->blob[i]);
    fire_free(l->blob);
    fire_free(l->param_gradient);
    fire_free(l->state);
}
