/* data.c - Data: images and labels from an LMDB or LevelDB of Datums.
 *
 *   top 0: (N, C, H, W) images, transformed by transform_param
 *   top 1: (N) labels (optional) */
#include "layers/data/data.h"

#include "data/order.h"
#include "data/transform/transform.h"
#include "layers/data/feed.h"

/* The state of the layer; read-only once the prefetcher runs. */
typedef struct data {
    fire_feed_t      feed; /* must be first */
    fire_transform_t transform;
    fire_source_t   *source;
    fire_color_t     color;
    bool             shuffle;
} data_t;

/* Read, parse and decode a record. */
static fire_status_t read_pixels(data_t *d, int64_t record, fire_workspace_t *scratch,
                                 fire_datum_t *datum_p, fire_pixels_t *pixels_p)
{
    fire_record_t r;

    FIRE_TRY(fire_source_read(d->source, record, &scratch->record, &r));
    FIRE_TRY(fire_datum_parse(r.bytes, r.n, datum_p));
    return fire_datum_decode(datum_p, d->color, scratch, pixels_p);
}

/* Load one record into row `row` of a batch. */
static fire_status_t load_sample(data_t *d, int64_t record, int64_t sample,
                                 fire_workspace_t *scratch, fire_batch_t *batch,
                                 int64_t row)
{
    fire_datum_t  datum;
    fire_pixels_t pixels;
    float         label;

    FIRE_TRY(read_pixels(d, record, scratch, &datum, &pixels));
    FIRE_TRY(fire_feed_put(&d->feed, batch, row, scratch, &pixels, sample));
    label = (float)datum.label;
    return fire_feed_put_label(&d->feed, batch, row, &label);
}

/* The load function of the prefetcher, called by its threads. */
static fire_status_t load_row(void *arg, fire_workspace_t *scratch, fire_batch_t *batch,
                              int64_t row)
{
    data_t *d       = arg;
    bool    shuffle = d->shuffle || batch->moment.shuffle;
    int64_t sample  = batch->slice.first + row * batch->slice.stride;
    int64_t record =
        fire_order_record(batch->moment.seed, shuffle, d->source->count, sample);
    fire_status_t st = load_sample(d, record, sample, scratch, batch, row);

    if (sample > 0 && sample % d->source->count == 0)
        FIRE_LOG(INFO, "Restarting data prefetching from start.");
    return st < 0 ? fire_source_error_prefix(d->source, record, st) : FIRE_OK;
}

/* The extent of all rows: that of the first record after transformation. */
static fire_status_t infer_extent(data_t *d, uint64_t seed, fire_extent_t *extent_p)
{
    fire_workspace_t scratch = {0};
    fire_datum_t     datum;
    fire_pixels_t    pixels;
    fire_status_t    st = read_pixels(d, 0, &scratch, &datum, &pixels);

    if (st >= 0) st = fire_feed_inspect(&d->feed, seed, &scratch, &pixels, extent_p);
    fire_workspace_fini(&scratch);
    return st < 0 ? fire_source_error_prefix(d->source, 0, st) : FIRE_OK;
}

static fire_status_t check_param(const Caffe__DataParameter *p)
{
    if (p == NULL || p->source == NULL || p->source[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "data_param needs a `source`");
    if (p->batch_size == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "data_param needs a positive `batch_size`");
    return FIRE_OK;
}

/* The transformer is seeded twice, because two of Caffe's base classes do so. */
static fire_status_t data_setup(fire_layer_t *l)
{
    const Caffe__DataParameter *p = l->param->data_param;
    data_t                     *d = FIRE_STATE(l, data_t);
    fire_prefetch_options_t    *o = &d->feed.options;

    FIRE_TRY(check_param(p));
    FIRE_TRY(fire_transform_init(&d->transform, l->param->transform_param, l->phase,
                                 l->param->name));
    FIRE_TRY(fire_transform_seed(&d->transform, l->ctx->mt));
    FIRE_TRY(fire_feed_transform(&d->feed, &d->transform, l->param->transform_param,
                                 l->phase));
    FIRE_TRY(fire_source_open(p->backend == CAFFE__DATA_PARAMETER__DB__LMDB ? "LMDB"
                                                                            : "LEVELDB",
                              p->source, &d->source));
    l->records = d->source->count;
    d->shuffle = p->shuffle;
    d->color   = d->transform.force_gray                              ? FIRE_COLOR_GRAY
                 : d->transform.force_color || p->force_encoded_color ? FIRE_COLOR_BGR
                                                                      : FIRE_COLOR_ASIS;
    *o         = (fire_prefetch_options_t){
                .load = load_row, .arg = d, .batch_size = p->batch_size, .depth = p->prefetch};
    FIRE_TRY(infer_extent(d, l->moment->seed, &o->extent));
    FIRE_TRY(fire_transform_seed(&d->transform, l->ctx->mt));
    return fire_feed_setup(l);
}

/* Before each pass: have this epoch's records in memory. */
static fire_status_t prepare_store(fire_layer_t *l)
{
    return fire_store_prepare(FIRE_STATE(l, data_t)->source, l->moment);
}

extern const fire_layer_ops_t fire_layer_data;

fire_status_t fire_data_keep_in_memory(fire_layer_t               *l,
                                       const fire_store_options_t *options)
{
    data_t              *d = FIRE_STATE(l, data_t);
    fire_store_options_t o = *options;

    if (l->ops != &fire_layer_data) return FIRE_OK;
    o.batch_size = d->feed.options.batch_size;
    o.shuffle    = d->shuffle;
    FIRE_TRY(fire_store_open(d->source, &o, &d->source));
    d->feed.before = prepare_store;
    return FIRE_OK;
}

static void data_teardown(fire_layer_t *l)
{
    data_t *d = FIRE_STATE(l, data_t);

    fire_feed_teardown(l);
    fire_source_close(d->source);
    fire_transform_fini(&d->transform);
}

const fire_layer_ops_t fire_layer_data = {
    .type       = "Data",
    .bottoms    = {0, 0},
    .tops       = {1, 2},
    .flags      = FIRE_LAYER_SOURCE,
    .state_size = sizeof(data_t),
    .setup      = data_setup,
    .reshape    = fire_feed_reshape,
    .teardown   = data_teardown,
    .kernels    = fire_feed_kernels,
};
