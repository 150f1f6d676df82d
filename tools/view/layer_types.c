/* layer_types.c - the table of `firecaffe net --coverage`. Numbers of tests come from
 * coverage.h, which cmake/coverage.cmake writes. */
#include "view/layer_types.h"

#include <stdio.h>
#include <string.h>

#include "layers/plugin/plugin.h"
#include "model/forks/forks.h"

/* The layer types of BVLC Caffe (master of February 2020). */
static const char *const bvlc[] = {
    "AbsVal",
    "Accuracy",
    "ArgMax",
    "BNLL",
    "BatchNorm",
    "BatchReindex",
    "Bias",
    "Clip",
    "Concat",
    "ContrastiveLoss",
    "Convolution",
    "Crop",
    "Data",
    "Deconvolution",
    "Dropout",
    "DummyData",
    "ELU",
    "Eltwise",
    "Embed",
    "EuclideanLoss",
    "Exp",
    "Filter",
    "Flatten",
    "HDF5Data",
    "HDF5Output",
    "HingeLoss",
    "Im2col",
    "ImageData",
    "InfogainLoss",
    "InnerProduct",
    "Input",
    "LRN",
    "LSTM",
    "LSTMUnit",
    "Log",
    "MVN",
    "MemoryData",
    "MultinomialLogisticLoss",
    "PReLU",
    "Parameter",
    "Pooling",
    "Power",
    "Python",
    "RNN",
    "ReLU",
    "Reduction",
    "Reshape",
    "SPP",
    "Scale",
    "Sigmoid",
    "SigmoidCrossEntropyLoss",
    "Silence",
    "Slice",
    "Softmax",
    "SoftmaxWithLoss",
    "Split",
    "Swish",
    "TanH",
    "Threshold",
    "Tile",
    "WindowData",
};
enum { NBVLC = sizeof(bvlc) / sizeof(bvlc[0]) };

/* How many tests of each kind a type has. */
typedef struct tests {
    const char *type;
    int         recorded,
        computed; /* golden: recorded from Caffe, computed by other programs */
    int gradient, wrong;
} tests_t;

static const tests_t table[] = {
#include "coverage.h"
};

static tests_t tests_of(const char *type)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (strcmp(table[i].type, type) == 0) return table[i];
    return (tests_t){.type = type};
}

static bool is_bvlc(const char *type)
{
    for (int i = 0; i < NBVLC; i++)
        if (strcmp(bvlc[i], type) == 0) return true;
    return false;
}

/* Names of the kernels on the CPU (without ref) or on the GPU, best first. */
static const char *kernels(const fire_layer_ops_t *ops, fire_place_t where,
                           char out[64])
{
    int at = 0;

    out[0] = '\0';
    for (int i = 0; ops->kernels[i] != NULL; i++) {
        const fire_kernel_t *k = ops->kernels[i];

        if (k->where == where && strcmp(k->name, "ref") != 0)
            at +=
                snprintf(out + at, 64 - (size_t)at, "%s%s", at > 0 ? " " : "", k->name);
    }
    return out;
}

static const fire_kernel_t *ref_of(const fire_layer_ops_t *ops)
{
    const fire_kernel_t *const *k = ops->kernels;

    while (*k != NULL && strcmp((*k)->name, "ref") != 0)
        k++;
    return *k;
}

/* The number of golden cases, with a mark if none was recorded from Caffe. */
static const char *golden_text(const tests_t *n, char out[16])
{
    snprintf(out, 16, "%d%c", n->recorded + n->computed,
             n->recorded == 0 && n->computed > 0 ? '*' : ' ');
    return out;
}

/* "-" where there is no gradient to test. */
static const char *gradient_text(int n, bool backward, char out[16])
{
    if (n == 0 && !backward) return "-";
    snprintf(out, 16, "%d", n);
    return out;
}

typedef struct totals {
    int types, ref, recorded, computed, gradient, wrong, fast, gpu, backward;
} totals_t;

static void print_type(const fire_layer_ops_t *ops, totals_t *t)
{
    char                 cpu[64], gpu[64], golden[16], gradient[16];
    const fire_kernel_t *ref      = ref_of(ops);
    bool                 backward = ref != NULL && ref->backward != NULL;
    const char          *fork     = fire_fork_of_type(ops->type);
    tests_t              n        = tests_of(ops->type);

    n.wrong += ops->bottoms.max >= 0; /* tests/layers/test_wrong.c: one too many */
    kernels(ops, FIRE_CPU, cpu);
    kernels(ops, FIRE_GPU, gpu);
    t->types++;
    t->ref += ref != NULL;
    t->fast += cpu[0] != '\0';
    t->gpu += gpu[0] != '\0';
    t->recorded += n.recorded > 0;
    t->computed += n.recorded == 0 && n.computed > 0;
    t->backward += backward;
    t->gradient += backward && n.gradient > 0;
    t->wrong += n.wrong > 0;
    printf("%-24s %-16s %-14s %-12s %7s %8s %5d%s%s\n", ops->type,
           ref == NULL ? "none"
           : backward  ? "ref"
                       : "ref (forward)",
           cpu[0] != '\0' ? cpu : "-", gpu[0] != '\0' ? gpu : "-",
           golden_text(&n, golden), gradient_text(n.gradient, backward, gradient),
           n.wrong, fork != NULL ? "  " : "", fork != NULL ? fork : "");
}

static void print_totals(const char *whose, const totals_t *t, int of)
{
    printf("%s: %d of %d types; ref kernel %d, fast on the CPU %d, on the GPU %d;\n"
           "    golden %d (%d recorded, %d* computed), gradient %d of the %d that have "
           "one, wrong use %d\n",
           whose, t->types, of, t->ref, t->fast, t->gpu, t->recorded + t->computed,
           t->recorded, t->computed, t->gradient, t->backward, t->wrong);
}

static void print_group(bool of_bvlc, totals_t *t)
{
    for (int i = 0; fire_layer_at(i) != NULL; i++)
        if (is_bvlc(fire_layer_at(i)->type) == of_bvlc &&
            !(fire_layer_at(i)->flags & FIRE_LAYER_PLUGIN))
            print_type(fire_layer_at(i), t);
}

/* All kernels of a type for a place, "-" if it has none. */
static const char *all_kernels(const fire_plugged_type_t *type, fire_place_t where,
                               char out[64])
{
    int at = 0;

    snprintf(out, 64, "-");
    for (int i = 0; i < type->nkernel; i++) {
        const fire_plugin_kernel_t *k = &type->kernel[i].own;

        if (k->where != where || at >= 60) continue;
        at += snprintf(out + at, 64 - (size_t)at, "%s%s%s", at > 0 ? " " : "", k->name,
                       k->backward == NULL ? " (forward)" : "");
    }
    return out;
}

/* Types of plug-ins have no tests here: `firecaffe check-layer` tests them. */
static void print_plugins(void)
{
    const fire_plugged_type_t *type;
    char                       cpu[64], gpu[64];

    for (int k = 0; k < fire_plugin_count(); k++) {
        const fire_plugin_t *plugin = fire_plugin_at(k);

        printf("\nof plug-in %s (%s)%s%s\n", plugin->name, fire_plugin_path(k),
               plugin->description != NULL ? ": " : "",
               plugin->description != NULL ? plugin->description : "");
        printf("%-24s %-31s %s\n", "layer type", "on CPU", "on GPU");
        for (int i = 0; (type = fire_plugin_type_at(i)) != NULL; i++)
            if (type->plugin == plugin)
                printf("%-24s %-31s %s\n", type->ops.type,
                       all_kernels(type, FIRE_CPU, cpu),
                       all_kernels(type, FIRE_GPU, gpu));
    }
    if (fire_plugin_count() > 0)
        printf("`firecaffe check-layer` tests a layer of a plug-in\n");
}

void layer_types_print(void)
{
    totals_t caffe = {0}, others = {0};

    printf("%-24s %-16s %-14s %-12s %7s %8s %5s  %s\n", "layer type", "reference",
           "fast on CPU", "on GPU", "golden ", "gradient", "wrong", "of");
    print_group(true, &caffe);
    printf("\nof Caffe's forks, and newer ones\n");
    print_group(false, &others);
    print_plugins();
    printf("\n");
    print_totals("BVLC Caffe", &caffe, NBVLC);
    print_totals("others", &others, others.types);
    printf("golden: cases recorded from Caffe, or, where Caffe lacks the layer (*), "
           "computed by\nother programs; gradient: cases compared with finite "
           "differences; wrong: cases of\nwrong use; of: the fork that a type is known "
           "from\n");
}
