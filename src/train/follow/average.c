/* average.c - means of the weights, which are often better than the weights themselves.
 *
 *   ema  mean = decay * mean + (1 - decay) * w, beginning with the first w
 *   swa  the mean of all w since average_from
 *
 * Running statistics are averaged too. Tests use the means; training goes on with the
 * weights. A snapshot has both: the means in a model of their own, to use, and in the
 * state, to go on. */
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/parallel.h"
#include "model/blob_proto.h"
#include "train/trainer_state.h"

static const Caffe__FireParameter *settings(const fire_trainer_t *t)
{
    return t->param->fire;
}

fire_status_t fire_average_start(fire_trainer_t *t)
{
    fire_follow_t *f = &t->follow;

    if (settings(t) == NULL || strcmp(settings(t)->average, "none") == 0)
        return FIRE_OK;
    FIRE_TRY(FIRE_NEW(&f->mean, t->net->nparam));
    for (int i = 0; i < t->net->nparam; i++) {
        FIRE_TRY(fire_blob_create(&f->mean[i]));
        FIRE_TRY(fire_blob_reshape_like(f->mean[i], t->net->learn[i].blob));
    }
    return FIRE_OK;
}

/* mean = keep * mean + share * w */
static fire_status_t blend(const fire_trainer_t *t, int i, float keep, float share)
{
    fire_place_t place = t->net->ctx.place;
    int64_t      n     = fire_blob_count(t->follow.mean[i]);
    const float *w;
    float       *mean;

    FIRE_TRY(fire_blob_read(t->net->learn[i].blob, FIRE_DATA, place, &w));
    FIRE_TRY(fire_blob_update(t->follow.mean[i], FIRE_DATA, place, &mean));
    if (place == FIRE_GPU)
        return fire_update_blend_gpu(t->net->ctx.stream, n, keep, mean, share, w);
    FIRE_PARALLEL_PIECES(at, n, FIRE_GRAIN)
    {
        int64_t end = at + fire_piece(n, at, FIRE_GRAIN);

        for (int64_t k = at; k < end; k++)
            mean[k] = keep * mean[k] + share * w[k];
    }
    return FIRE_OK;
}

fire_status_t fire_average_add(fire_trainer_t *t)
{
    const Caffe__FireParameter *s = settings(t);
    fire_follow_t              *f = &t->follow;
    int64_t                     since;
    float                       share;

    if (f->mean == NULL) return FIRE_OK;
    since = t->solver->iter - s->average_from;
    if (since < 0 || since % s->average_every != 0) return FIRE_OK;
    FIRE_TRY(fire_trainer_wait(t));
    if (t->solver->bad) return FIRE_OK;
    f->averaged++;
    share = f->averaged == 1                 ? 1
            : strcmp(s->average, "ema") == 0 ? 1 - s->average_decay
                                             : 1.0f / (float)f->averaged;
    for (int i = 0; i < t->net->nparam; i++)
        FIRE_TRY(blend(t, i, 1 - share, share));
    return FIRE_OK;
}

static fire_status_t swap(const fire_trainer_t *t, int i, void *scratch)
{
    fire_place_t         place = t->net->ctx.place;
    const fire_device_t *d     = fire_device_find(place);
    size_t bytes = (size_t)fire_blob_count(t->follow.mean[i]) * sizeof(float);
    float *w, *mean;

    FIRE_TRY(fire_blob_update(t->net->learn[i].blob, FIRE_DATA, place, &w));
    FIRE_TRY(fire_blob_update(t->follow.mean[i], FIRE_DATA, place, &mean));
    FIRE_TRY(d->copy(scratch, w, bytes));
    FIRE_TRY(d->copy(w, mean, bytes));
    return d->copy(mean, scratch, bytes);
}

fire_status_t fire_average_swap(fire_trainer_t *t)
{
    const fire_device_t *d    = fire_device_find(t->net->ctx.place);
    int64_t              most = 0;
    void                *scratch;
    fire_status_t        st = FIRE_OK;

    if (t->follow.averaged == 0) return FIRE_OK;
    FIRE_TRY(fire_trainer_wait(t));
    for (int i = 0; i < t->net->nparam; i++) {
        int64_t n = fire_blob_count(t->follow.mean[i]);

        if (n > most) most = n;
    }
    FIRE_TRY(d->alloc((size_t)most * sizeof(float), &scratch));
    for (int i = 0; i < t->net->nparam && st >= 0; i++)
        st = swap(t, i, scratch);
    d->free(scratch);
    return st;
}

/* ---- snapshots ---- */

static fire_status_t save(fire_blob_t *mean, Caffe__FireState *ours)
{
    Caffe__BlobProto *blob;
    const float      *x;

    FIRE_TRY(fire_message_add_message(ours, "average", &blob));
    FIRE_TRY(fire_blob_proto_set_shape(blob, mean->ndim, mean->dim));
    FIRE_TRY(fire_blob_read(mean, FIRE_DATA, FIRE_CPU, &x));
    return fire_blob_proto_write(blob, FIRE_DATA, mean->count, x);
}

fire_status_t fire_average_save(const fire_trainer_t *t, Caffe__FireState *ours)
{
    if (t->follow.averaged == 0) return FIRE_OK;
    ours->has_averaged = true;
    ours->averaged     = t->follow.averaged;
    for (int i = 0; i < t->net->nparam; i++)
        FIRE_TRY(save(t->follow.mean[i], ours));
    return FIRE_OK;
}

/* A state without means, or of another net, begins new ones. */
fire_status_t fire_average_load(fire_trainer_t *t, const Caffe__FireState *ours,
                                const char *path)
{
    fire_follow_t *f = &t->follow;

    if (f->mean == NULL) return FIRE_OK;
    f->averaged = 0;
    if (ours == NULL || ours->n_average != (size_t)t->net->nparam) return FIRE_OK;
    for (int i = 0; i < t->net->nparam; i++) {
        fire_blob_t *m = f->mean[i];
        float       *x;

        if (!fire_blob_proto_fits(ours->average[i], m->ndim, m->dim))
            return FIRE_FAIL(
                FIRE_ERR_INVALID,
                "%s: mean %d of the weights has another shape than the net's "
                "parameter",
                path, i);
        FIRE_TRY(fire_blob_write(m, FIRE_DATA, FIRE_CPU, &x));
        FIRE_TRY(fire_blob_proto_read(ours->average[i], FIRE_DATA, path, m->count, x));
    }
    f->averaged = ours->averaged;
    return FIRE_OK;
}
