/* random_case.c - where Caffe drew random numbers, ours must have the same property. */
#include <math.h>
#include <string.h>

#include "golden.h"
#include "model/load.h"
#include "net/net_state.h"

static fire_status_t forward(const golden_case_t *c, fire_net_t *net)
{
    const fire_json_t *step   = &fire_json_get(c->json, "steps")->item[0];
    const fire_json_t *inputs = fire_json_get(step, "inputs");

    for (int64_t i = 0; inputs != NULL && i < inputs->n; i++) {
        const char  *file = fire_json_string_or(&inputs->item[i], "file", "");
        fire_blob_t *blob =
            fire_net_find_blob(net, fire_json_string_or(&inputs->item[i], "blob", ""));
        fire_npy_t npy;
        float     *x;

        FIRE_TRY(fire_npy_load(file, &npy));
        FIRE_TRY(fire_blob_write(blob, FIRE_DATA, FIRE_CPU, &x));
        memcpy(x, npy.data, (size_t)npy.count * sizeof(*x));
        fire_npy_fini(&npy);
    }
    return fire_net_forward(net, 0, -1, NULL);
}

/* The blob that the property is about: the first output of the first step. */
static fire_blob_t *first_output(const golden_case_t *c, const fire_net_t *net)
{
    const fire_json_t *step    = &fire_json_get(c->json, "steps")->item[0];
    const fire_json_t *outputs = fire_json_get(step, "outputs");

    return fire_net_find_blob(net, fire_json_string_or(&outputs->item[0], "blob", ""));
}

/* Out is 0 or in / (1 - ratio), and so are gradients, at the same places. */
static fire_status_t check_dropout(golden_case_t *c, fire_net_t *net,
                                   const fire_json_t *expect)
{
    const char  *in_file = "in_data.npy";
    fire_blob_t *out     = first_output(c, net);
    fire_blob_t *in      = fire_net_find_blob(net, "data");
    double       ratio = fire_json_number_or(expect, "ratio", 0), dropped = 0;
    double       scale = 1 / (1 - ratio);
    fire_npy_t   x;
    const float *y, *dx;

    FIRE_TRY(forward(c, net));
    FIRE_TRY(fire_npy_load(in_file, &x));
    FIRE_TRY(fire_blob_read(out, FIRE_DATA, FIRE_CPU, &y));
    for (int64_t i = 0; i < x.count; i++) {
        dropped += y[i] == 0;
        if (y[i] != 0 &&
            fabs(y[i] - scale * x.data[i]) > 1e-6 * fabs(scale * x.data[i]))
            golden_reject(c, "out[%lld] is neither 0 nor in / (1 - ratio)",
                          (long long)i);
    }
    if (fabs(dropped / (double)x.count - ratio) > 4 / sqrt((double)x.count))
        golden_reject(c, "%g of the values are dropped, not %g",
                      dropped / (double)x.count, ratio);
    /* The gradient of 1 per output shows the mask once more. */
    for (int64_t i = 0; i < x.count; i++)
        x.data[i] = y[i];
    FIRE_TRY(fire_blob_set(out, FIRE_DIFF, 1));
    FIRE_TRY(fire_net_backward(net, -1, 0));
    FIRE_TRY(fire_blob_read(in, FIRE_DIFF, FIRE_CPU, &dx));
    for (int64_t i = 0; i < x.count; i++)
        if (fabs(dx[i] - (x.data[i] != 0 ? scale : 0)) > 1e-6 * scale)
            golden_reject(c, "diff[%lld] does not follow the mask", (long long)i);
    fire_npy_fini(&x);
    return FIRE_OK;
}

/* As above, and the elements of a map share one fate. */
static fire_status_t check_spatial_dropout(golden_case_t *c, fire_net_t *net,
                                           const fire_json_t *expect)
{
    fire_blob_t *out = first_output(c, net);
    const float *y;
    int64_t      map;

    FIRE_TRY(check_dropout(c, net, expect));
    FIRE_TRY(fire_blob_read(out, FIRE_DATA, FIRE_CPU, &y));
    map = fire_blob_count_range(out, 2, out->ndim);
    for (int64_t i = 0; i < out->count; i++)
        if ((y[i] == 0) != (y[i - i % map] == 0))
            golden_reject(c, "out[%lld] differs from its map", (long long)i);
    return FIRE_OK;
}

/* The same net, changed by `edit`. */
static fire_status_t open_edited(void (*edit)(Caffe__LayerParameter *data),
                                 fire_net_t **net_p)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param;
    fire_status_t        st;

    FIRE_TRY(fire_net_param_load_text("net.prototxt", &param));
    edit(param->layer[0]);
    o.ctx = golden_ctx();
    st    = fire_net_create(param, &o, net_p);
    fire_message_free(param);
    return st;
}

static void do_not_crop(Caffe__LayerParameter *data)
{
    data->transform_param->crop_size = 0;
}

static void do_not_mirror(Caffe__LayerParameter *data)
{
    data->transform_param->mirror = false;
}

static void do_not_shuffle(Caffe__LayerParameter *data)
{
    if (data->image_data_param != NULL) data->image_data_param->shuffle = false;
    if (data->hdf5_data_param != NULL) data->hdf5_data_param->shuffle = false;
}

static bool is_crop_at(const fire_blob_t *whole, const float *x,
                       const fire_blob_t *part, const float *y, int64_t top,
                       int64_t left)
{
    for (int64_t i = 0; i < fire_blob_count_range(part, 1, 4); i++) {
        int64_t w = i % part->dim[3], h = i / part->dim[3] % part->dim[2];
        int64_t k = i / (part->dim[3] * part->dim[2]);

        if (y[i] != x[(k * whole->dim[2] + top + h) * whole->dim[3] + left + w])
            return false;
    }
    return true;
}

static bool is_some_crop(const fire_blob_t *whole, const float *x,
                         const fire_blob_t *part, const float *y)
{
    for (int64_t top = 0; top <= whole->dim[2] - part->dim[2]; top++)
        for (int64_t left = 0; left <= whole->dim[3] - part->dim[3]; left++)
            if (is_crop_at(whole, x, part, y, top, left)) return true;
    return false;
}

static fire_status_t check_crop(golden_case_t *c, fire_net_t *net,
                                const fire_json_t *expect)
{
    fire_blob_t  *part = first_output(c, net), *whole;
    fire_net_t   *uncropped;
    const float  *x, *y;
    fire_status_t st;

    (void)expect;
    FIRE_TRY(fire_net_forward(net, 0, -1, NULL));
    FIRE_TRY(open_edited(do_not_crop, &uncropped));
    whole = first_output(c, uncropped);
    st    = fire_net_forward(uncropped, 0, -1, NULL);
    if (st >= 0) st = fire_blob_read(whole, FIRE_DATA, FIRE_CPU, &x);
    if (st >= 0) st = fire_blob_read(part, FIRE_DATA, FIRE_CPU, &y);
    for (int64_t n = 0; st >= 0 && n < part->dim[0]; n++)
        if (!is_some_crop(whole, x + n * fire_blob_count_range(whole, 1, 4), part,
                          y + n * fire_blob_count_range(part, 1, 4)))
            golden_reject(c, "image %lld is no crop of its original", (long long)n);
    fire_net_destroy(uncropped);
    return st;
}

/* Each image is its original or the mirror image of it. */
static fire_status_t check_mirror(golden_case_t *c, fire_net_t *net,
                                  const fire_json_t *expect)
{
    fire_blob_t *out = first_output(c, net), *original;
    fire_net_t  *plain;
    const float *x, *y;
    int64_t      width;

    (void)expect;
    FIRE_TRY(fire_net_forward(net, 0, -1, NULL));
    FIRE_TRY(open_edited(do_not_mirror, &plain));
    original = first_output(c, plain);
    FIRE_TRY(fire_net_forward(plain, 0, -1, NULL));
    FIRE_TRY(fire_blob_read(original, FIRE_DATA, FIRE_CPU, &x));
    FIRE_TRY(fire_blob_read(out, FIRE_DATA, FIRE_CPU, &y));
    width = out->dim[3];
    for (int64_t n = 0, size = out->count / out->dim[0]; n < out->dim[0]; n++) {
        bool same = true, mirrored = true;

        for (int64_t i = n * size; i < (n + 1) * size; i++) {
            same     = same && y[i] == x[i];
            mirrored = mirrored && y[i] == x[i - i % width + width - 1 - i % width];
        }
        if (!same && !mirrored)
            golden_reject(c, "image %lld is neither its original nor its mirror image",
                          (long long)n);
    }
    fire_net_destroy(plain);
    return FIRE_OK;
}

/* The rows of all steps of a net: row i of every output of step 0, behind each other. */
typedef struct rows {
    int64_t n, size;
    float  *x;
    bool   *used;
} rows_t;

static fire_status_t read_rows(const golden_case_t *c, fire_net_t *net, rows_t *r)
{
    const fire_json_t *steps = fire_json_get(c->json, "steps");
    int64_t            batch = first_output(c, net)->dim[0];

    *r = (rows_t){.n = batch * steps->n};
    for (int i = 0; i < net->noutput; i++)
        r->size += net->blob[net->output[i]].blob->count / batch;
    FIRE_TRY(FIRE_NEW(&r->x, r->n * r->size));
    FIRE_TRY(FIRE_NEW(&r->used, r->n));
    for (int64_t step = 0; step < steps->n; step++) {
        float *to = r->x + step * batch * r->size;

        fire_net_set_step(net, step);
        FIRE_TRY(fire_net_forward(net, 0, -1, NULL));
        for (int i = 0; i < net->noutput; i++) {
            fire_blob_t *b    = net->blob[net->output[i]].blob;
            int64_t      part = b->count / batch;
            const float *x;

            FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
            for (int64_t row = 0; row < batch; row++)
                memcpy(to + row * r->size, x + row * part, (size_t)part * sizeof(*x));
            to += part;
        }
    }
    return FIRE_OK;
}

/* Shuffled rows are those of the data, each once, in whatever order. */
static fire_status_t check_permutation(golden_case_t *c, fire_net_t *net,
                                       const fire_json_t *expect)
{
    fire_net_t *plain;
    rows_t      got, want;

    (void)expect;
    FIRE_TRY(open_edited(do_not_shuffle, &plain));
    FIRE_TRY(read_rows(c, net, &got));
    FIRE_TRY(read_rows(c, plain, &want));
    for (int64_t i = 0; i < got.n; i++) {
        int64_t k = 0;

        while (k < want.n &&
               (want.used[k] || memcmp(got.x + i * got.size, want.x + k * want.size,
                                       (size_t)got.size * sizeof(*got.x)) != 0))
            k++;
        if (k < want.n)
            want.used[k] = true;
        else
            golden_reject(c, "row %lld is none of the data, or one that came before",
                          (long long)i);
    }
    for (rows_t *r = &got;; r = &want) {
        fire_free(r->x);
        fire_free(r->used);
        if (r == &want) break;
    }
    fire_net_destroy(plain);
    return FIRE_OK;
}

/* Mean, deviation and range of what a filler made. */
static void check_moments(golden_case_t *c, const fire_json_t *expect, int64_t n,
                          const float *x)
{
    bool   uniform = strcmp(fire_json_string_or(expect, "dist", ""), "uniform") == 0;
    double min     = fire_json_number_or(expect, "min", -INFINITY);
    double max     = fire_json_number_or(expect, "max", INFINITY);
    double mean    = uniform ? (min + max) / 2 : fire_json_number_or(expect, "mean", 0);
    double std =
        uniform ? (max - min) / sqrt(12) : fire_json_number_or(expect, "std", 1);
    double keep = fire_json_number_or(expect, "nonzero_fraction", 1);
    double sum = 0, squares = 0, nonzero = 0;

    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
        nonzero += x[i] != 0;
        if (x[i] < min || x[i] > max)
            golden_reject(c, "%g is out of range", (double)x[i]);
    }
    std *= sqrt(keep);
    if (fabs(sum / (double)n - mean) > 4 * std / sqrt((double)n))
        golden_reject(c, "the mean is %g, not %g", sum / (double)n, mean);
    if (fabs(squares / (double)n / (std * std) - 1) > 8 / sqrt((double)n * keep))
        golden_reject(c, "the variance is %g, not %g", squares / (double)n, std * std);
    if (fabs(nonzero / (double)n - keep) > 4 / sqrt((double)n))
        golden_reject(c, "%g of the values are not zero, not %g", nonzero / (double)n,
                      keep);
}

/* What a filler made: the first parameter if there is one, else the output. */
static fire_status_t find_filled(golden_case_t *c, fire_net_t *net,
                                 fire_blob_t **blob_p, const float **x_p)
{
    const fire_json_t *params = fire_json_get(c->json, "params");

    FIRE_TRY(forward(c, net));
    *blob_p = params != NULL && params->n > 0
                  ? fire_net_find_layer(
                        net, fire_json_string_or(&params->item[0], "layer", ""))
                        ->blob[0]
                  : first_output(c, net);
    return fire_blob_read(*blob_p, FIRE_DATA, FIRE_CPU, x_p);
}

static fire_status_t check_stats(golden_case_t *c, fire_net_t *net,
                                 const fire_json_t *expect)
{
    fire_blob_t *blob;
    const float *x;

    FIRE_TRY(find_filled(c, net, &blob, &x));
    check_moments(c, expect, blob->count, x);
    return FIRE_OK;
}

static fire_status_t check_unitball(golden_case_t *c, fire_net_t *net,
                                    const fire_json_t *expect)
{
    double       want = fire_json_number_or(expect, "row_sum", 1);
    fire_blob_t *blob;
    const float *x;

    FIRE_TRY(find_filled(c, net, &blob, &x));
    for (int64_t row = 0; row < blob->dim[0]; row++) {
        int64_t width = blob->count / blob->dim[0];
        double  sum   = 0;

        for (int64_t i = 0; i < width; i++, x++) {
            sum += *x;
            if (*x < 0) golden_reject(c, "a weight is negative");
        }
        if (fabs(sum - want) > 1e-5)
            golden_reject(c, "row %lld sums to %g", (long long)row, sum);
    }
    return FIRE_OK;
}

fire_status_t golden_run_random(golden_case_t *c, fire_net_t *net)
{
    static const struct {
        const char *property;
        fire_status_t (*check)(golden_case_t *c, fire_net_t *net,
                               const fire_json_t *expect);
    } table[] = {
        {"dropout", check_dropout},         {"spatial_dropout", check_spatial_dropout},
        {"random_crop", check_crop},        {"random_mirror", check_mirror},
        {"permutation", check_permutation}, {"stats", check_stats},
        {"unitball", check_unitball}};
    const fire_json_t *expect   = fire_json_get(c->json, "expect");
    const char        *property = fire_json_string_or(expect, "property", "");

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i].property, property) == 0)
            return table[i].check(c, net, expect);
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "unknown property \"%s\"", property);
}
