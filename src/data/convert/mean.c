/* mean.c - computes the mean image of a database, and writes it to a file.
 *
 * Records are added in blocks of 1024: part k of a block (64 records) goes to sum k,
 * and the 16 sums are added at the end. The order of additions therefore depends on the
 * record number only, and the result is the same with any number of threads. */
#include "data/picture/mean.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/parallel.h"
#include "data/decode.h"
#include "model/load.h"

enum { PARTS = 16, PER_PART = 64, BLOCK = PARTS * PER_PART };

/* A mean being computed. */
typedef struct sums {
    fire_source_t   *source;
    fire_extent_t    extent;
    int64_t          first;      /* first record of the current block */
    double          *sum[PARTS]; /* [channels x height x width] each; exact for bytes */
    fire_workspace_t scratch[FIRE_MAX_PARALLEL];
} sums_t;

/* Read and decode record i. */
static fire_status_t read_pixels(sums_t *s, int64_t i, fire_workspace_t *scratch,
                                 fire_pixels_t *pixels_p)
{
    fire_record_t r;
    fire_datum_t  d;

    FIRE_TRY(fire_source_read(s->source, i, &scratch->record, &r));
    FIRE_TRY(fire_datum_parse(r.bytes, r.n, &d));
    return fire_datum_decode(&d, FIRE_COLOR_ASIS, scratch, pixels_p);
}

/* Add one image to sum, in the order channel, row, column. */
static void add_pixels(const fire_pixels_t *p, double *sum)
{
    for (int c = 0; c < p->extent.channels; c++)
        for (int y = 0; y < p->extent.height; y++)
            for (int x = 0; x < p->extent.width; x++) {
                int64_t at = c * p->step_c + y * p->step_y + x * p->step_x;

                *sum++ += p->bytes != NULL ? p->bytes[at] : (double)p->floats[at];
            }
}

static fire_status_t add_record(sums_t *s, int64_t i, fire_workspace_t *scratch,
                                double *sum)
{
    fire_pixels_t p;
    fire_extent_t e;

    FIRE_TRY(read_pixels(s, i, scratch, &p));
    e = p.extent;
    if (!fire_extent_equal(e, s->extent))
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "the image is %d x %d x %d, the first one %d x %d x %d; a mean "
            "needs images of one size",
            e.channels, e.height, e.width, s->extent.channels, s->extent.height,
            s->extent.width);
    add_pixels(&p, sum);
    return FIRE_OK;
}

/* Add the records of one part of the block; runs in several threads. */
static fire_status_t add_part(void *arg, int worker, int64_t part)
{
    sums_t *s     = arg;
    int64_t first = s->first + part * PER_PART, end = first + PER_PART;

    for (int64_t i = first; i < end && i < s->source->count; i++) {
        fire_status_t st = add_record(s, i, &s->scratch[worker], s->sum[part]);

        if (st < 0) return fire_source_error_prefix(s->source, i, st);
    }
    return FIRE_OK;
}

/* Allocate the sums, with the size of the first image. */
static fire_status_t begin(sums_t *s)
{
    fire_pixels_t p;
    fire_status_t st = read_pixels(s, 0, &s->scratch[0], &p);

    if (st < 0) return fire_source_error_prefix(s->source, 0, st);
    s->extent = p.extent;
    for (int k = 0; k < PARTS; k++)
        FIRE_TRY(FIRE_NEW(&s->sum[k], fire_extent_count(s->extent)));
    return FIRE_OK;
}

static fire_status_t add_all(sums_t *s, const fire_progress_t *progress)
{
    int64_t n = s->source->count;

    FIRE_TRY(begin(s));
    for (s->first = 0; s->first < n; s->first += BLOCK) {
        FIRE_TRY(fire_parallel(PARTS, 0, add_part, s));
        if (progress != NULL)
            FIRE_TRY(progress->report(progress->arg,
                                      s->first + BLOCK < n ? s->first + BLOCK : n, n));
    }
    for (int k = 1; k < PARTS; k++)
        for (int64_t i = 0; i < fire_extent_count(s->extent); i++)
            s->sum[0][i] += s->sum[k][i];
    return FIRE_OK;
}

/* Sum / number of records, in float as Caffe's compute_image_mean does, and the mean of
 * each channel. */
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
            m.image[i] = (float)s->sum[0][i] / (float)s->source->count;
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
    for (int i = 0; i < FIRE_MAX_PARALLEL; i++)
        fire_workspace_fini(&s.scratch[i]);
    for (int k = 0; k < PARTS; k++)
        fire_free(s.sum[k]);
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
    FIRE_TRY(fire_dir_make_for(path));
    return fire_message_save_binary(path, &proto);
}

void fire_mean_fini(fire_mean_t *mean)
{
    fire_free(mean->image);
    fire_free(mean->channel);
    *mean = (fire_mean_t){0};
}
