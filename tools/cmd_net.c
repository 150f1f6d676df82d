/* firecaffe net - a net as a table: layers, shapes, parameters, arithmetic, and
 * how much there is to send against how much there is to compute on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "command.h"
#include "model/load.h"
#include "draw.h"
#include "net_flags.h"

typedef struct flags {
    fire_option_list_t shape;
    int64_t            batch;
    bool               explain, coverage;
    const char        *draw;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, shape, LIST, NULL, "BLOB=N,C,H,W",
                "take this shape instead of reading the layer's data"),
    FIRE_OPTION(flags_t, batch, INT, "0", "N", "another batch size for the table"),
    FIRE_OPTION(flags_t, explain, BOOL, "false", NULL,
                "tell which kernel each layer got, and why others declined"),
    FIRE_OPTION(flags_t, draw, STRING, "", "FILE",
                "draw the net into this .svg or .html file"),
    FIRE_OPTION(flags_t, coverage, BOOL, "false", NULL,
                "list all layer types and their kernels; needs no net"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* ---- shapes from the command line ---- */

typedef struct shape {
    char    blob[256];
    int     ndim;
    int64_t dim[FIRE_MAX_DIMS];
} shape_t;

static fire_status_t parse_shape(const char *text, shape_t *s)
{
    const char *c = strchr(text, '=');

    if (c == NULL || (size_t)(c - text) >= sizeof(s->blob))
        return FIRE_FAIL(FIRE_ERR_INVALID, "--shape %s: write BLOB=N,C,H,W", text);
    snprintf(s->blob, sizeof(s->blob), "%.*s", (int)(c - text), text);
    s->ndim = 0;
    do {
        char     *end;
        long long d = strtoll(c + 1, &end, 10);

        if (end == c + 1 || d < 1 || (*end != ',' && *end != 'x' && *end != '\0') ||
            s->ndim == FIRE_MAX_DIMS)
            return FIRE_FAIL(FIRE_ERR_INVALID, "--shape %s: write BLOB=N,C,H,W", text);
        s->dim[s->ndim++] = d;
        c                 = end;
    } while (*c != '\0');
    return FIRE_OK;
}

static bool makes(const Caffe__LayerParameter *l, const char *blob)
{
    for (size_t i = 0; i < l->n_top; i++)
        if (strcmp(l->top[i], blob) == 0) return l->n_bottom == 0;
    return false;
}

static fire_status_t add_shape(Caffe__InputParameter *input, int ndim,
                               const int64_t *dim)
{
    Caffe__BlobShape   *shape;
    const fire_field_t *field = fire_field_find(&caffe__blob_shape__descriptor, "dim");

    FIRE_TRY(fire_message_add_message(input, "shape", &shape));
    for (int i = 0; i < ndim; i++)
        FIRE_TRY(fire_message_put(shape, field, &dim[i]));
    return FIRE_OK;
}

/* Turn a data layer into an Input: the named blob gets the shape, its other tops
 * (labels) one number per sample. */
static fire_status_t become_input(Caffe__LayerParameter *l, const shape_t *s)
{
    static const char     *type_name = "Input";
    Caffe__InputParameter *input;

    FIRE_TRY(
        fire_message_put(l, fire_field_find(l->base.descriptor, "type"), &type_name));
    fire_message_clear(l, fire_field_find(l->base.descriptor, "input_param"));
    FIRE_TRY(fire_message_add_message(l, "input_param", &input));
    for (size_t i = 0; i < l->n_top; i++)
        FIRE_TRY(
            add_shape(input, strcmp(l->top[i], s->blob) == 0 ? s->ndim : 1, s->dim));
    return FIRE_OK;
}

static fire_status_t apply_shape(Caffe__NetParameter *param, const shape_t *s)
{
    bool found = false;

    for (size_t i = 0; i < param->n_layer; i++)
        if (makes(param->layer[i], s->blob)) {
            FIRE_TRY(become_input(param->layer[i], s));
            found = true;
        }
    if (!found)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--shape: no layer of %s brings in \"%s\"",
                         net_flags.model, s->blob);
    return FIRE_OK;
}

/* The shape of one sample as the deploy net beside this one has it, if there is one. */
static bool shape_of_deploy(int64_t dim[3])
{
    const char          *slash = strrchr(net_flags.model, '/');
    int                  n     = slash != NULL ? (int)(slash - net_flags.model) + 1 : 0;
    Caffe__NetParameter *deploy = NULL;
    const Caffe__InputParameter *input;
    char                         path[1024];
    bool                         found = false;

    snprintf(path, sizeof(path), "%.*sdeploy.prototxt", n, net_flags.model);
    if (access(path, R_OK) != 0 || fire_net_param_load_text(path, &deploy) < 0)
        return false;
    input = deploy->n_layer > 0 ? deploy->layer[0]->input_param : NULL;
    if (input != NULL && input->n_shape > 0 && input->shape[0]->n_dim == 4) {
        memcpy(dim, input->shape[0]->dim + 1, 3 * sizeof(*dim));
        found = true;
    }
    fire_message_free(deploy);
    return found;
}

/* Data that are not on this machine: crop_size tells the shape of colour images, and
 * the deploy net that of others. */
static fire_status_t assume_shape(Caffe__LayerParameter *l)
{
    const Caffe__TransformationParameter *t = l->transform_param;
    shape_t                               s = {.ndim = 4};

    if (l->data_param == NULL || l->data_param->source == NULL || l->n_top == 0 ||
        access(l->data_param->source, F_OK) == 0)
        return FIRE_OK;
    snprintf(s.blob, sizeof(s.blob), "%s", l->top[0]);
    s.dim[0] = l->data_param->batch_size;
    s.dim[1] = t != NULL && t->force_gray ? 1 : 3;
    s.dim[2] = s.dim[3] = t != NULL ? t->crop_size : 0;
    if (s.dim[2] == 0 && !shape_of_deploy(s.dim + 1)) return FIRE_OK;
    FIRE_LOG(WARNING, "layer \"%s\": %s is not there; taking %lld x %lld x %lld x %lld",
             l->name, l->data_param->source, (long long)s.dim[0], (long long)s.dim[1],
             (long long)s.dim[2], (long long)s.dim[3]);
    return become_input(l, &s);
}

/* Every blob that comes from outside gets the batch size; the rest follows. */
static void apply_batch(Caffe__LayerParameter *l)
{
    Caffe__InputParameter *input = l->input_param;

    if (l->data_param != NULL) l->data_param->batch_size = (uint32_t)flags.batch;
    for (size_t i = 0; input != NULL && i < input->n_shape; i++)
        if (input->shape[i]->n_dim > 0) input->shape[i]->dim[0] = flags.batch;
}

static fire_status_t apply_shapes(void *arg, Caffe__NetParameter *param)
{
    (void)arg;
    for (int64_t k = 0; k < flags.shape.n; k++) {
        shape_t s;

        FIRE_TRY(parse_shape(flags.shape.text[k], &s));
        FIRE_TRY(apply_shape(param, &s));
    }
    for (size_t i = 0; i < param->n_layer; i++) {
        FIRE_TRY(assume_shape(param->layer[i]));
        if (flags.batch > 0) apply_batch(param->layer[i]);
    }
    return FIRE_OK;
}

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

/* The layers that FireCaffe's |W| and |D| are summed over. */
static bool is_conv_or_fc(const fire_layer_t *l)
{
    return strcmp(l->ops->type, "Convolution") == 0 ||
           strcmp(l->ops->type, "Deconvolution") == 0 ||
           strcmp(l->ops->type, "InnerProduct") == 0;
}

static void print_row(const fire_layer_t *l, totals_t *t)
{
    char shape[SHAPE_TEXT] = "", params[32] = "", macs[32] = "", w[32] = "", d[32] = "";
    int64_t count = 0;
    double  mac   = l->ops->macs != NULL ? l->ops->macs(l) : 0;

    for (int i = 0; i < l->nblob; i++)
        count += fire_blob_count(l->blob[i]);
    if (l->ntop > 0) shape_text(l->top[0], shape);
    if (is_conv_or_fc(l)) {
        double w_bytes = 4.0 * (double)fire_blob_count(l->blob[0]);
        double d_bytes = 4.0 * (double)fire_blob_count(l->bottom[0]);

        t->w_bytes += w_bytes;
        t->d_bytes += d_bytes;
        scaled(w_bytes, w);
        scaled(d_bytes, d);
    }
    t->macs += mac;
    printf("%-26s %-16s %-24s %11s %8s %8s %8s\n", l->param->name, l->ops->type, shape,
           count > 0 ? grouped(count, params) : "",
           mac > 0 ? scaled(2 * mac, macs) : "", w, d);
}

static void print_totals(const fire_net_t *net, totals_t *t)
{
    char a[32], b[32];

    for (int i = 0; i < net->nparam; i++)
        *(net->learn[i].kind == FIRE_PARAM_STATISTIC ? &t->statistic : &t->learned) +=
            fire_blob_count(net->learn[i].blob);
    printf("\nparameters          %s", grouped(t->learned, a));
    if (t->statistic > 0)
        printf(" and %s running statistics", grouped(t->statistic, b));
    printf("\nforward             %sFLOP per batch; with backward %sFLOP\n",
           scaled(2 * t->macs, a), scaled(6 * t->macs, b));
    printf("|W|, |D|            %sB of weights, %sB of inputs per batch, both of the "
           "convolution\n                    and inner product layers\n",
           scaled(t->w_bytes, a), scaled(t->d_bytes, b));
    if (t->w_bytes > 0)
        printf(
            "|D| / |W|           %.3g: the larger, the better data parallelism pays\n",
            t->d_bytes / t->w_bytes);
}

static void print_table(const fire_net_t *net)
{
    totals_t t = {0};

    printf("%s\n\n%-26s %-16s %-24s %11s %8s %8s %8s\n",
           net->param->name != NULL ? net->param->name : net_flags.model, "layer",
           "type", "output", "parameters", "FLOP", "|W| B", "|D| B");
    for (int i = 0; i < net->nlayer; i++)
        if (strcmp(net->layer[i].base.ops->type, "Split") != 0)
            print_row(&net->layer[i].base, &t);
    print_totals(net, &t);
}

/* ---- kernels ---- */

static void print_choice(void *arg, const fire_layer_t *l, const fire_kernel_t *k,
                         const char *reason)
{
    (void)arg;
    if (reason == NULL)
        printf("%-26s %-16s %s\n", l->param->name, l->ops->type, k->name);
    else
        printf("%-26s %-16s   not %s: %s\n", l->param->name, l->ops->type, k->name,
               reason);
}

static fire_status_t explain(fire_net_t *net)
{
    printf("\n%-26s %-16s kernel\n", "layer", "type");
    for (int i = 0; i < net->nlayer; i++)
        FIRE_TRY(fire_kernel_select(&net->layer[i].base, print_choice, NULL));
    return FIRE_OK;
}

static void print_coverage(void)
{
    int n = 0;

    printf("%-24s kernels, best first\n", "layer type");
    for (; fire_layer_at(n) != NULL; n++) {
        const fire_layer_ops_t *ops = fire_layer_at(n);

        printf("%-24s", ops->type);
        for (const fire_kernel_t *k = ops->kernels; k != NULL && k->name != NULL; k++)
            printf(" %s%s", k->name, k->backward == NULL ? " (forward)" : "");
        putchar('\n');
    }
    printf("%d types\n", n);
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_net_t   *net;
    fire_status_t st;

    if (flags.coverage) {
        print_coverage();
        return FIRE_OK;
    }
    if (narg > 0) net_flags.model = arg[0];
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, apply_shapes, NULL, &net));
    print_table(net);
    st = flags.explain ? explain(net) : FIRE_OK;
    if (st >= 0 && flags.draw[0] != '\0') st = draw_net(net, flags.draw);
    net_flags_close(net);
    return st;
}

const command_t command_net = {
    .name      = "net",
    .arguments = "FILE",
    .summary   = "show a net: shapes, parameters, arithmetic, kernels",
    .help   = "Builds the net (phase TEST unless --phase=TRAIN) and prints a line per "
              "layer:\n"
              "shape of its first output, parameters, FLOP of a forward pass (a "
              "multiply-add\n"
              "is two), and for convolution and inner product layers |W|, the bytes of "
              "their\n"
              "weights, and |D|, the bytes of their inputs. Where the data of a Data "
              "layer are\n"
              "missing, --shape or the layer's crop_size tells their shape.\n"
              "\n"
              "Examples:\n"
              "  firecaffe net models/alexnet/deploy.prototxt --batch 1024\n"
              "  firecaffe net models/lenet/train_val.prototxt --shape data=64,1,28,28\n"
              "  firecaffe net models/resnet50/deploy.prototxt --explain\n"
              "  firecaffe net models/googlenet/deploy.prototxt --draw googlenet.svg\n"
              "  firecaffe net --coverage\n",
    .groups = groups,
    .max_args = 1,
    .run      = run,
};
