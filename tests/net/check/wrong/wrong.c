/* wrong.c - a plug-in whose layer breaks one rule, which `wrong_param { fault: "..." }`
 * chooses: y = w x, with one parameter w, in rows of any number of elements. */
#include <fire/layer.h>
#include <pthread.h>
#include <string.h>

#define TRY(call)                              \
    do {                                       \
        fire_status_t try_status = (call);     \
        if (try_status < 0) return try_status; \
    } while (0)

typedef struct wrong {
    const char *fault;
    float       memory; /* of earlier passes */
    int64_t     largest;
} wrong_t;

static bool is(fire_layer_t *l, const char *fault)
{
    return strcmp(((wrong_t *)fire_layer_state(l))->fault, fault) == 0;
}

static fire_status_t setup(fire_layer_t *l)
{
    wrong_t      *s   = fire_layer_state(l);
    const int64_t one = 1;

    TRY(fire_values_text(fire_layer_values(l), "fault", "none", &s->fault));
    return fire_layer_add_param(l, 1, &one, NULL, "type: 'constant' value: 0.7");
}

static fire_status_t reshape(fire_layer_t *l)
{
    wrong_t *s = fire_layer_state(l);
    int64_t  n = fire_blob_count(fire_layer_bottom(l, 0));

    if (n > s->largest) s->largest = n;
    return fire_layer_reshape_same(l);
}

static fire_status_t forward(fire_layer_t *l)
{
    wrong_t     *s = fire_layer_state(l);
    int64_t      n = fire_blob_count(fire_layer_bottom(l, 0));
    const float *x, *w;
    float       *y;

    TRY(fire_blob_read(fire_layer_param(l, 0), FIRE_DATA, FIRE_CPU, &w));
    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &x));
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &y));
    for (int64_t i = is(l, "first element") ? 1 : 0; i < n; i++)
        y[i] = w[0] * x[i];
    if (is(l, "memory")) y[0] += s->memory++;
    if (is(l, "shape") && s->largest != n) y[0] += 1;
    return FIRE_OK;
}

static fire_status_t fast_forward(fire_layer_t *l)
{
    float *y;

    TRY(forward(l));
    TRY(fire_blob_update(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &y));
    if (is(l, "other kernel")) y[0] += 0.1f;
    return FIRE_OK;
}

static fire_status_t backward_bottom(fire_layer_t *l, const float *w, const float *dy)
{
    int64_t n = fire_blob_count(fire_layer_bottom(l, 0));
    float  *dx;

    if (is(l, "add"))
        TRY(fire_blob_update(fire_layer_bottom(l, 0), FIRE_DIFF, FIRE_CPU, &dx));
    else
        TRY(fire_blob_write(fire_layer_bottom(l, 0), FIRE_DIFF, FIRE_CPU, &dx));
    for (int64_t i = 0; i < n; i++)
        dx[i] = (is(l, "add") ? dx[i] : 0) + w[0] * dy[i];
    if (is(l, "formula")) dx[n - 1] *= 1.1f;
    return FIRE_OK;
}

static fire_status_t backward_param(fire_layer_t *l, const float *x, const float *dy)
{
    double sum = 0;
    float *dw;

    for (int64_t i = 0; i < fire_blob_count(fire_layer_bottom(l, 0)); i++)
        sum += (double)x[i] * dy[i];
    TRY(fire_blob_update(fire_layer_param(l, 0), FIRE_DIFF, FIRE_CPU, &dw));
    dw[0] = (is(l, "overwrite") ? 0 : dw[0]) + (float)sum;
    return FIRE_OK;
}

static fire_status_t backward(fire_layer_t *l)
{
    const float *x, *w, *dy;

    TRY(fire_blob_read(fire_layer_param(l, 0), FIRE_DATA, FIRE_CPU, &w));
    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &x));
    TRY(fire_blob_read(fire_layer_top(l, 0), FIRE_DIFF, FIRE_CPU, &dy));
    if (fire_layer_wants_param(l, 0) || is(l, "unwanted parameter"))
        TRY(backward_param(l, x, dy)); /* before dx, which may replace dy in place */
    if (fire_layer_wants_bottom(l, 0) || is(l, "unwanted bottom"))
        TRY(backward_bottom(l, w, dy));
    return FIRE_OK;
}

static const fire_plugin_kernel_t fast = {
    .size     = sizeof(fast),
    .name     = "fast",
    .reads    = FIRE_READS_BOTTOM,
    .forward  = fast_forward,
    .backward = backward,
};

static const fire_plugin_kernel_t ref = {
    .size     = sizeof(ref),
    .name     = "ref",
    .reads    = FIRE_READS_BOTTOM,
    .forward  = forward,
    .backward = backward,
};

static const fire_plugin_kernel_t *const kernels[] = {&fast, &ref, NULL};

static const fire_plugin_layer_t wrong = {
    .size       = sizeof(wrong),
    .type       = "Wrong",
    .min_bottom = 1,
    .max_bottom = 1,
    .min_top    = 1,
    .max_top    = 1,
    .state_size = sizeof(wrong_t),
    .setup      = setup,
    .reshape    = reshape,
    .kernels    = kernels,
};

/* ---- WrongReads: y = x^2, reads x in backward and says that it reads y ---- */

static fire_status_t square_forward(fire_layer_t *l)
{
    const float *x;
    float       *y;

    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &x));
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &y));
    for (int64_t i = 0; i < fire_blob_count(fire_layer_top(l, 0)); i++)
        y[i] = x[i] * x[i];
    return FIRE_OK;
}

/* In place, x is lost when backward needs it. */
static fire_status_t square_backward(fire_layer_t *l)
{
    const float *x, *dy;
    float       *dx;

    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &x));
    TRY(fire_blob_read(fire_layer_top(l, 0), FIRE_DIFF, FIRE_CPU, &dy));
    TRY(fire_blob_write(fire_layer_bottom(l, 0), FIRE_DIFF, FIRE_CPU, &dx));
    for (int64_t i = 0; i < fire_blob_count(fire_layer_top(l, 0)); i++)
        dx[i] = 2 * x[i] * dy[i];
    return FIRE_OK;
}

static const fire_plugin_kernel_t square_ref = {
    .size     = sizeof(square_ref),
    .name     = "ref",
    .reads    = FIRE_READS_TOP,
    .forward  = square_forward,
    .backward = square_backward,
};

static const fire_plugin_kernel_t *const square_kernels[] = {&square_ref, NULL};

static const fire_plugin_layer_t square = {
    .size       = sizeof(square),
    .type       = "WrongReads",
    .min_bottom = 1,
    .max_bottom = 1,
    .min_top    = 1,
    .max_top    = 1,
    .flags      = FIRE_LAYER_INPLACE,
    .reshape    = fire_layer_reshape_same,
    .kernels    = square_kernels,
};

/* ---- WrongThreads: y = x, and more where another thread computes it ---- */

typedef struct job {
    pthread_t    caller;
    const float *x;
    float       *y;
} job_t;

static void copy_piece(void *arg, int64_t begin, int64_t end)
{
    const job_t *j = arg;

    for (int64_t i = begin; i < end; i++)
        j->y[i] = j->x[i] + (pthread_equal(pthread_self(), j->caller) ? 0 : 0.5f);
}

static fire_status_t threads_forward(fire_layer_t *l)
{
    job_t j = {.caller = pthread_self()};

    TRY(fire_blob_read(fire_layer_bottom(l, 0), FIRE_DATA, FIRE_CPU, &j.x));
    TRY(fire_blob_write(fire_layer_top(l, 0), FIRE_DATA, FIRE_CPU, &j.y));
    fire_layer_parallel(l, fire_blob_count(fire_layer_top(l, 0)), 1, copy_piece, &j);
    return FIRE_OK;
}

static const fire_plugin_kernel_t threads_ref = {
    .size    = sizeof(threads_ref),
    .name    = "ref",
    .forward = threads_forward,
};

static const fire_plugin_kernel_t *const threads_kernels[] = {&threads_ref, NULL};

static const fire_plugin_layer_t threads = {
    .size       = sizeof(threads),
    .type       = "WrongThreads",
    .min_bottom = 1,
    .max_bottom = 1,
    .min_top    = 1,
    .max_top    = 1,
    .reshape    = fire_layer_reshape_same,
    .kernels    = threads_kernels,
};

static const fire_plugin_layer_t *const layers[] = {&wrong, &square, &threads, NULL};

const fire_plugin_t fire_plugin = {
    .version = FIRE_PLUGIN_VERSION,
    .size    = sizeof(fire_plugin),
    .name    = "wrong",
    .layers  = layers,
};
