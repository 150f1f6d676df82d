/* annotated_data.c - AnnotatedData: images and boxes around objects, from an LMDB or
 * LevelDB of AnnotatedDatums, with SSD's augmentation.
 *
 *   top 0: (N, C, H, W) images
 *   top 1: (1, 1, objects of the batch, 8), a row per object: image, label,
 *          instance, xmin, ymin, xmax, ymax, difficult; one row of -1 if there is none
 *
 * Boxes are in units of the image. Random windows, expansion and colours are a function
 * of seed, layer and sample number. */
#include <string.h>

#include "data/transform/augment.h"
#include "data/transform/distort.h"
#include "data/transform/fit.h"
#include "data/order.h"
#include "data/transform/transform.h"
#include "layers/data/feed.h"
#include "model/message.h"

enum {
    MAX_OBJECTS = 1000, /* objects of one image, at most */
    OBJECT = 7, /* numbers of an object in a batch's label: a row without `image` */
    ROW    = 8, /* numbers of an object in top 1 */
    /* a batch's label of an image: number of objects, objects */
    LABEL_WIDTH = 1 + MAX_OBJECTS * OBJECT,
};

/* The state of the layer; read-only once the prefetcher runs. */
typedef struct annotated {
    fire_feed_t                           feed; /* must be first */
    fire_transform_t                      transform;
    const Caffe__TransformationParameter *t;   /* or NULL */
    const Caffe__AnnotatedDataParameter  *a;   /* or NULL */
    const Caffe__ResizeParameter         *fit; /* or NULL: images keep their size */
    fire_source_t                        *source;
    fire_color_t                          color;
    bool                                  mirror, shuffle;
} annotated_t;

/* An image on its way through decoding and augmentation. */
typedef struct sample {
    fire_draw_t       draw;   /* its random numbers */
    fire_pixels_t     pixels; /* interleaved */
    fire_annotation_t object[MAX_OBJECTS];
    int64_t           n; /* objects */
    bool              mirror;
} sample_t;

/* The objects of a record, of all annotation groups. */
static fire_status_t read_objects(const Caffe__AnnotatedDatum *d, sample_t *s)
{
    s->n = 0;
    for (size_t g = 0; g < d->n_annotation_group; g++)
        for (size_t i = 0; i < d->annotation_group[g]->n_annotation; i++) {
            const Caffe__Annotation     *a = d->annotation_group[g]->annotation[i];
            const Caffe__NormalizedBBox *b = a->bbox;

            if (b == NULL) return FIRE_FAIL(FIRE_ERR_PARSE, "an annotation has no box");
            if (s->n == MAX_OBJECTS)
                return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "more than %d objects",
                                 MAX_OBJECTS);
            s->object[s->n++] =
                (fire_annotation_t){d->annotation_group[g]->group_label,
                                    a->instance_id,
                                    b->difficult,
                                    {b->xmin, b->ymin, b->xmax, b->ymax}};
        }
    return FIRE_OK;
}

/* Make pixels interleaved, in scratch->pixels: raw records have planes, decoded ones
 * are interleaved already. */
static fire_status_t interleave(fire_workspace_t *scratch, fire_pixels_t *p)
{
    fire_extent_t e = p->extent;

    if (p->bytes == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "images must be bytes, not floats");
    if (p->bytes == scratch->pixels.bytes) return FIRE_OK;
    FIRE_TRY(fire_image_reserve(&scratch->pixels, e.channels, e.height, e.width));
    for (int64_t i = 0; i < (int64_t)e.height * e.width; i++)
        for (int c = 0; c < e.channels; c++)
            scratch->pixels.bytes[i * e.channels + c] = p->bytes[c * p->step_c + i];
    *p = fire_pixels_interleaved(scratch->pixels.bytes, e);
    return FIRE_OK;
}

/* Parse a record: its image, interleaved, and its objects. */
static fire_status_t decode(const annotated_t *d, const fire_record_t *r,
                            fire_workspace_t *scratch, sample_t *s)
{
    Caffe__AnnotatedDatum *a;
    const Caffe__Datum    *m;
    fire_datum_t           datum;
    fire_status_t          st;

    FIRE_TRY(fire_message_unpack(&caffe__annotated_datum__descriptor, r->bytes, r->n,
                                 "record", (ProtobufCMessage **)&a));
    m = a->datum;
    if (m == NULL) {
        fire_message_free(a);
        return FIRE_FAIL(FIRE_ERR_PARSE, "the record holds no image");
    }
    datum = (fire_datum_t){.channels = m->channels,
                           .height   = m->height,
                           .width    = m->width,
                           .encoded  = m->encoded,
                           .data     = m->data.data,
                           .ndata    = m->data.len};
    st    = read_objects(a, s);
    if (st >= 0) st = fire_datum_check(&datum);
    if (st >= 0) st = fire_datum_decode(&datum, d->color, scratch, &s->pixels);
    if (st >= 0) st = interleave(scratch, &s->pixels);
    if (st >= 0)
        st = fire_transform_check_channels(&d->transform, s->pixels.extent.channels);
    fire_message_free(a);
    return st;
}

/* The byte for places outside of the image: the channel's mean, or 0. */
static uint8_t fill_of(const annotated_t *d, int c)
{
    const fire_transform_t *t = &d->transform;

    return t->nvalue == 0 ? 0 : fire_image_byte(t->value[t->nvalue == 1 ? 0 : c]);
}

/* Cut the window out of the image; places outside of the image get the mean. */
static fire_status_t crop(const annotated_t *d, fire_bbox_t window,
                          fire_workspace_t *scratch, fire_pixels_t *p)
{
    fire_extent_t in = p->extent, out = in;
    int           left = (int)(window.xmin * (float)in.width);
    int           top  = (int)(window.ymin * (float)in.height);
    uint8_t      *to;

    out.width  = (int)((window.xmax - window.xmin) * (float)in.width);
    out.height = (int)((window.ymax - window.ymin) * (float)in.height);
    if (out.width < 1) out.width = 1;
    if (out.height < 1) out.height = 1;
    FIRE_TRY(
        fire_image_reserve(&scratch->cropped, out.channels, out.height, out.width));
    to = scratch->cropped.bytes;
    for (int y = top; y < top + out.height; y++)
        for (int x = left; x < left + out.width; x++)
            for (int c = 0; c < in.channels; c++)
                *to++ = y >= 0 && y < in.height && x >= 0 && x < in.width
                            ? p->bytes[y * p->step_y + x * p->step_x + c]
                            : fill_of(d, c);
    *p = fire_pixels_interleaved(scratch->cropped.bytes, out);
    return FIRE_OK;
}

/* Distort the colours, cut out a random window, mirror: image and objects alike. */
static fire_status_t augment(const annotated_t *d, fire_workspace_t *scratch,
                             sample_t *s)
{
    const Caffe__TransformationParameter *t = d->t;
    fire_bbox_t                           window;

    if (t != NULL && t->distort_param != NULL && s->pixels.extent.channels == 3)
        fire_distort(t->distort_param, &s->draw, scratch->pixels.bytes,
                     fire_extent_count(s->pixels.extent) / 3);
    window = fire_augment_window(t != NULL ? t->expand_param : NULL, d->a, &s->draw,
                                 s->object, s->n);
    if (window.xmin != 0 || window.ymin != 0 || window.xmax != 1 || window.ymax != 1)
        FIRE_TRY(crop(d, window, scratch, &s->pixels));
    fire_augment_objects(t != NULL ? t->emit_constraint : NULL, window, s->object,
                         &s->n);
    s->mirror = d->mirror && fire_draw_chance(&s->draw, 0.5f);
    for (int64_t i = 0; i < s->n && s->mirror; i++) {
        float keep = s->object[i].box.xmin;

        s->object[i].box.xmin = 1.0f - s->object[i].box.xmax;
        s->object[i].box.xmax = 1.0f - keep;
    }
    return FIRE_OK;
}

/* Resize image and objects. */
static fire_status_t fit(const Caffe__ResizeParameter *p, fire_workspace_t *scratch,
                         sample_t *s)
{
    for (int64_t i = 0; i < s->n; i++)
        s->object[i].box = fire_fit_box(p, s->pixels.extent, s->object[i].box);
    return fire_fit_image(p, &s->draw, scratch, &s->pixels);
}

/* Reverse all rows of (channels, height, width) floats. */
static void mirror_rows(fire_extent_t e, float *x)
{
    for (int64_t row = 0; row < (int64_t)e.channels * e.height; row++, x += e.width)
        for (int a = 0, b = e.width - 1; a < b; a++, b--) {
            float keep = x[a];

            x[a] = x[b];
            x[b] = keep;
        }
}

/* The label of an image in a batch: LABEL_WIDTH floats. */
static void write_objects(const sample_t *s, float *label)
{
    *label++ = (float)s->n;
    for (int64_t i = 0; i < s->n; i++) {
        const fire_annotation_t *o = &s->object[i];

        *label++ = (float)o->label;
        *label++ = (float)o->instance;
        *label++ = o->box.xmin;
        *label++ = o->box.ymin;
        *label++ = o->box.xmax;
        *label++ = o->box.ymax;
        *label++ = (float)o->difficult;
    }
}

/* All steps for one image; writes row `row` of the batch. */
static fire_status_t load_sample(const annotated_t *d, int64_t record, int64_t number,
                                 fire_workspace_t *scratch, fire_batch_t *batch,
                                 int64_t row, sample_t *s)
{
    fire_record_t r;
    fire_extent_t extent;
    float        *out;

    s->draw = fire_draw(batch->moment.seed, d->transform.stream, number);
    FIRE_TRY(fire_source_read(d->source, record, &scratch->record, &r));
    FIRE_TRY(decode(d, &r, scratch, s));
    FIRE_TRY(augment(d, scratch, s));
    if (d->fit != NULL) FIRE_TRY(fit(d->fit, scratch, s));
    FIRE_TRY(fire_transform_extent(&d->transform, s->pixels.extent, &extent));
    FIRE_TRY(fire_batch_row(batch, row, extent, &out));
    fire_transform_apply(&d->transform, &s->pixels, batch->moment.seed, number, out);
    if (s->mirror) mirror_rows(extent, out);
    write_objects(s, batch->label + row * LABEL_WIDTH);
    return FIRE_OK;
}

/* The load function of the prefetcher. */
static fire_status_t load_row(void *arg, fire_workspace_t *scratch, fire_batch_t *batch,
                              int64_t row)
{
    const annotated_t *d      = arg;
    int64_t            number = batch->slice.first + row * batch->slice.stride;
    int64_t            record =
        fire_order_record(batch->moment.seed, d->shuffle || batch->moment.shuffle,
                          d->source->count, number);
    sample_t     *s;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    st = load_sample(d, record, number, scratch, batch, row, s);
    fire_free(s);
    return st < 0 ? fire_source_error_prefix(d->source, record, st) : FIRE_OK;
}

/* The extent of all rows: that of the first record after transformation. */
static fire_status_t infer_extent(const annotated_t *d, fire_extent_t *extent_p)
{
    fire_workspace_t scratch = {0};
    fire_record_t    r;
    fire_extent_t    e;
    sample_t        *s;
    fire_status_t    st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    st = fire_source_read(d->source, 0, &scratch.record, &r);
    if (st >= 0) st = decode(d, &r, &scratch, s);
    e = s->pixels.extent;
    if (st >= 0 && d->fit != NULL) e = fire_fit_extent(d->fit, e);
    if (st >= 0) st = fire_transform_extent(&d->transform, e, extent_p);
    fire_workspace_fini(&scratch);
    fire_free(s);
    return st < 0 ? fire_source_error_prefix(d->source, 0, st) : FIRE_OK;
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
    if (t->noise_param != NULL && t->noise_param->prob > 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "noise_param with a prob above 0 is not supported; remove it, "
                         "distort_param does similar things");
    if (t->crop_size > 0 || t->crop_h > 0 || t->crop_w > 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "crop_size would cut objects; use resize_param and a "
                         "batch_sampler");
    return t->resize_param != NULL ? fire_fit_check(t->resize_param) : FIRE_OK;
}

static fire_status_t annotated_setup(fire_layer_t *l)
{
    const Caffe__DataParameter *p = l->param->data_param;
    annotated_t                *d = FIRE_STATE(l, annotated_t);
    fire_prefetch_options_t    *o = &d->feed.options;

    FIRE_TRY(check_param(l));
    d->t = l->param->transform_param;
    d->a = l->param->annotated_data_param;
    FIRE_TRY(fire_transform_init(&d->transform, d->t, l->phase, l->param->name));
    d->mirror = d->transform.mirror; /* mirrored here, together with the boxes */
    d->transform.mirror = false;
    d->shuffle          = p->shuffle;
    d->color            = d->transform.force_gray ? FIRE_COLOR_GRAY : FIRE_COLOR_BGR;
    d->fit              = d->t != NULL ? d->t->resize_param : NULL;
    FIRE_TRY(fire_source_open(p->backend == CAFFE__DATA_PARAMETER__DB__LMDB ? "LMDB"
                                                                            : "LEVELDB",
                              p->source, &d->source));
    l->records = d->source->count;
    *o         = (fire_prefetch_options_t){.load        = load_row,
                                           .arg         = d,
                                           .batch_size  = p->batch_size,
                                           .depth       = p->prefetch,
                                           .label_width = LABEL_WIDTH};
    FIRE_TRY(infer_extent(d, &o->extent));
    return fire_feed_setup(l);
}

static fire_status_t annotated_reshape(fire_layer_t *l)
{
    const fire_prefetch_options_t *o = &FIRE_STATE(l, fire_feed_t)->options;
    int64_t                        n = fire_moment_slice(l->moment, o->batch_size).n;

    FIRE_TRY(fire_blob_reshape(
        l->top[0], 4,
        (int64_t[]){n, o->extent.channels, o->extent.height, o->extent.width}));
    return l->ntop > 1 ? fire_blob_reshape(l->top[1], 4, (int64_t[]){1, 1, 1, ROW})
                       : FIRE_OK;
}

/* Write top 1, whose size depends on the batch. */
static fire_status_t write_labels(fire_layer_t *l, const fire_batch_t *batch)
{
    int64_t total = 0;
    float  *y;

    for (int64_t row = 0; row < batch->slice.n; row++)
        total += (int64_t)batch->label[row * LABEL_WIDTH];
    FIRE_TRY(
        fire_blob_reshape(l->top[1], 4, (int64_t[]){1, 1, total > 0 ? total : 1, ROW}));
    /* On the CPU, because the layers that match boxes run there. */
    FIRE_TRY(fire_blob_write(l->top[1], FIRE_DATA, FIRE_CPU, &y));
    for (int k = 0; k < ROW && total == 0; k++)
        y[k] = -1.0f;
    for (int64_t row = 0; row < batch->slice.n; row++) {
        const float *label = batch->label + row * LABEL_WIDTH;

        for (int64_t i = 0; i < (int64_t)label[0]; i++, y += ROW) {
            y[0] = (float)row;
            memcpy(y + 1, label + 1 + i * OBJECT, OBJECT * sizeof(*y));
        }
    }
    return FIRE_OK;
}

static fire_status_t annotated_forward(fire_layer_t *l)
{
    const fire_batch_t *batch;

    FIRE_TRY(fire_feed_next(l, &batch));
    FIRE_TRY(fire_blob_reshape(l->top[0], 4,
                               (int64_t[]){batch->slice.n, batch->extent.channels,
                                           batch->extent.height, batch->extent.width}));
    FIRE_TRY(fire_feed_put_floats(l, batch, false));
    return l->ntop > 1 ? write_labels(l, batch) : FIRE_OK;
}

static void annotated_teardown(fire_layer_t *l)
{
    annotated_t *d = FIRE_STATE(l, annotated_t);

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
    .state_size = sizeof(annotated_t),
    .setup      = annotated_setup,
    .reshape    = annotated_reshape,
    .teardown   = annotated_teardown,
    .kernels    = annotated_kernels,
};
