/* probe.c - a plug-in whose layers call every function of <fire/layer.h> that a layer
 * may call, and fail at the first that answers wrongly. test_layer.c builds nets of
 * them. */
#include <fire/layer.h>
#include <math.h>
#include <string.h>

#define EXPECT(cond)                                                            \
    do {                                                                        \
        if (!(cond))                                                            \
            return fire_fail(FIRE_ERR_INVALID, "line %d: %s", __LINE__, #cond); \
    } while (0)
#define TRY(call)                              \
    do {                                       \
        fire_status_t try_status = (call);     \
        if (try_status < 0) return try_status; \
    } while (0)

/* ---- Probe: y = weight x ---- */

typedef struct probe {
    double       factor;
    int          prepared;
    fire_blob_t *kept;
} probe_t;

static fire_status_t check_values(fire_values_t *v)
{
    fire_values_t *window;
    int64_t        size, second;
    double         half, third;
    bool           fast;
    const char    *mode, *word;

    EXPECT(fire_values_count(v, "at") == 3);
    TRY(fire_values_int(v, "size", 1, &size));
    TRY(fire_values_number(v, "half", 1, &half));
    TRY(fire_values_bool(v, "fast", false, &fast));
    TRY(fire_values_text(v, "mode", "", &mode));
    TRY(fire_values_int_at(v, "at", 1, &second));
    TRY(fire_values_number_at(v, "at", 2, &third));
    TRY(fire_values_text_at(v, "words", 1, &word));
    TRY(fire_values_group(v, "window", 0, &window));
    EXPECT(size == 3 && half == 0.5 && fast && strcmp(mode, "MAX") == 0);
    EXPECT(second == 20 && third == 30.5 && strcmp(word, "b") == 0);
    EXPECT(window != NULL);
    TRY(fire_values_int(window, "width", 0, &size));
    EXPECT(size == 7);
    return FIRE_OK;
}

static fire_status_t probe_setup(fire_layer_t *l)
{
    probe_t       *s   = fire_layer_state(l);
    const int64_t  one = 1, three[] = {3};
    fire_values_t *pooling = fire_layer_values_of(l, "pooling_param");
    int64_t        kernel;

    EXPECT(s->factor == 0 && s->kept == NULL && s->prepared == 0);
    EXPECT(strcmp(fire_layer_name(l), "probe") == 0);
    EXPECT(strcmp(fire_layer_type(l), "Probe") == 0);
    EXPECT(fire_layer_phase(l) == FIRE_TRAIN);
    EXPECT(fire_layer_nbottom(l) == 1 && fire_layer_ntop(l) == 1);
    EXPECT(fire_layer_nparam(l) == 0);
    EXPECT(fire_blob_count(fire_layer_bottom(l, 0)) == 6);
    TRY(check_values(fire_layer_values(l)));
    EXPECT(fire_layer_values_of(l, "lrn_param") == NULL);
    EXPECT(fire_layer_values_of(l, "no_such_param") == NULL);
    EXPECT(pooling != NULL);
    TRY(fire_values_int(pooling, "kernel_size", 0, &kernel));
    EXPECT(kernel == 5);
    TRY(fire_layer_add_param(l, 1, &one, "weight_filler", NULL));
    TRY(fire_layer_add_param(l, 1, three, "bias_filler", "type: 'constant' value: 4"));
    TRY(fire_layer_add_param(l, 1, &one, NULL, NULL));
    EXPECT(fire_layer_nparam(l) == 3);
    fire_layer_message(l, FIRE_WARNING, "is set up with %d parameters",
                       fire_layer_nparam(l));
    return fire_blob_create(&s->kept);
}

static fire_status_t check_params(fire_layer_t *l)
{
    const float *weight, *bias, *zero;

    TRY(fire_blob_read(fire_layer_param(l, 0), FIRE_DATA, FIRE_CPU, &weight));
    TRY(fire_blob_read(fire_layer_param(l, 1), FIRE_DATA, FIRE_CPU, &bias));
    TRY(fire_blob_read(fire_layer_param(l, 2), FIRE_DATA, FIRE_CPU, &zero));
    EXPECT(weight[0] == 2 && bias[0] == 4 && bias[2] == 4 && zero[0] == 0);
    return FIRE_OK;
}

static fire_status_t probe_reshape(fire_layer_t *l)
{
    probe_t *s = fire_layer_state(l);

    TRY(fire_blob_reshape_like(s->kept, fire_layer_bottom(l, 0)));
    return fire_layer_reshape_same(l);
}

static fire_status_t probe_prepare(fire_layer_t *l)
{
    ((probe_t *)fire_layer_state(l))->prepared++;
    return FIRE_OK;
}

static void probe_teardown(fire_layer_t *l)
{
    fire_blob_destroy(((probe_t *)fire_layer_state(l))->kept);
}

static void add_one(void *arg, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        ((float *)arg)[i] += 1;
}

/* Each element is in one piece. */
static fire_status_t check_parallel(fire_layer_t *l)
{
    enum { N = 1000 };
    void  *ptr, *other;
    float *x;

    TRY(fire_layer_scratch(l, N * sizeof(*x), &ptr));
    TRY(fire_layer_scratch(l, 1 << 20, &other));
    EXPECT(other != ptr && (uintptr_t)ptr % 256 == 0);
    memset(other, 1, 1 << 20);
    x = ptr;
    for (int i = 0; i < N; i++)
        x[i] = (float)i;
    fire_layer_parallel(l, N, 7, add_one, x);
    fire_layer_parallel(l, 0, 7, add_one, NULL);
    for (int i = 0; i < N; i++)
        EXPECT(x[i] == (float)(i + 1));
    return FIRE_OK;
}

/* Numbers repeat within a pass, and spread as they should. */
static fire_status_t check_random(const fire_layer_t *l)
{
    double sum = 0, squares = 0;

    EXPECT(fire_layer_random(l, 5) == fire_layer_random(l, 5));
    EXPECT(fire_layer_random(l, 5) != fire_layer_random(l, 6));
    for (int i = 0; i < 4000; i++) {
        float u = fire_layer_uniform(l, i), g = fire_layer_gaussian(l, i);

        EXPECT(u >= 0 && u < 1);
        sum += u;
        squares += g * g;
    }
    EXPECT(fabs(sum / 4000 - 0.5) < 0.03 && fabs(squares / 4000 - 1) < 0.1);
    EXPECT(fire_layer_row(l, 2, 1) == 1);
    return FIRE_OK;
}

static fire_status_t probe_forward(fire_layer_t *l)
{
    probe_t     *s = fire_layer_state(l);
    const float *x, *weight;
    float       *y;

    EXPECT(s->prepared > 0);
    EXPECT(fire_layer_place(l) == FIRE_CPU && fire_layer_stream(l) == NULL);
    TRY(check_params(l));
    TRY(check_parallel(l));
    TRY(check_random(l));
    TRY(fire_blob_read(fire_layer_param(l, 0), FIRE_DATA, FIRE_CPU, &weight));
    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &x));
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &y));
    for (int64_t i = 0; i < fire_blob_count(fire_layer_top(l, 0)); i++)
        y[i] = weight[0] * x[i];
    return FIRE_OK;
}

/* Nothing below learns, and the last parameter does not (lr_mult: 0): their gradients are
 * wanted with force_backward only. */
static fire_status_t probe_backward(fire_layer_t *l)
{
    const float *dy;
    float       *dx;

    EXPECT(fire_layer_wants_param(l, 0));
    EXPECT(fire_layer_wants_param(l, 2) == fire_layer_wants_bottom(l, 0));
    if (!fire_layer_wants_bottom(l, 0)) return FIRE_OK;
    TRY(fire_blob_read(fire_layer_top(l, 0), FIRE_DIFF, FIRE_CPU, &dy));
    TRY(fire_blob_write(fire_layer_bottom(l, 0), FIRE_DIFF, FIRE_CPU, &dx));
    for (int64_t i = 0; i < fire_blob_count(fire_layer_bottom(l, 0)); i++)
        dx[i] = 2 * dy[i];
    return FIRE_OK;
}

/* The first kernel wants large bottoms only. */
static const char *wants_more(const fire_layer_t *l)
{
    return fire_blob_count(fire_layer_bottom(l, 0)) < 100 ? "the bottom is small"
                                                          : NULL;
}

static double probe_macs(const fire_layer_t *l)
{
    return (double)fire_blob_count(fire_layer_bottom(l, 0));
}

static const fire_plugin_kernel_t probe_large = {
    .size     = sizeof(probe_large),
    .name     = "large",
    .forward  = probe_forward,
    .backward = probe_backward,
    .declines = wants_more,
    .prepare  = probe_prepare,
};

static const fire_plugin_kernel_t probe_ref = {
    .size     = sizeof(probe_ref),
    .name     = "ref",
    .reads    = FIRE_READS_NOTHING,
    .forward  = probe_forward,
    .backward = probe_backward,
    .prepare  = probe_prepare,
};

static const fire_plugin_kernel_t *const probe_kernels[] = {&probe_large, &probe_ref,
                                                            NULL};

static const fire_plugin_layer_t probe = {
    .size       = sizeof(probe),
    .type       = "Probe",
    .min_bottom = 1,
    .max_bottom = 1,
    .min_top    = 1,
    .max_top    = 1,
    .state_size = sizeof(probe_t),
    .setup      = probe_setup,
    .reshape    = probe_reshape,
    .teardown   = probe_teardown,
    .macs       = probe_macs,
    .kernels    = probe_kernels,
};

/* ---- ProbeLoss: sum of x ---- */

static fire_status_t loss_reshape(fire_layer_t *l)
{
    return fire_blob_reshape(fire_layer_top(l, 0), 0, NULL);
}

static fire_status_t loss_forward(fire_layer_t *l)
{
    const float *x;
    float       *y;

    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &x));
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &y));
    y[0] = 0;
    for (int64_t i = 0; i < fire_blob_count(fire_layer_bottom(l, 0)); i++)
        y[0] += x[i];
    return FIRE_OK;
}

static fire_status_t loss_backward(fire_layer_t *l)
{
    float *dx, weight;

    TRY(fire_layer_loss_weight(l, &weight));
    TRY(fire_blob_write(fire_layer_bottom(l, 0), FIRE_DIFF, FIRE_CPU, &dx));
    for (int64_t i = 0; i < fire_blob_count(fire_layer_bottom(l, 0)); i++)
        dx[i] = weight;
    return FIRE_OK;
}

static const fire_plugin_kernel_t loss_ref = {
    .size     = sizeof(loss_ref),
    .name     = "ref",
    .reads    = FIRE_READS_NOTHING,
    .forward  = loss_forward,
    .backward = loss_backward,
};

static const fire_plugin_kernel_t *const loss_kernels[] = {&loss_ref, NULL};

static const fire_plugin_layer_t probe_loss = {
    .size       = sizeof(probe_loss),
    .type       = "ProbeLoss",
    .min_bottom = 1,
    .max_bottom = 1,
    .min_top    = 1,
    .max_top    = 1,
    .flags      = FIRE_LAYER_LOSS | FIRE_LAYER_AUTO_TOP,
    .reshape    = loss_reshape,
    .kernels    = loss_kernels,
};

/* ---- ProbeData: x[row] = number of the sample, (rows, 2) ---- */

enum { BATCH = 8, WIDTH = 2 };

static fire_status_t data_reshape(fire_layer_t *l)
{
    int64_t first, stride, dim[] = {0, WIDTH};

    fire_layer_samples(l, BATCH, &first, &stride, &dim[0]);
    return fire_blob_reshape(fire_layer_top(l, 0), 2, dim);
}

static fire_status_t data_forward(fire_layer_t *l)
{
    int64_t first, stride, n;
    float  *y;

    fire_layer_samples(l, BATCH, &first, &stride, &n);
    EXPECT(n == fire_blob_dims(fire_layer_top(l, 0))[0]);
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &y));
    for (int64_t i = 0; i < n * WIDTH; i++)
        y[i] = (float)((first + i / WIDTH * stride) % 17) / 17;
    return FIRE_OK;
}

static const fire_plugin_kernel_t data_ref = {
    .size    = sizeof(data_ref),
    .name    = "ref",
    .forward = data_forward,
};

static const fire_plugin_kernel_t *const data_kernels[] = {&data_ref, NULL};

static const fire_plugin_layer_t probe_data = {
    .size    = sizeof(probe_data),
    .type    = "ProbeData",
    .min_top = 1,
    .max_top = 1,
    .flags   = FIRE_LAYER_SOURCE,
    .reshape = data_reshape,
    .kernels = data_kernels,
};

/* ---- the plug-in ---- */

static const fire_plugin_layer_t *const layers[] = {&probe, &probe_loss, &probe_data,
                                                    NULL};

const fire_plugin_t fire_plugin = {
    .version     = FIRE_PLUGIN_VERSION,
    .size        = sizeof(fire_plugin),
    .name        = "probe",
    .description = "asks the library everything",
    .layers      = layers,
};
