/* annotated_sample.c - loads one sample of AnnotatedData: decode, distort the colours, cut
 * out a random window, mirror, resize; boxes follow the image. */
#include "data/transform/augment.h"
#include "data/transform/distort.h"
#include "data/transform/fit.h"
#include "data/order.h"
#include "layers/data/annotated.h"
#include "model/message.h"

/* An image on its way through decoding and augmentation. */
typedef struct sample {
    fire_draw_t       draw;   /* its random numbers */
    fire_pixels_t     pixels; /* interleaved */
    fire_annotation_t object[FIRE_ANNOTATED_MAX];
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
            if (s->n == FIRE_ANNOTATED_MAX)
                return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                                 "the image has more than %d objects",
                                 FIRE_ANNOTATED_MAX);
            s->object[s->n++] =
                (fire_annotation_t){d->annotation_group[g]->group_label,
                                    a->instance_id,
                                    b->difficult,
                                    {b->xmin, b->ymin, b->xmax, b->ymax}};
        }
    return FIRE_OK;
}

/* Parse a record: its image, interleaved, and its objects. */
static fire_status_t decode(const fire_annotated_t *d, const fire_record_t *r,
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
    if (st >= 0) st = fire_pixels_own(scratch, &s->pixels);
    if (st >= 0)
        st = fire_transform_check_channels(&d->transform, s->pixels.extent.channels);
    fire_message_free(a);
    return st;
}

/* Cut the window out of the image; places outside of the image get the mean. */
static fire_status_t crop(const fire_annotated_t *d, fire_bbox_t window,
                          fire_workspace_t *scratch, fire_pixels_t *p)
{
    float      width = (float)p->extent.width, height = (float)p->extent.height;
    fire_cut_t r = {.left   = (int)(window.xmin * width),
                    .top    = (int)(window.ymin * height),
                    .width  = (int)((window.xmax - window.xmin) * width),
                    .height = (int)((window.ymax - window.ymin) * height)};

    if (r.width < 1) r.width = 1;
    if (r.height < 1) r.height = 1;
    return fire_cut_extend(&r, &d->transform, &scratch->cropped, p);
}

/* Distort the colours, cut out a random window, mirror: image and objects alike. */
static fire_status_t augment(const fire_annotated_t *d, fire_workspace_t *scratch,
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

/* The label of an image in a batch: FIRE_ANNOTATED_WIDTH floats. */
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
static fire_status_t load_sample(const fire_annotated_t *d, int64_t record,
                                 int64_t number, fire_workspace_t *scratch,
                                 fire_batch_t *batch, int64_t row, sample_t *s)
{
    fire_record_t r;
    fire_extent_t extent;
    float        *out;

    s->draw = fire_draw(batch->moment.seed, d->transform.stream, number);
    FIRE_TRY(fire_source_read(d->source, record, &scratch->record, &r));
    FIRE_TRY(decode(d, &r, scratch, s));
    FIRE_TRY(augment(d, scratch, s));
    if (d->fit != NULL) FIRE_TRY(fit(d->fit, scratch, s));
    if (d->feed.jitter.active)
        FIRE_TRY(fire_jitter_values(&d->feed.jitter, batch->moment.seed, number,
                                    &s->draw, scratch, &s->pixels));
    FIRE_TRY(fire_transform_extent(&d->transform, s->pixels.extent, &extent));
    FIRE_TRY(fire_batch_row(batch, row, extent, &out));
    fire_transform_apply(&d->transform, &s->pixels, batch->moment.seed, number, out);
    if (s->mirror) mirror_rows(extent, out);
    write_objects(s, batch->label + row * FIRE_ANNOTATED_WIDTH);
    return FIRE_OK;
}

fire_status_t fire_annotated_load_row(void *arg, fire_workspace_t *scratch,
                                      fire_batch_t *batch, int64_t row)
{
    const fire_annotated_t *d      = arg;
    int64_t                 number = batch->slice.first + row * batch->slice.stride;
    int64_t                 record =
        fire_order_record(batch->moment.seed, d->shuffle || batch->moment.shuffle,
                          d->source->count, number);
    sample_t     *s;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    st = load_sample(d, record, number, scratch, batch, row, s);
    fire_free(s);
    return st < 0 ? fire_source_error_prefix(d->source, record, st) : FIRE_OK;
}

fire_status_t fire_annotated_infer_extent(const fire_annotated_t *d,
                                          fire_extent_t          *extent_p)
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
