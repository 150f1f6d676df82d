/* predictions.c - shapes and values of a detector's predictions. */
#include "layers/detection/predictions.h"

fire_status_t fire_predictions_shape(const fire_layer_t *l, uint32_t classes,
                                     bool shared, fire_predictions_t *p)
{
    const fire_blob_t *loc   = l->bottom[FIRE_PREDICT_LOC];
    const fire_blob_t *conf  = l->bottom[FIRE_PREDICT_CONF];
    const fire_blob_t *prior = l->bottom[FIRE_PREDICT_PRIOR];

    if (classes == 0 || classes > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "num_classes must be given and at least 1");
    if (loc->ndim < 2 || conf->ndim < 2 || prior->ndim < 3 || prior->dim[1] != 2)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the bottoms must be locations (N, priors * 4), scores (N, "
                         "priors * classes) and priors (1, 2, priors * 4)");
    p->classes     = (int)classes;
    p->loc_classes = shared ? 1 : (int)classes;
    p->images      = loc->dim[0];
    p->priors      = prior->dim[2] / 4;
    if (conf->dim[0] != p->images)
        return FIRE_FAIL(FIRE_ERR_INVALID, "locations for %lld images, scores for %lld",
                         (long long)p->images, (long long)conf->dim[0]);
    if (loc->count != p->images * p->priors * p->loc_classes * 4)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld numbers of locations for %lld images x %lld priors x %d "
                         "classes of boxes x 4",
                         (long long)loc->count, (long long)p->images,
                         (long long)p->priors, p->loc_classes);
    if (conf->count != p->images * p->priors * p->classes)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%lld scores for %lld images x %lld priors x %d classes",
                         (long long)conf->count, (long long)p->images,
                         (long long)p->priors, p->classes);
    return FIRE_OK;
}

fire_status_t fire_predictions_read(const fire_layer_t *l, fire_predictions_t *p)
{
    const float *loc, *prior;

    FIRE_IN(l, l->bottom[FIRE_PREDICT_LOC], FIRE_DATA, &loc);
    FIRE_IN(l, l->bottom[FIRE_PREDICT_CONF], FIRE_DATA, &p->conf);
    FIRE_IN(l, l->bottom[FIRE_PREDICT_PRIOR], FIRE_DATA, &prior);
    p->loc      = (const fire_bbox_t *)loc;
    p->prior    = (const fire_bbox_t *)prior;
    p->variance = prior + 4 * p->priors;
    return FIRE_OK;
}

fire_bbox_t fire_predictions_box(const fire_predictions_t *p, int64_t image,
                                 int64_t prior, int loc_class)
{
    int64_t at = (image * p->priors + prior) * p->loc_classes + loc_class;

    return fire_bbox_decode(p->code, p->prior[prior],
                            fire_predictions_variance(p, prior), p->loc[at]);
}
