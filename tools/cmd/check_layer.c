/* firecaffe check-layer - checks a layer, of ours or of a plug-in: gradients against
 * finite differences, kernels against each other, the rules that hold for any layer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "command.h"
#include "device/gpu.h"
#include "flags/gpu.h"
#include "flags/net.h"
#include "layers/plugin/plugin.h"
#include "model/load.h"
#include "model/text.h"
#include "net/check/check.h"

typedef struct flags {
    const char        *layer, *type, *settings, *phase, *precision;
    fire_option_list_t bottom, fill;
    double             step, tolerance;
    int64_t            seed;
    bool               quiet;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, type, STRING, "", "TYPE",
                "check a layer of this type; a net is made around it"),
    FIRE_OPTION(flags_t, bottom, LIST, NULL, "N,C,H,W",
                "with --type: shape of a bottom, of one after the other (default: "
                "2,3,4,5 for each that the type needs)"),
    FIRE_OPTION(flags_t, settings, STRING, "", "TEXT",
                "with --type: what else the layer's prototxt says, \"plugin_param { "
                "alpha: 2 }\""),
    FIRE_OPTION(flags_t, layer, STRING, "", "NAME",
                "with FILE: the layer to check (default: the last one)"),
    FIRE_OPTION(flags_t, fill, LIST, NULL, "BLOB=LOW,HIGH[,int]",
                "values of an input: from LOW to HIGH, or integers below HIGH; may be "
                "repeated (default: multiples of 0.1 around 0, none of them twice)"),
    FIRE_OPTION_OF(flags_t, phase, STRING, "TRAIN", "NAME", "TRAIN TEST",
                   "TRAIN or TEST"),
    FIRE_OPTION(flags_t, step, DOUBLE, "0.01", "X", "step of finite differences"),
    FIRE_OPTION(
        flags_t, tolerance, DOUBLE, "0.01", "X",
        "allowed error of a gradient, as a part of the largest one of its blob"),
    FIRE_OPTION_OF(flags_t, precision, STRING, "fp32", "TYPE", "fp32 tf32 bf16 fp16",
                   "type of activations on a GPU: fp32, tf32, bf16 or fp16"),
    FIRE_OPTION(flags_t, seed, INT, "1", "N", "seed of inputs and parameters"),
    FIRE_OPTION(flags_t, quiet, BOOL, "false", NULL, "print only what is wrong"),
    {0},
};

static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", place_options, &net_flags},
    {0},
};

/* ---- the net ---- */

/* Input layers, one per bottom, and the layer. */
static fire_status_t write_net(const fire_layer_ops_t *ops, fire_str_t *text)
{
    int n    = (int)flags.bottom.n > 0 ? (int)flags.bottom.n : ops->bottoms.min;
    int tops = ops->flags & FIRE_LAYER_PAIRED ? n
               : ops->tops.min > 0            ? ops->tops.min
                                              : 1;

    for (int i = 0; i < n; i++) {
        const char *shape = i < flags.bottom.n ? flags.bottom.text[i] : "2,3,4,5";

        FIRE_TRY(
            fire_str_printf(text,
                            "layer { name: 'bottom%d' type: 'Input' top: "
                            "'bottom%d'\n  input_param { shape { dim: [%s] } } }\n",
                            i, i, shape));
    }
    FIRE_TRY(fire_str_printf(text, "layer { name: 'layer' type: '%s'\n", ops->type));
    for (int i = 0; i < n; i++)
        FIRE_TRY(fire_str_printf(text, "  bottom: 'bottom%d'\n", i));
    for (int i = 0; i < tops && ops->tops.max != 0; i++)
        FIRE_TRY(fire_str_printf(text, "  top: 'top%d'\n", i));
    return fire_str_printf(text, "  %s\n}\n", flags.settings);
}

static fire_status_t make_net(Caffe__NetParameter **param_p)
{
    const fire_layer_ops_t *ops;
    fire_str_t              text = {0};
    ProtobufCMessage       *msg;
    fire_status_t           st;

    FIRE_TRY(net_flags_load_plugins());
    FIRE_TRY(fire_layer_find(flags.type, &ops));
    st = write_net(ops, &text);
    if (st >= 0)
        st = fire_text_parse(text.text, (size_t)text.n, "the net around the layer",
                             &caffe__net_parameter__descriptor, &msg);
    if (st >= 0) *param_p = (Caffe__NetParameter *)msg;
    fire_str_fini(&text);
    return st;
}

static fire_status_t open_net(int narg, const char *const *arg,
                              Caffe__NetParameter **param_p)
{
    if ((narg > 0) == (flags.type[0] != '\0'))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "give either a net file or --type (examples: firecaffe "
                         "check-layer --help)");
    return narg > 0 ? fire_net_param_load_text(arg[0], param_p) : make_net(param_p);
}

/* ---- --fill ---- */

enum { MOST_FILLS = 32 };

/* BLOB=LOW,HIGH[,int]; the text is cut at its "=". */
static fire_status_t read_fill(char *text, fire_check_fill_t *fill)
{
    char *equals = strchr(text, '='), whole[4] = "";
    int   used = 0, n;

    *fill = (fire_check_fill_t){.blob = text};
    n     = equals == NULL ? 0
                           : sscanf(equals + 1, "%lf,%lf%n,%3s%n", &fill->low, &fill->high,
                                    &used, whole, &used);
    if (n < 2 || equals[1 + used] != '\0' || (n == 3 && strcmp(whole, "int") != 0) ||
        !(fill->low < fill->high))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--fill \"%s\": write BLOB=LOW,HIGH or BLOB=LOW,HIGH,int",
                         text);
    fill->whole = n == 3;
    *equals     = '\0';
    return FIRE_OK;
}

typedef struct fills {
    fire_check_fill_t item[MOST_FILLS];
    char             *text[MOST_FILLS];
    int               n;
} fills_t;

static fire_status_t read_fills(fills_t *f)
{
    if (flags.fill.n > MOST_FILLS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "at most %d --fill", MOST_FILLS);
    for (int64_t i = 0; i < flags.fill.n; i++) {
        FIRE_TRY(fire_strdup(flags.fill.text[i], &f->text[f->n]));
        f->n++;
        FIRE_TRY(read_fill(f->text[i], &f->item[i]));
    }
    return FIRE_OK;
}

static void free_fills(fills_t *f)
{
    for (int i = 0; i < f->n; i++)
        fire_free(f->text[i]);
}

/* ---- the report ---- */

typedef struct tally {
    int  passed, failed;
    char kernel[64]; /* whose heading was printed */
} tally_t;

static void print_result(void *arg, const fire_check_result_t *r)
{
    static const char *const words[] = {"ok", "FAILED", "note", "-"};
    tally_t                 *t       = arg;

    t->passed += r->verdict == FIRE_VERDICT_PASSED;
    t->failed += r->verdict == FIRE_VERDICT_FAILED;
    if (flags.quiet && r->verdict != FIRE_VERDICT_FAILED) return;
    if (strcmp(t->kernel, r->kernel) != 0) printf("kernel %s\n", r->kernel);
    snprintf(t->kernel, sizeof(t->kernel), "%s", r->kernel);
    if (r->what[0] == '\0')
        printf("  left out: %s\n", r->detail);
    else if (r->detail[0] == '\0')
        printf("  %-7s %s\n", words[r->verdict], r->what);
    else
        printf("  %-7s %s (%s)\n", words[r->verdict], r->what, r->detail);
}

/* ---- running ---- */

/* The GPU of --gpu, or the first one if there is any. */
static fire_status_t open_gpu(fire_ctx_t *ctx)
{
    const char *why;

    if (net_flags.gpu[0] == '\0' && fire_gpu_count(&why) > 0) net_flags.gpu = "0";
    FIRE_TRY(fire_ctx_set_precision(ctx, flags.precision));
    FIRE_TRY(gpu_flags_open(0, ctx));
    if (ctx->place == FIRE_CPU) ctx->precision = FIRE_F32, ctx->tf32 = false;
    return FIRE_OK;
}

static fire_status_t read_options(fire_check_options_t *o)
{
    FIRE_TRY(net_flags_ctx(&o->ctx));
    o->ctx.kernels = NULL; /* every kernel is checked */
    o->layer       = flags.layer[0] != '\0' ? flags.layer : NULL;
    o->step        = flags.step;
    o->tolerance   = flags.tolerance;
    o->seed        = (uint64_t)flags.seed;
    o->level       = (int)net_flags.level;
    if (!(o->step > 0) || !(o->tolerance > 0))
        return FIRE_FAIL(FIRE_ERR_INVALID, "--step and --tolerance must be above 0");
    if (strcmp(flags.phase, "TEST") == 0)
        o->phase = CAFFE__PHASE__TEST;
    else if (strcmp(flags.phase, "TRAIN") != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--phase is TRAIN or TEST, not \"%s\"",
                         flags.phase);
    return net_flags_stages(&o->nstage, &o->stage);
}

static fire_status_t judge(const tally_t *t)
{
    printf("%d checks passed, %d failed\n", t->passed, t->failed);
    if (t->failed == 0) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "%d of %d checks of the layer failed", t->failed,
                     t->passed + t->failed);
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_check_options_t o     = FIRE_CHECK_OPTIONS_INIT;
    Caffe__NetParameter *param = NULL;
    tally_t              tally = {0};
    fills_t              fills = {0};
    fire_status_t        st    = read_options(&o);

    if (st >= 0) st = open_net(narg, arg, &param);
    if (st >= 0) st = read_fills(&fills);
    if (st >= 0) st = open_gpu(&o.ctx);
    o.fill   = fills.item;
    o.nfill  = fills.n;
    o.report = print_result;
    o.arg    = &tally;
    if (st >= 0) st = fire_check_layer(param, &o);
    if (st >= 0) st = judge(&tally);
    gpu_flags_close(&o.ctx);
    net_flags_free_stages(o.stage);
    fire_message_free(param);
    free_fills(&fills);
    return st;
}

const command_t command_check_layer = {
    .name      = "check-layer",
    .arguments = "[FILE]",
    .summary   = "check a layer's gradients, kernels and manners",
    .help =
        "Checks one layer, of the library or of a plug-in, on the CPU and on a GPU\n"
        "where there is one, kernel by kernel:\n"
        "\n"
        "  gradients      what backward computes, against (f(x+step) - f(x-step)) /\n"
        "                 (2 step) for every input and parameter, where f is the sum\n"
        "                 of the tops times random numbers (a loss: its weight)\n"
        "  kernels        every kernel against the last one for the CPU\n"
        "  bits           the same ones on every run and on any number of threads\n"
        "  manners        forward overwrites its tops; backward overwrites diffs of\n"
        "                 bottoms, adds to those of parameters, writes none that is\n"
        "                 not wanted, and reads only what the kernel says\n"
        "  nets           reshaping, working in place, saving and loading, and a net\n"
        "                 that frees memory change nothing\n"
        "\n"
        "The layer is the last one of a net whose inputs are Input layers, or --type\n"
        "makes such a net. Finite differences are wrong near a kink and where numbers\n"
        "are large: choose inputs with --fill, away from kinks, and --step. An error\n"
        "in every element is a wrong formula; in some, a wrong index; an error that\n"
        "shrinks with --step is not yours.\n"
        "\n"
        "Exit status 1: a check failed.\n"
        "\n"
        "Examples:\n"
        "  firecaffe check-layer --type RMSNorm --plugin build/rms_norm.so\n"
        "  firecaffe check-layer --type RMSNorm --plugin build/rms_norm.so \\\n"
        "      --bottom 4,6,3,3 --settings \"rms_norm_param { eps: 0.01 }\"\n"
        "  firecaffe check-layer net.prototxt --layer norm1 --gpu 0\n"
        "  firecaffe check-layer --type SoftmaxWithLoss --bottom 4,5 --bottom 4 \\\n"
        "      --fill bottom1=0,5,int\n",
    .groups   = groups,
    .max_args = 1,
    .run      = run,
};
