/* image_data.c - ImageData: images and labels from a list of image files.
 *
 *   top 0: (N, C, H, W) images, resized to new_height x new_width if given
 *   top 1: (N) labels */
#include <stdio.h>

#include "data/image_list.h"
#include "data/order.h"
#include "data/transform/transform.h"
#include "layers/data/feed.h"

/* The state of the layer; read-only once the prefetcher runs. */
typedef struct image_data {
    fire_feed_t                      feed; /* must be first */
    const Caffe__ImageDataParameter *param;
    fire_transform_t                 transform;
    fire_image_list_t                list;
    int64_t                          skip; /* rand_skip: samples skipped at the start */
    fire_caffe_draws_t              *draws; /* Caffe's shuffled order, or NULL: ours */
} image_data_t;

/* Read and decode an image. */
static fire_status_t read_pixels(const image_data_t *d, const fire_image_item_t *item,
                                 fire_workspace_t *scratch, fire_pixels_t *pixels_p)
{
    const Caffe__ImageDataParameter *p = d->param;
    char                             path[4096];

    if (snprintf(path, sizeof(path), "%s%s", p->root_folder, item->path) >=
        (int)sizeof(path))
        return FIRE_FAIL(FIRE_ERR_INVALID, "the path of \"%s\" is too long",
                         item->path);
    return fire_image_file_decode(path, p->is_color ? FIRE_COLOR_BGR : FIRE_COLOR_GRAY,
                                  (int)p->new_height, (int)p->new_width, scratch,
                                  pixels_p);
}

/* The line of the list for a sample number. */
static fire_status_t find_item(const image_data_t *d, uint64_t seed, int64_t sample,
                               const fire_image_item_t **item_p)
{
    int64_t n = d->list.count, record;

    if (d->draws != NULL)
        FIRE_TRY(fire_caffe_draws_record(d->draws, n, sample + d->skip, &record));
    else
        record = fire_order_record(seed, d->param->shuffle, n, sample + d->skip);
    *item_p = &d->list.item[record];
    return FIRE_OK;
}

/* The load function of the prefetcher. */
static fire_status_t load_row(void *arg, fire_workspace_t *scratch, fire_batch_t *batch,
                              int64_t row)
{
    image_data_t            *d      = arg;
    int64_t                  sample = batch->slice.first + row * batch->slice.stride;
    const fire_image_item_t *item;
    fire_pixels_t            pixels;
    float                    label;
    fire_status_t            st;

    FIRE_TRY(find_item(d, batch->moment.seed, sample, &item));
    FIRE_TRY(read_pixels(d, item, scratch, &pixels));
    st    = fire_feed_put(&d->feed, batch, row, scratch, &pixels, sample);
    label = (float)item->label;
    if (st >= 0) st = fire_feed_put_label(&d->feed, batch, row, &label);
    return st < 0 ? fire_error_prefix(st, "%s", item->path) : FIRE_OK;
}

static fire_status_t check_param(const Caffe__ImageDataParameter *p)
{
    if (p == NULL || p->source == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "image_data_param needs a `source`");
    if (p->batch_size == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "image_data_param needs a positive `batch_size`");
    if ((p->new_height == 0) != (p->new_width == 0) || p->new_height > INT32_MAX ||
        p->new_width > INT32_MAX)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "image_data_param needs both new_height and new_width, or none");
    return FIRE_OK;
}

/* Draw the number of samples to skip, below rand_skip. */
static fire_status_t choose_skip(image_data_t *d, const fire_layer_t *l)
{
    fire_rng_key_t key = fire_rng_key(l->moment->seed, FIRE_RNG_SHUFFLE,
                                      fire_rng_name(l->param->name), 0);

    if (d->param->rand_skip == 0) return FIRE_OK;
    if (d->param->rand_skip > d->list.count)
        return FIRE_FAIL(FIRE_ERR_INVALID, "rand_skip %u is more than the %lld images",
                         d->param->rand_skip, (long long)d->list.count);
    d->skip = l->ctx->mt != NULL ? fire_mt_u32(l->ctx->mt) % d->param->rand_skip
                                 : (int64_t)fire_rng_below(key, 0, d->param->rand_skip);
    FIRE_LOG(INFO, "Skipping first %lld data points.", (long long)d->skip);
    return FIRE_OK;
}

/* The extent of all rows: that of the first image after transformation. */
static fire_status_t infer_extent(image_data_t *d, uint64_t seed,
                                  fire_extent_t *extent_p)
{
    fire_workspace_t         scratch = {0};
    const fire_image_item_t *item;
    fire_pixels_t            pixels;
    fire_status_t            st;

    FIRE_TRY(find_item(d, seed, 0, &item));
    st = read_pixels(d, item, &scratch, &pixels);
    if (st >= 0) {
        st = fire_feed_inspect(&d->feed, seed, &scratch, &pixels, extent_p);
        if (st < 0)
            st = fire_error_prefix(st, "%s%s", d->param->root_folder, item->path);
    }
    fire_workspace_fini(&scratch);
    return st;
}

/* Seeds are drawn from l->ctx->mt in Caffe's order, so that its random numbers come out
 * the same. */
static fire_status_t image_data_setup(fire_layer_t *l)
{
    image_data_t            *d = FIRE_STATE(l, image_data_t);
    fire_prefetch_options_t *o = &d->feed.options;

    d->param = l->param->image_data_param;
    FIRE_TRY(check_param(d->param));
    FIRE_TRY(fire_transform_init(&d->transform, l->param->transform_param, l->phase,
                                 l->param->name));
    FIRE_TRY(fire_transform_seed(&d->transform, l->ctx->mt));
    FIRE_TRY(fire_feed_transform(&d->feed, &d->transform, l->param->transform_param,
                                 l->phase));
    if (d->param->new_height > 0 && l->param->transform_param != NULL &&
        l->param->transform_param->resize_param != NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "image_data_param's new_height and resize_param both resize "
                         "images; keep one");
    FIRE_LOG(INFO, "Opening file %s", d->param->source);
    FIRE_TRY(fire_image_list_load(d->param->source, &d->list));
    FIRE_LOG(INFO, "A total of %lld images.", (long long)d->list.count);
    l->records = d->list.count;
    if (d->param->shuffle && l->ctx->mt != NULL)
        FIRE_TRY(fire_caffe_draws_create(fire_mt_u32(l->ctx->mt), &d->draws));
    FIRE_TRY(choose_skip(d, l));
    *o = (fire_prefetch_options_t){.load       = load_row,
                                   .arg        = d,
                                   .batch_size = d->param->batch_size,
                                   .depth      = FIRE_FEED_DEPTH};
    FIRE_TRY(infer_extent(d, l->moment->seed, &o->extent));
    FIRE_TRY(fire_transform_seed(&d->transform, l->ctx->mt));
    return fire_feed_setup(l);
}

static void image_data_teardown(fire_layer_t *l)
{
    image_data_t *d = FIRE_STATE(l, image_data_t);

    fire_feed_teardown(l);
    fire_image_list_fini(&d->list);
    fire_caffe_draws_destroy(d->draws);
    fire_transform_fini(&d->transform);
}

const fire_layer_ops_t fire_layer_image_data = {
    .type       = "ImageData",
    .bottoms    = {0, 0},
    .tops       = {2, 2},
    .flags      = FIRE_LAYER_SOURCE,
    .state_size = sizeof(image_data_t),
    .setup      = image_data_setup,
    .reshape    = fire_feed_reshape,
    .teardown   = image_data_teardown,
    .kernels    = fire_feed_kernels,
};
