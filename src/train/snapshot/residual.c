/* residual.c - error feedback of compressed gradients in snapshots. Each worker has a
 * residual of its own; rank 0 writes them all. They can be used only by the same number
 * of workers with the same compression. */
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "model/blob_proto.h"
#include "train/trainer_state.h"

/* A protobuf file holds at most 2 GB, and the state has other contents. */
static const double MOST_BYTES = 1e9;

static float *residual_of(const fire_trainer_t *t, int64_t *n_p)
{
    return t->reducer->ops->residual != NULL
               ? t->reducer->ops->residual(t->reducer, n_p)
               : NULL;
}

static fire_status_t add(Caffe__FireState *ours, const float *x, int64_t n)
{
    Caffe__BlobProto *blob;

    FIRE_TRY(fire_message_add_message(ours, "residual", &blob));
    FIRE_TRY(fire_blob_proto_set_shape(blob, 1, &n));
    return fire_blob_proto_write(blob, FIRE_DATA, n, x);
}

/* One worker after another broadcasts its residual; rank 0, with `ours`, adds them to
 * the state. After a failure there it keeps receiving, since the others keep
 * sending. */
static fire_status_t collect(fire_trainer_t *t, Caffe__FireState *ours,
                             const float *own, float *buffer, int64_t n)
{
    size_t        bytes = (size_t)n * sizeof(*buffer);
    fire_status_t st    = FIRE_OK;

    for (int r = 0; r < fire_trainer_size(t); r++) {
        if (r == fire_trainer_rank(t)) memcpy(buffer, own, bytes);
        FIRE_TRY(fire_comm_broadcast(t->options.comm, r, buffer, bytes));
        if (ours != NULL && st >= 0) st = add(ours, buffer, n);
    }
    return st;
}

fire_status_t fire_trainer_save_residual(fire_trainer_t *t, Caffe__FireState *ours)
{
    int64_t       n   = 0;
    const float  *own = residual_of(t, &n);
    float        *buffer;
    fire_status_t st;

    if (own == NULL) return FIRE_OK;
    if ((double)n * sizeof(*own) * fire_trainer_size(t) > MOST_BYTES) {
        FIRE_LOG(WARNING, "the error feedback of compression is too large for a "
                          "snapshot: a resumed run will begin without");
        return FIRE_OK;
    }
    FIRE_TRY(FIRE_NEW(&buffer, n));
    st = collect(t, ours, own, buffer, n);
    fire_free(buffer);
    if (st >= 0 && ours != NULL)
        st = fire_message_add_string(ours, "compress", t->param->fire->compress);
    return st;
}

fire_status_t fire_trainer_load_residual(fire_trainer_t         *t,
                                         const Caffe__FireState *ours)
{
    int64_t n   = 0;
    float  *own = residual_of(t, &n);

    if (own == NULL && (ours == NULL || ours->n_residual == 0)) return FIRE_OK;
    if (own != NULL && ours != NULL && (int)ours->n_residual == fire_trainer_size(t) &&
        strcmp(ours->compress, t->param->fire->compress) == 0 &&
        fire_blob_proto_fits(ours->residual[fire_trainer_rank(t)], 1, &n))
        return fire_blob_proto_read(ours->residual[fire_trainer_rank(t)], FIRE_DATA,
                                    "error feedback", n, own);
    FIRE_LOG(WARNING,
             "the snapshot's error feedback is of %zu workers with compression %s: "
             "this run begins without",
             ours != NULL ? ours->n_residual : 0,
             ours != NULL && ours->compress != NULL ? ours->compress : "none");
    return FIRE_OK;
}
