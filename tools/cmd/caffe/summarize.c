/* firecaffe summarize - prints a prototxt, a line per layer, as Caffe's summarize.py.
 * The net is not built, so data may be missing and shapes may be wrong. */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/text/text.h"
#include "command.h"
#include "view/layer_text.h"
#include "model/load.h"

typedef struct flags {
    int64_t max_width;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, max_width, INT, "30", "N", "cut columns to N letters"),
    {"w", FIRE_OPTION_INT, offsetof(flags_t, max_width), "30", "N",
     "short for --max_width"},
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

enum { NAME, TYPE, PARAMS, BOTTOMS, ARROW, TOPS, WINDOW, COLUMNS };

typedef struct row {
    fire_str_t cell[COLUMNS];
} row_t;

/* ---- who makes and who takes a blob ---- */

static bool is_among(const char *blob, size_t n, char **names)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], blob) == 0) return true;
    return false;
}

static bool is_made_before(const Caffe__NetParameter *net, size_t layer,
                           const char *blob)
{
    for (size_t i = 0; i < layer; i++)
        if (is_among(blob, net->layer[i]->n_top, net->layer[i]->top)) return true;
    return false;
}

static bool is_taken_after(const Caffe__NetParameter *net, size_t layer,
                           const char *blob)
{
    for (size_t i = layer + 1; i < net->n_layer; i++)
        if (is_among(blob, net->layer[i]->n_bottom, net->layer[i]->bottom)) return true;
    return false;
}

/* ---- cells ---- */

static fire_status_t print_type(const Caffe__LayerParameter *l, fire_str_t *out)
{
    const Caffe__PythonParameter *p = l->python_param;

    if (p == NULL || strcmp(layer_type(l), "Python") != 0)
        return fire_str_printf(out, "%s", layer_type(l));
    return fire_str_printf(out, "%s.%s", p->module != NULL ? p->module : "",
                           p->layer != NULL ? p->layer : "");
}

/* "(w x2 Dx0, b)": names of parameters, with the multipliers of learning rate (x) and
 * decay (Dx) that are not 1. */
static fire_status_t print_params(const Caffe__LayerParameter *l, fire_str_t *out)
{
    bool any = false;

    for (size_t i = 0; i < l->n_param; i++) {
        const Caffe__ParamSpec *p     = l->param[i];
        const char             *blank = "";

        FIRE_TRY(fire_str_printf(out, "%s", i == 0 ? "(" : ", "));
        if (p->name != NULL && p->name[0] != '\0') {
            FIRE_TRY(fire_str_printf(out, "%s", p->name));
            blank = " ";
        }
        if (p->lr_mult != 1)
            FIRE_TRY(fire_str_printf(out, "%sx%g", blank, (double)p->lr_mult));
        if (p->lr_mult != 1) blank = " ";
        if (p->decay_mult != 1)
            FIRE_TRY(fire_str_printf(out, "%sDx%g", blank, (double)p->decay_mult));
        any |= blank[0] != '\0' || p->decay_mult != 1;
    }
    if (any) return fire_str_printf(out, ")");
    fire_str_fini(out);
    return FIRE_OK;
}

static fire_status_t print_bottoms(const Caffe__NetParameter *net, size_t layer,
                                   fire_str_t *out)
{
    const Caffe__LayerParameter *l = net->layer[layer];

    for (size_t i = 0; i < l->n_bottom; i++)
        FIRE_TRY(fire_str_printf(out, "%s%s%s", i > 0 ? ", " : "", l->bottom[i],
                                 is_made_before(net, layer, l->bottom[i]) ? "" : "?"));
    return FIRE_OK;
}

static fire_status_t print_tops(const Caffe__NetParameter *net, size_t layer,
                                fire_str_t *out)
{
    const Caffe__LayerParameter *l = net->layer[layer];

    for (size_t i = 0; i < l->n_top; i++) {
        FIRE_TRY(fire_str_printf(out, "%s", i > 0 ? ", " : ""));
        if (i < l->n_loss_weight)
            FIRE_TRY(fire_str_printf(out, "%g * ", (double)l->loss_weight[i]));
        FIRE_TRY(fire_str_printf(out, "%s%s", l->top[i],
                                 is_taken_after(net, layer, l->top[i]) ? "" : "*"));
    }
    return FIRE_OK;
}

static fire_status_t fill_row(const Caffe__NetParameter *net, size_t layer, row_t *row)
{
    const Caffe__LayerParameter *l = net->layer[layer];

    FIRE_TRY(fire_str_printf(&row->cell[NAME], "%s", l->name != NULL ? l->name : ""));
    FIRE_TRY(print_type(l, &row->cell[TYPE]));
    FIRE_TRY(print_params(l, &row->cell[PARAMS]));
    FIRE_TRY(print_bottoms(net, layer, &row->cell[BOTTOMS]));
    FIRE_TRY(fire_str_printf(&row->cell[ARROW], "->"));
    FIRE_TRY(print_tops(net, layer, &row->cell[TOPS]));
    return layer_print_window(l, &row->cell[WINDOW]);
}

/* ---- the table ---- */

/* A text longer than its column uses the blanks of the columns after it. */
static void print_row(const row_t *row, const int64_t width[COLUMNS])
{
    int64_t at = 0, border = 0;
    int     last = row->cell[WINDOW].n > 0 ? WINDOW : TOPS;

    for (int c = 0; c <= last; c++) {
        border += width[c];
        at += printf("%s", row->cell[c].n > 0 ? row->cell[c].text : "");
        if (c < last) at += printf("%*s", at + 1 < border ? (int)(border - at) : 1, "");
    }
    printf("\n");
}

static void print_table(const row_t *row, size_t n)
{
    int64_t width[COLUMNS] = {0};

    for (int c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < n; i++) {
            int64_t want = row[i].cell[c].n + 1;

            if (want > flags.max_width) want = flags.max_width;
            if (want > width[c]) width[c] = want;
        }
    for (size_t i = 0; i < n; i++)
        print_row(&row[i], width);
}

static fire_status_t summarize(const Caffe__NetParameter *net)
{
    row_t        *row;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&row, net->n_layer));
    st = FIRE_OK;
    for (size_t i = 0; i < net->n_layer && st >= 0; i++)
        st = fill_row(net, i, &row[i]);
    if (st >= 0) print_table(row, net->n_layer);
    for (size_t i = 0; i < net->n_layer; i++)
        for (int c = 0; c < COLUMNS; c++)
            fire_str_fini(&row[i].cell[c]);
    fire_free(row);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    Caffe__NetParameter *net;
    fire_status_t        st;

    (void)narg;
    if (flags.max_width < 1 || flags.max_width > 1000)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--max_width must be 1 to 1000");
    FIRE_TRY(fire_net_param_load_text(arg[0], &net));
    st = summarize(net);
    fire_message_free(net);
    return st;
}

const command_t command_summarize = {
    .name      = "summarize",
    .arguments = "NET",
    .summary   = "list the layers of a prototxt, as Caffe's summarize.py",
    .help      = "Prints a line per layer: name, type, parameters (names, xRATE and\n"
                 "DxDECAY where these are not 1), bottoms -> tops, and for convolution\n"
                 "and pooling kernel/stride+pad outputs/groups. A ? after a bottom\n"
                 "means that no layer before makes it, a * after a top that no layer\n"
                 "takes it. Layers of all phases are listed; `firecaffe net` builds\n"
                 "the net of one phase and shows shapes, parameters and arithmetic.\n"
                 "\n"
                 "Example:\n"
                 "  firecaffe summarize models/lenet/train_val.prototxt\n",
    .groups    = groups,
    .min_args  = 1,
    .max_args  = 1,
    .run       = run,
};
