/* multibox_match.c - decides which prior boxes take part in MultiBoxLoss: matches
 * priors with objects, then chooses the negatives (hard negative mining). */
#include "layers/detection/multibox.h"

/* Read and check bottom 3. */
static fire_status_t read_objects(fire_layer_t *l)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    fire_multibox_t                    *s = FIRE_STATE(l, fire_multibox_t);
    int64_t      nrow = l->bottom[FIRE_MULTIBOX_OBJECTS]->count / FIRE_OBJECT_ROW;
    const float *rows;

    FIRE_IN(l, l->bottom[FIRE_MULTIBOX_OBJECTS], FIRE_DATA, &rows);
    FIRE_TRY(fire_grow(&s->object, &s->cobject, nrow, sizeof(*s->object)));
    FIRE_TRY(fire_objects_read(rows, nrow, (int)p->background_label_id,
                               p->use_difficult_gt, s->object, &s->nobject));
    for (int64_t i = 0; i < s->nobject; i++) {
        if (s->object[i].label < 0 || s->object[i].label >= s->p.classes)
            return FIRE_FAIL(FIRE_ERR_INVALID, "an object has label %d of %d classes",
                             s->object[i].label, s->p.classes);
        if (i > 0 && s->object[i].image < s->object[i - 1].image)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "the objects must be in the order of their images");
    }
    return FIRE_OK;
}

/* List the candidates of an image by descending loss: the priors without an object and
 * with little overlap; with HARD_EXAMPLE all priors. Returns their number. `first`: row
 * of the image's first prior. */
static int64_t list_candidates(const fire_layer_t *l, int64_t first)
{
    const Caffe__MultiBoxLossParameter *p = l->param->multibox_loss_param;
    fire_multibox_t                    *s = FIRE_STATE(l, fire_multibox_t);
    int64_t                             n = 0;

    for (int64_t i = 0; i < s->p.priors; i++) {
        int64_t row  = first + i;
        bool    free = s->index[row] == FIRE_MATCH_NONE;
        double  loss;

        if (!s->hard && !(free && s->overlap[i] < p->neg_overlap)) continue;
        loss = fire_multibox_confidence_loss(l, s->p.conf + row * s->p.classes,
                                             fire_multibox_label(l, row));
        if (s->hard && s->index[row] >= 0) loss += fire_multibox_location_loss(l, row);
        s->list[n++] = (fire_ranked_t){(float)loss, i};
    }
    fire_rank(s->list, n);
    return n;
}

/* Drop candidates that overlap a worse one (nms_param); returns the number left. */
static int64_t suppress(const fire_layer_t *l, int64_t image, int64_t n)
{
    const Caffe__MultiBoxLossParameter *p   = l->param->multibox_loss_param;
    fire_multibox_t                    *s   = FIRE_STATE(l, fire_multibox_t);
    const fire_bbox_t                  *box = s->p.prior;

    if (p->nms_param == NULL || !(p->nms_param->nms_threshold > 0)) return n;
    if (!p->use_prior_for_nms) {
        for (int64_t i = 0; i < s->p.priors; i++)
            s->box[i] = fire_predictions_box(&s->p, image, i, 0);
        box = s->box;
    }
    if (p->nms_param->has_top_k && p->nms_param->top_k >= 0 && n > p->nms_param->top_k)
        n = p->nms_param->top_k;
    return fire_bbox_suppress(box, s->list, n, p->nms_param->nms_threshold,
                              p->nms_param->eta);
}

/* Let the worst candidates take part: neg_pos_ratio of them per match; with
 * HARD_EXAMPLE sample_size of all priors, and matches that are not among them do not
 * take part any more. */
static void mine_negatives(const fire_layer_t *l, int64_t image, int64_t *matches)
{
    const Caffe__MultiBoxLossParameter *p     = l->param->multibox_loss_param;
    fire_multibox_t                    *s     = FIRE_STATE(l, fire_multibox_t);
    int64_t                             first = image * s->p.priors;
    int64_t                             want =
        s->hard ? p->sample_size : (int64_t)((float)*matches * p->neg_pos_ratio);
    int64_t n = suppress(l, image, list_candidates(l, first));

    if (s->hard)
        for (int64_t i = first; i < first + s->p.priors; i++)
            s->counts[i] = false;
    for (int64_t i = 0; i < n && i < want; i++)
        s->counts[first + s->list[i].index] =
            s->index[first + s->list[i].index] != FIRE_MATCH_IGNORED;
    for (int64_t i = first; s->hard && i < first + s->p.priors; i++)
        if (s->index[i] >= 0 && !s->counts[i]) {
            s->index[i] = FIRE_MATCH_NONE;
            --*matches;
        }
}

/* Match the priors of an image with its objects, object[begin ... end - 1]. */
static fire_status_t match_image(fire_layer_t *l, int64_t image, int64_t begin,
                                 int64_t end)
{
    const Caffe__MultiBoxLossParameter *p     = l->param->multibox_loss_param;
    fire_multibox_t                    *s     = FIRE_STATE(l, fire_multibox_t);
    int64_t                             first = image * s->p.priors, matches = 0;
    const fire_bbox_t                  *box = s->p.prior;

    if (!p->use_prior_for_matching) {
        for (int64_t i = 0; i < s->p.priors; i++)
            s->box[i] = fire_predictions_box(&s->p, image, i, 0);
        box = s->box;
    }
    FIRE_TRY(fire_match(&s->rule, s->object + begin, end - begin, box, s->p.priors,
                        &s->work, s->index + first, s->overlap));
    for (int64_t i = first; i < first + s->p.priors; i++) {
        bool matched = s->index[i] >= 0;

        if (matched) s->index[i] += (int32_t)begin;
        matches += matched;
        s->counts[i] = matched || !s->mining;
    }
    if (s->mining) mine_negatives(l, image, &matches);
    s->matches += matches;
    return FIRE_OK;
}

fire_status_t fire_multibox_match(fire_layer_t *l)
{
    fire_multibox_t *s  = FIRE_STATE(l, fire_multibox_t);
    int64_t          at = 0;

    FIRE_TRY(fire_predictions_read(l, &s->p));
    FIRE_TRY(read_objects(l));
    s->matches = 0;
    for (int64_t image = 0; image < s->p.images; image++) {
        int64_t begin = at;

        while (at < s->nobject && s->object[at].image == image)
            at++;
        FIRE_TRY(match_image(l, image, begin, at));
    }
    return FIRE_OK;
}
