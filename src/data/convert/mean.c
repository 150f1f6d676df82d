#include "data/mean.h"

#include "base/alloc.h"
#include "data/decode.h"
#include "model/load.h"

typedef struct sums {
    fire_source_t *source;
    fire_scratch_t scratch;
    fire_extent_t  extent;
    double        *sum; /* exact for any number of bytes that a disk can hold */
} sums_t;

static fire_status_t begin(sums_t *s, fire_extent_t extent)
{
    s->extent = extent;
    return FIRE_NEW(&s->sum, fire_extent_count(extent));
}

static fire_status_t add_pixels(sums_t *s, const fire_pixels_t *p)
{
    fire_extent_t e   = p->extent;
    double       *sum = s->sum;

    if (!fire_extent_equal(e, s->extent))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the image is %d x %d x %d, the first one %d x %d x %d; a mean "
            "needs images of one size",
            e.channels, e.height, e.width, s->extent.channels, s->extent.height,
            s->extent.width);
    for (int c = 0; c < e.channels; c++)
        for (int y = 0; y < e.height; y++)
            for (int x = 0; x < e.width; x++) {
                int64_t at = c * p->step_c + y * p->step_y + x * p->step_x;

                *sum++ += p->bytes != NULL ? p->bytes[at] : (double)p->floats[at];
            }
    return FIRE_OK;
}

static fire_status_t add_record(sums_t *s, int64_t i)
{
    fire_record_t r;
    fire_datum_t  d;
    fire_pixels_t p;

    FIRE_TRY(fire_source_read(s->source, i, &s->scratch.record, &r));
    FIRE_TRY(fire_datum_parse(r.bytes, r.n, &d));
    FIRE_TRY(fire_datum_decode(&d, FIRE_COLOR_ASIS, &s->scratch, &p));
    if (s->sum == NULL) FIRE_TRY(begin(s, p.extent));
    return add_pixels(s, &p);
}

static fire_status_t add_all(sums_t *s, const fire_progress_t *progress)
{
    for (int64_t i = 0; i < s->source->count; i++) {
        fire_status_t st = add_record(s, i);

        if (st < 0) return fire_source_blame(s->source, i, st);
        if (progress != NULL && ((i + 1) % 1000 == 0 || i + 1 == s->source->count))
            progress->report(progress->arg, i + 1, s->source->count);
    }
    return FIRE_OK;
}

static fire_status_t divide(const sums_t *s, fire_mean_t *mean_p)
{
    fire_mean_t m    = {.extent = s->extent};
    int64_t     area = (int64_t)m.extent.height * m.extent.width;

    FIRE_TRY(FIRE_NEW(&m.image, m.extent.channels * area));
    if (FIRE_NEW(&m.channel, m.extent.channels) < 0) {
        fire_mean_fini(&m);
        return FIRE_ERR_NOMEM;
    }
    for (int c = 0; c < m.extent.channels; c++) {
        double sum = 0;

        for (int64_t i = c * area; i < (c + 1) * area; i++) {
            m.image[i] = (float)s->sum[i] / (float)s->source->count;
            sum += (double)m.image[i];
        }
        m.channel[c] = (float)(sum / (double)area);
    }
    *mean_p = m;
    return FIRE_OK;
}

fire_status_t fire_mean_compute(const char *db, const char *backend,
                                const fire_progress_t *progress, fire_mean_t *mean_p)
{
    sums_t        s = {0};
    fire_status_t st;

    FIRE_TRY(fire_source_open(backend, db, &s.source));
    st = add_all(&s, progress);
    if (st == FIRE_OK) st = divide(&s, mean_p);
    fire_source_close(s.source);
    fire_scratch_fini(&s.scratch);
    fire_free(s.sum);
    return st;
}

fire_status_t fire_mean_save(const fire_mean_t *mean, const char *path)
{
    Caffe__BlobProto proto = CAFFE__BLOB_PROTO__INIT;

    proto.has_num = proto.has_channels = proto.has_height = proto.has_width = 1;
    proto.num                                                               = 1;
    proto.channels = mean->extent.channels;
    proto.height   = mean->extent.height;
    proto.width    = mean->extent.width;
    proto.data     = mean->image;
    proto.n_data   = (size_t)fire_extent_count(mean->extent);
    return fire_message_save_binary(path, &proto);
}

void fire_mean_fini(fire_mean_t *mean)
{
    fire_free(mean->image);
    fire_free(mean->channel);
    *mean = (fire_mean_t){0};
}
