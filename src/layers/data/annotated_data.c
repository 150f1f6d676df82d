/* annotated_data.c - AnnotatedData: images and boxes around objects, from an LMDB or
 * LevelDB of AnnotatedDatums, with SSD's augmentation.
 *
 *   top 0: (N, C, H, W) images
 *   top 1: (1, 1, objects of the batch, 8), a row per object: image, label,
 *          instance, xmin, ymin, xmax, ymax, difficult; one row of -1 if there is none;
 *          with yolo_data_type: 1 (N, 1, 300, 5), for each image rows of label - 1, x and
 *          y of the centre, width, height, then zeros
 *
 * Boxes are in units of the image. Random windows, expansion and colours are a function
 * of seed, layer and sample number. */
#include <string.h>

#include "data/transform/augment.h"
#include "data/transform/fit.h"
#include "layers/data/annotated.h"

enum { ROW = 8, YOLO_ROW = 5, YOLO_MAX = 300 }; /* numbers of an object in top 1 */

static bool is_yolo(const fire_layer_t *l)
{
    return l->param->annotated_data_param != NULL &&
           l->param->annotated_data_param->yolo_data_type == 1;
}

/* Check the prototxt; refuse settings that would cut objects or are not supported. */
static fire_status_t check_param(const fire_layer_t *l)
{
    const Caffe__DataParameter           *p = l->param->data_param;
    const Caffe__TransformationParameter *t = l->param->transform_param;

    if (p == NULL || p->source == NULL || p->source[0] == '\0' || p->batch_size == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "data_param needs a `source` and a positive `batch_size`");
    FIRE_TRY(fire_augment_check(t != NULL ? t->expand_param : NULL,
                                l->param->annotated_data_param));
    if (t == NULL) return FIRE_OK;
    if (t->crop_size > 0 || t->crop_h > 0 || t->crop_w > 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "crop_size would cut objects; use resize_param and a "
                         "batch_sampler");
    return t->resize_param != NULL ? fire_fit_check(t->resize_param) : FIRE_OK;
}

/* Open the database and configure the prefetcher. */
static fire_status_t annotated_setup(fire_layer_t *l)
{
    const Caffe__DataParameter *p = l->param->data_param;
    fire_annotated_t           *d = FIRE_STATE(l, fire_annotated_t);
    fire_prefetch_options_t    *o = &d->feed.options;

    FIRE_TRY(check_param(l));
    d->t = l->param->transform_param;
    d->a = l->param->annotated_data_param;
    FIRE_TRY(fire_transform_init(&d->transform, d->t, l->phase, l->param->name));
    d->mirror = d->transform.mirror; /* mirrored here, together with the boxes */
    d->transform.mirror = false;
    d->shuffle          = p->shuffle;
    FIRE_TRY(fire_jitter_init(&d->feed.jitter, &d->transform, d->t, l->phase));
    if (fire_jitter_moves(&d->feed.jitter) != NULL || d->feed.jitter.mix.alpha > 0)
        return FIRE_FAIL(
            FIRE_ERR_UNSUPPORTED,
            "%s would move objects away from their boxes; use expand_param "
            "and a batch_sampler",
            d->feed.jitter.mix.alpha > 0 ? "augment_param's mixup"
                                         : fire_jitter_moves(&d->feed.jitter));
    d->color = d->transform.force_gray ? FIRE_COLOR_GRAY : FIRE_COLOR_BGR;
    d->fit   = d->t != NULL ? d->t->resize_param : NULL;
    FIRE_TRY(fire_source_open(p->backend == CAFFE__DATA_PARAMETER__DB__LMDB ? "LMDB"
                                                                            : "LEVELDB",
                              p->source, &d->source));
    l->records = d->source->count;
    *o         = (fire_prefetch_options_t){.load        = fire_annotated_load_row,
                                           .arg         = d,
                                           .batch_size  = p->batch_size,
                                           .depth       = p->prefetch,
                                           .label_width = FIRE_ANNOTATED_WIDTH};
    FIRE_TRY(fire_annotated_infer_extent(d, &o->extent));
    return fire_feed_setup(l);
}

static fire_status_t annotated_reshape(fire_layer_t *l)
{
    const fire_prefetch_options_t *o = &FIRE_STATE(l, fire_feed_t)->options;
    int64_t                        n = fire_moment_slice(l->moment, o->batch_size).n;

    FIRE_TRY(fire_blob_reshape(
        l->top[0], 4,
        (int64_t[]){n, o->extent.channels, o->extent.height, o->extent.width}));
    if (l->ntop < 2) return FIRE_OK;
    return is_yolo(l)
               ? fire_blob_reshape(l->top[1], 4, (int64_t[]){n, 1, YOLO_MAX, YOLO_ROW})
               : fire_blob_reshape(l->top[1], 4, (int64_t[]){1, 1, 1, ROW});
}

/* Top 1 for YOLO; of more than 300 objects the first ones. */
static fire_status_t write_yolo_labels(fire_layer_t *l, const fire_batch_t *batch)
{
    bool   all = l->param->annotated_data_param->train_diffcult;
    float *y;

    FIRE_TRY(fire_blob_reshape(l->top[1], 4,
                               (int64_t[]){batch->slice.n, 1, YOLO_MAX, YOLO_ROW}));
    FIRE_TRY(fire_blob_write(l->top[1], FIRE_DATA, FIRE_CPU, &y));
    memset(y, 0, (size_t)fire_blob_count(l->top[1]) * sizeof(*y));
    for (int64_t row = 0; row < batch->slice.n; row++, y += YOLO_MAX * YOLO_ROW) {
        const float *label = batch->label + row * FIRE_ANNOTATED_WIDTH;
        const float *o     = label + 1,
                    *end   = o + (int64_t)label[0] * FIRE_ANNOTATED_OBJECT;

        for (float *to = y; o < end && to < y + YOLO_MAX * YOLO_ROW;
             o += FIRE_ANNOTATED_OBJECT) {
            if (o[6] != 0.0f && !all) continue; /* difficult */
            *to++ = o[0] - 1.0f;
            *to++ = (o[2] + o[4]) / 2.0f;
            *to++ = (o[3] + o[5]) / 2.0f;
            *to++ = o[4] - o[2];
            *to++ = o[5] - o[3];
        }
    }
    return FIRE_OK;
}

/* Write top 1, whose size depends on the batch. */
static fire_status_t write_labels(fire_layer_t *l, const fire_batch_t *batch)
{
    int64_t total = 0;
    float  *y;

    for (int64_t row = 0; row < batch->slice.n; row++)
        total += (int64_t)batch->label[row * FIRE_ANNOTATED_WIDTH];
    FIRE_TRY(
        fire_blob_reshape(l->top[1], 4, (int64_t[]){1, 1, total > 0 ? total : 1, ROW}));
    /* On the CPU, because the layers that match boxes run there. */
    FIRE_TRY(fire_blob_write(l->top[1], FIRE_DATA, FIRE_CPU, &y));
    for (int k = 0; k < ROW && total == 0; k++)
        y[k] = -1.0f;
    for (int64_t row = 0; row < batch->slice.n; row++) {
        const float *label = batch->label + row * FIRE_ANNOTATED_WIDTH;

        for (int64_t i = 0; i < (int64_t)label[0]; i++, y += ROW) {
            y[0] = (float)row;
            memcpy(y + 1, label + 1 + i * FIRE_ANNOTATED_OBJECT,
                   FIRE_ANNOTATED_OBJECT * sizeof(*y));
        }
    }
    return FIRE_OK;
}

/* Wait for a batch, copy the images, then the objects. */
static fire_status_t annotated_forward(fire_layer_t *l)
{
    const fire_batch_t *batch;

    FIRE_TRY(fire_feed_next(l, &batch));
    FIRE_TRY(fire_blob_reshape(l->top[0], 4,
                               (int64_t[]){batch->slice.n, batch->extent.channels,
                                           batch->extent.height, batch->extent.width}));
    FIRE_TRY(fire_feed_put_floats(l, batch, false));
    if (l->ntop < 2) return FIRE_OK;
    return is_yolo(l) ? write_yolo_labels(l, batch) : write_labels(l, batch);
}

static void annotated_teardown(fire_layer_t *l)
{
    fire_annotated_t *d = FIRE_STATE(l, fire_annotated_t);

    fire_feed_teardown(l);
    fire_source_close(d->source);
    fire_transform_fini(&d->transform);
}

const fire_kernel_t fire_annotated_data_cuda = {
    .name    = "cuda",
    .where   = FIRE_GPU,
    .prepare = fire_feed_prepare,
    .forward = annotated_forward,
    .release = fire_feed_stop,
};

const fire_kernel_t fire_annotated_data_ref = {
    .name    = "ref",
    .prepare = fire_feed_prepare,
    .forward = annotated_forward,
    .release = fire_feed_stop,
};

static const fire_kernel_t *const annotated_kernels[] = {
    FIRE_IF_CUDA(fire_annotated_data_cuda) &fire_annotated_data_ref, NULL};

const fire_layer_ops_t fire_layer_annotated_data = {
    .type       = "AnnotatedData",
    .bottoms    = {0, 0},
    .tops       = {1, 2},
    .flags      = FIRE_LAYER_SOURCE,
    .state_size = sizeof(fire_annotated_t),
    .setup      = annotated_setup,
    .reshape    = annotated_reshape,
    .teardown   = annotated_teardown,
    .kernels    = annotated_kernels,
};
