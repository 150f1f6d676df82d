/* filters.c - the filters of the first convolution as small images. */
#include <math.h>
#include "base/alloc.h"
#include "model/blob_proto.h"
#include "model/load.h"
#include "report/learned.h"

/* Filters shown; longest side of a filter. */
enum { MOST_FILTERS = 256, MOST_SIZE = 64 };

/* The weights of a convolution: w (n, channels, height, width). */
typedef struct bank {
    const char  *layer;
    const float *w;
    int64_t      n, channels, height, width;
} bank_t;

/* Is the layer's first blob such weights, with filters larger than 1 x 1? */
static bool is_bank(const Caffe__LayerParameter *l, bank_t *bank)
{
    const Caffe__BlobProto *b = l->n_blobs > 0 ? l->blobs[0] : NULL;
    int64_t                 d[FIRE_MAX_DIMS], count;
    int                     ndim;

    if (b == NULL || fire_blob_proto_shape(b, "weights", &ndim, d, &count) < 0 ||
        ndim != 4 || (size_t)count != b->n_data)
        return false;
    *bank = (bank_t){l->name, b->data, d[0], d[1], d[2], d[3]};
    return count > 0 && d[2] > 1 && d[3] > 1 && d[2] <= MOST_SIZE && d[3] <= MOST_SIZE;
}

/* The colour of a pixel. Three channels are BGR, as in Caffe's images; any other number
 * is shown as grey, the mean over channels. */
static void colours(const bank_t *b, const float *filter, int64_t pixel, float rgb[3])
{
    int64_t plane = b->height * b->width;
    float   sum   = 0;

    for (int64_t c = 0; c < b->channels; c++)
        sum += filter[c * plane + pixel];
    for (int k = 0; k < 3; k++)
        rgb[k] = b->channels == 3 ? filter[(2 - k) * plane + pixel]
                                  : sum / (float)b->channels;
}

/* Draw one filter: (height, width, 3) bytes, 0 for its smallest and 255 for its largest
 * value. */
static void paint(const bank_t *b, const float *filter, uint8_t *out)
{
    int64_t plane = b->height * b->width;
    float   lo = INFINITY, hi = -INFINITY, rgb[3];

    for (int64_t i = 0; i < plane; i++) {
        colours(b, filter, i, rgb);
        for (int k = 0; k < 3; k++) {
            lo = fminf(lo, rgb[k]);
            hi = fmaxf(hi, rgb[k]);
        }
    }
    for (int64_t i = 0; i < plane; i++) {
        colours(b, filter, i, rgb);
        for (int k = 0; k < 3; k++) {
            float share = hi > lo ? (rgb[k] - lo) / (hi - lo) : 0.5f;

            *out++ = (uint8_t)(share >= 0 && share <= 1 ? lrintf(255 * share) : 0);
        }
    }
}

/* Append n bytes as base64; n is a multiple of 3 except at the end. */
static fire_status_t add_base64(fire_str_t *out, const uint8_t *bytes, int64_t n)
{
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (int64_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        char     four[4];

        if (i + 1 < n) three |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < n) three |= bytes[i + 2];
        for (int k = 0; k < 4; k++)
            four[k] = i + k <= n ? digit[three >> (18 - 6 * k) & 63] : '=';
        FIRE_TRY(fire_str_add(out, four, 4));
    }
    return FIRE_OK;
}

/* Write the pixels of all filters as base64. */
static fire_status_t write_bank(fire_json_writer_t *w, const bank_t *b)
{
    int64_t       n     = b->n < MOST_FILTERS ? b->n : MOST_FILTERS;
    int64_t       plane = b->height * b->width;
    fire_str_t    text  = {0};
    uint8_t      *pixels;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&pixels, n * plane * 3));
    for (int64_t i = 0; i < n; i++)
        paint(b, b->w + i * b->channels * plane, pixels + i * plane * 3);
    st = add_base64(&text, pixels, n * plane * 3);
    if (st >= 0) {
        fire_json_open(w, NULL, '{');
        fire_json_add_string(w, "layer", b->layer != NULL ? b->layer : "");
        fire_json_add_int(w, "n", n);
        fire_json_add_int(w, "height", b->height);
        fire_json_add_int(w, "width", b->width);
        fire_json_add_string(w, "pixels", text.text);
        fire_json_close(w, '}');
    }
    fire_str_fini(&text);
    fire_free(pixels);
    return st;
}

fire_status_t fire_filters_write(fire_json_writer_t *w, const char *model,
                                 bool *found_p)
{
    Caffe__NetParameter *net;
    fire_status_t        st   = FIRE_OK;
    bank_t               bank = {0};

    *found_p = false;
    FIRE_TRY(fire_net_param_load_weights(model, &net));
    for (size_t i = 0; i < net->n_layer && !*found_p; i++)
        *found_p = is_bank(net->layer[i], &bank);
    if (*found_p) st = write_bank(w, &bank);
    fire_message_free(net);
    return st;
}
