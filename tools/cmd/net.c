/* firecaffe net - prints a net as a table: layers, shapes, parameters, arithmetic, and
 * the bytes of weights (|W|, sent in data parallelism) against those of inputs (|D|).
 * */
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "view/layer_types.h"
#include "report/graph/draw.h"
#include "flags/net.h"

typedef struct flags {
    fire_option_list_t shape;
    int64_t            batch;
    bool               explain, coverage;
    const char        *draw;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(
        flags_t, shape, LIST, NULL, "BLOB=N,C,H,W",
        "shape of a blob, instead of reading the layer's data; may be repeated"),
    FIRE_OPTION(flags_t, batch, INT, "0", "N",
                "show the net for batches of N; 0: its own batch size"),
    FIRE_OPTION(flags_t, explain, BOOL, "false", NULL,
                "show the kernel of each layer, why others declined, and which blobs "
                "are converted between formats"),
    FIRE_OPTION(flags_t, draw, PATH, "", "FILE",
                "draw the net to this .svg or .html file"),
    FIRE_OPTION(
        flags_t, coverage, BOOL, "false", NULL,
        "list all layer types, also those of plug-ins, their kernels and tests; needs "
        "no net"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* ---- the table ---- */

enum { SHAPE_TEXT = 96 };

typedef struct totals {
    int64_t learned, statistic;
    double  macs, w_bytes, d_bytes;
} totals_t;

/* 1234567 as 1,234,567 */
static const char *grouped(int64_t n, char out[32])
{
    char digits[24];
    int  len = snprintf(digits, sizeof(digits), "%lld", (long long)n), at = 0;

    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* 1.5e9 as "1.50 G" */
static const char *scaled(double x, char out[32])
{
    static const char units[] = " kMGTP";
    int               u       = 0;

    for (; x >= 1000 && units[u + 1] != '\0'; u++)
        x /= 1000;
    snprintf(out, 32, "%.3g %c", x, units[u]);
    return out;
}

/* 64 x 1 x 28 x 28 */
static const char *shape_text(const fire_blob_t *b, char out[SHAPE_TEXT])
{
    int at = 0;

    out[0] = '\0';
    for (int i = 0; i < fire_blob_ndim(b) && at < SHAPE_TEXT - 24; i++)
        at += snprintf(out + at, SHAPE_TEXT - (size_t)at, "%s%lld", i > 0 ? " x " : "",
                       (long long)fire_blob_dims(b)[i]);
    return out;
}

static double blob_bytes(const fire_blob_t *b)
{
    return 4.0 * (double)fire_blob_count(b);
}

static void print_row(const fire_net_t *net, int layer, totals_t *t)
{
    char shape[SHAPE_TEXT] = "", params[32] = "", macs[32] = "", w[32] = "", d[32] = "";
    int64_t count = 0;
    double  mac   = fire_net_layer_macs(net, layer);

    for (int i = 0; i < fire_net_layer_nparam(net, layer); i++)
        count += fire_blob_count(fire_net_layer_param(net, layer, i));
    if (fire_net_layer_ntop(net, layer) > 0)
        shape_text(fire_net_blob(net, fire_net_layer_top(net, layer, 0)), shape);
    if (fire_net_layer_is_product(net, layer)) {
        double w_bytes = blob_bytes(fire_net_layer_param(net, layer, 0));
        double d_bytes =
            blob_bytes(fire_net_blob(net, fire_net_layer_bottom(net, layer, 0)));

        t->w_bytes += w_bytes;
        t->d_bytes += d_bytes;
        scaled(w_bytes, w);
        scaled(d_bytes, d);
    }
    t->macs += mac;
    printf("%-26s %-16s %-24s %11s %8s %8s %8s\n", fire_net_layer_name(net, layer),
           fire_net_layer_type(net, layer), shape,
           count > 0 ? grouped(count, params) : "",
           mac > 0 ? scaled(2 * mac, macs) : "", w, d);
}

static void print_totals(const fire_net_t *net, totals_t *t)
{
    char a[32], b[32];

    for (int i = 0; i < fire_net_nparam(net); i++) {
        const fire_param_t *p = fire_net_param(net, i);

        *(p->kind == FIRE_PARAM_STATISTIC ? &t->statistic : &t->learned) +=
            fire_blob_count(p->blob);
    }
    printf("\nparameters          %s", grouped(t->learned, a));
    if (t->statistic > 0)
        printf(" and %s running statistics", grouped(t->statistic, b));
    printf("\nforward             %sFLOP per batch; with backward %sFLOP\n",
           scaled(2 * t->macs, a), scaled(6 * t->macs, b));
    printf("|W|, |D|            %sB of weights, %sB of inputs per batch, both of the "
           "convolution\n                    and inner product layers\n",
           scaled(t->w_bytes, a), scaled(t->d_bytes, b));
    if (t->w_bytes > 0)
        printf("|D| / |W|           %.3g: the larger, the better data parallelism "
               "scales\n",
               t->d_bytes / t->w_bytes);
}

/* In training each learned number has a gradient and, with momentum, a history. */
static fire_status_t print_memory(const fire_net_t *net, const totals_t *t)
{
    bool   train = fire_net_phase(net) == CAFFE__PHASE__TRAIN;
    double params =
        4.0 * (double)(t->learned * (train ? 3 : 1) + t->statistic * (train ? 2 : 1));
    char   a[32], b[32];
    size_t blobs, fewer;

    FIRE_TRY(fire_net_blob_bytes(net, train, false, &blobs));
    FIRE_TRY(fire_net_blob_bytes(net, train, true, &fewer));
    printf("%-20s%sB of blobs at most, when %s; %sB of parameters%s\n",
           fire_net_ctx(net)->place == FIRE_GPU ? "memory of the GPU" : "memory",
           scaled((double)blobs, a), train ? "training" : "running", scaled(params, b),
           train ? ",\n                    gradients and history" : "");
    if (train && fewer < blobs)
        printf("                    with --recompute %sB of blobs\n",
               scaled((double)fewer, a));
    if (train && fire_net_ctx(net)->place == FIRE_GPU)
        printf("                    and what max pooling and libraries keep; the log "
               "of a training\n                    tells what is in use\n");
    return FIRE_OK;
}

static fire_status_t print_table(const fire_net_t *net)
{
    totals_t t = {0};

    printf("%s\n\n%-26s %-16s %-24s %11s %8s %8s %8s\n",
           fire_net_name(net)[0] != '\0' ? fire_net_name(net) : net_flags.model,
           "layer", "type", "output", "parameters", "FLOP", "|W| B", "|D| B");
    for (int i = 0; i < fire_net_nlayer(net); i++)
        if (strcmp(fire_net_layer_type(net, i), "Split") != 0) print_row(net, i, &t);
    print_totals(net, &t);
    return print_memory(net, &t);
}

/* ---- kernels ---- */

typedef struct row {
    const char *name, *type; /* of a layer */
} row_t;

/* Without --gpu no kernel of a GPU can be chosen: explain() says so once. */
static void print_choice(void *arg, const char *kernel, const char *reason)
{
    const row_t *row = arg;

    if (reason != NULL && strcmp(reason, FIRE_KERNEL_NEEDS_GPU) == 0) return;
    if (reason == NULL)
        printf("%-26s %-16s %s\n", row->name, row->type, kernel);
    else
        printf("%-26s %-16s   not %s: %s\n", row->name, row->type, kernel, reason);
}

/* How often a pass converts blobs between layers of different formats. */
static fire_status_t print_conversions(fire_net_t *net)
{
    bool    train = fire_net_phase(net) == CAFFE__PHASE__TRAIN;
    int64_t total = 0;

    FIRE_TRY(fire_net_forward(net, 0, -1, NULL));
    if (train) FIRE_TRY(fire_net_backward(net, -1, 0));
    printf("\n%-26s conversions between formats\n", "blob");
    for (int i = 0; i < fire_net_nblob(net); i++) {
        fire_blob_t *b = fire_net_blob(net, i);
        int64_t      n = fire_storage_conversions(b->part[FIRE_DATA]) +
                    fire_storage_conversions(b->part[FIRE_DIFF]);

        if (n > 0) printf("%-26s %lld\n", fire_net_blob_name(net, i), (long long)n);
        total += n;
    }
    printf("%-26s %lld in a pass %s\n", "all", (long long)total,
           train ? "forward and backward" : "forward");
    return FIRE_OK;
}

static fire_status_t explain(fire_net_t *net)
{
    int n = fire_net_nlayer(net), away = 0;

    FIRE_TRY(print_conversions(net));
    printf("\n%-26s %-16s kernel\n", "layer", "type");
    for (int i = 0; i < n; i++) {
        row_t row = {fire_net_layer_name(net, i), fire_net_layer_type(net, i)};

        FIRE_TRY(fire_net_choose_kernel(net, i, print_choice, &row));
        away += fire_net_layer_place(net, i) != fire_net_ctx(net)->place;
    }
    if (fire_net_ctx(net)->place == FIRE_GPU)
        printf("%d of %d layers run on the CPU\n", away, n);
    else
        printf("kernels for GPUs are not shown: they need --gpu\n");
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    net_shapes_t  shapes = {&flags.shape, flags.batch};
    fire_net_t   *net;
    fire_status_t st;

    if (flags.coverage) {
        FIRE_TRY(net_flags_load_plugins());
        layer_types_print();
        return FIRE_OK;
    }
    if (flags.batch < 0 || flags.batch > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--batch must be positive");
    if (narg > 0) net_flags.model = arg[0];
    net_flags.lean     = true; /* memory and fusion as in training and testing */
    net_flags.unfilled = !flags.explain; /* which runs a pass */
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, net_flags_set_shapes, &shapes, &net));
    st = print_table(net);
    if (st >= 0 && flags.explain) st = explain(net);
    if (st >= 0 && flags.draw[0] != '\0') st = fire_draw_net(net, flags.draw);
    net_flags_close(net);
    return st;
}

const command_t command_net = {
    .name      = "net",
    .arguments = "FILE",
    .summary   = "show a net's shapes, parameters, arithmetic and kernels",
    .help      = "Builds the net (in phase TEST unless --phase=TRAIN) and prints a\n"
                 "line per layer: the shape of its first output, its parameters, the\n"
                 "FLOP of a forward pass (a multiply-add counts as two), and for\n"
                 "convolution and inner product layers |W|, the bytes of their\n"
                 "weights, and |D|, the bytes of their inputs. If the data of a Data\n"
                 "layer are missing, --shape or the layer's crop_size gives the shape\n"
                 "of the input.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe net models/alexnet/deploy.prototxt --batch 1024\n"
                 "  firecaffe net models/lenet/train_val.prototxt \\\n"
                 "      --shape data=64,1,28,28\n"
                 "  firecaffe net models/resnet50/deploy.prototxt --explain\n"
                 "  firecaffe net models/googlenet/deploy.prototxt \\\n"
                 "      --draw googlenet.svg\n"
                 "  firecaffe net --coverage --plugin build/rms_norm.so\n",
    .groups    = groups,
    .max_args  = 1,
    .run       = run,
};
