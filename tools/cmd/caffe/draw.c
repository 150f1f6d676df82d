/* firecaffe draw - draws a prototxt, as Caffe's draw_net.py. The net is not built, so
 * data may be missing and shapes may be wrong. */
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "report/graph/draw.h"
#include "view/layer_text.h"
#include "model/load.h"

typedef struct flags {
    const char *rankdir, *phase;
    bool        display_lrm;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION_OF(flags_t, rankdir, STRING, "LR", "WAY", "TB BT LR RL",
                   "direction of the flow: TB (top to bottom), BT, LR or RL"),
    FIRE_OPTION_OF(flags_t, phase, STRING, "ALL", "NAME", "TRAIN TEST",
                   "draw the layers of one phase only: TRAIN or TEST"),
    FIRE_OPTION(flags_t, display_lrm, BOOL, "false", NULL,
                "show the multipliers of the learning rate too"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

/* ---- layers ---- */

static fire_status_t print_note(const Caffe__LayerParameter *l, fire_str_t *out)
{
    FIRE_TRY(fire_str_add(out, "", 0));
    FIRE_TRY(layer_print_window(l, out));
    for (size_t i = 0; i < l->n_param && flags.display_lrm; i++)
        FIRE_TRY(fire_str_printf(out, "%s%g",
                                 i > 0        ? ", "
                                 : out->n > 0 ? " lr "
                                              : "lr ",
                                 (double)l->param[i]->lr_mult));
    return FIRE_OK;
}

static void add_names(fire_json_writer_t *w, const char *key, size_t n, char **name)
{
    fire_json_open(w, key, '[');
    for (size_t i = 0; i < n; i++)
        fire_json_add_string(w, NULL, name[i]);
    fire_json_close(w, ']');
}

static fire_status_t add_layer(fire_json_writer_t *w, const Caffe__LayerParameter *l)
{
    fire_str_t    note = {0};
    fire_status_t st   = print_note(l, &note);

    fire_json_open(w, NULL, '{');
    fire_json_add_string(w, "name", l->name != NULL ? l->name : "");
    fire_json_add_string(w, "type", layer_type(l));
    add_names(w, "bottoms", l->n_bottom, l->bottom);
    add_names(w, "tops", l->n_top, l->top);
    if (st >= 0) fire_json_add_string(w, "note", note.text);
    fire_json_close(w, '}');
    fire_str_fini(&note);
    return st;
}

static fire_status_t draw(const Caffe__NetParameter *net, const char *path)
{
    fire_json_writer_t w  = {0};
    fire_status_t      st = FIRE_OK;

    fire_json_open(&w, NULL, '[');
    for (size_t i = 0; i < net->n_layer && st >= 0; i++)
        st = add_layer(&w, net->layer[i]);
    fire_json_close(&w, ']');
    if (st >= 0) st = fire_draw_file(&w, flags.rankdir, path);
    fire_json_writer_fini(&w);
    return st;
}

/* ---- the run ---- */

static bool is_among(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0) return true;
    return false;
}

static fire_status_t check_flags(void)
{
    static const char *const phases[] = {"ALL", "TRAIN", "TEST", NULL};
    static const char *const ways[]   = {"TB", "BT", "LR", "RL", NULL};

    if (!is_among(flags.phase, phases))
        return FIRE_FAIL(FIRE_ERR_INVALID, "--phase is ALL, TRAIN or TEST, not \"%s\"",
                         flags.phase);
    if (!is_among(flags.rankdir, ways))
        return FIRE_FAIL(FIRE_ERR_INVALID, "--rankdir is TB, BT, LR or RL, not \"%s\"",
                         flags.rankdir);
    return FIRE_OK;
}

static fire_status_t draw_phase(const Caffe__NetParameter *net, const char *path)
{
    Caffe__NetState      state = CAFFE__NET_STATE__INIT;
    Caffe__NetParameter *part;
    fire_status_t        st;

    if (strcmp(flags.phase, "ALL") == 0) return draw(net, path);
    state.has_phase = 1;
    state.phase =
        strcmp(flags.phase, "TEST") == 0 ? CAFFE__PHASE__TEST : CAFFE__PHASE__TRAIN;
    FIRE_TRY(fire_net_filter(net, &state, &part));
    st = draw(part, path);
    fire_message_free(part);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    Caffe__NetParameter *net;
    fire_status_t        st;

    (void)narg;
    FIRE_TRY(check_flags());
    FIRE_TRY(fire_net_param_load_text(arg[0], &net));
    st = draw_phase(net, arg[1]);
    fire_message_free(net);
    if (st >= 0) printf("Drew %s\n", arg[1]);
    return st;
}

const command_t command_draw = {
    .name      = "draw",
    .arguments = "NET OUT",
    .summary   = "draw a prototxt, as Caffe's draw_net.py",
    .help      = "Draws a box per layer: name, type, and for convolution and pooling\n"
                 "kernel/stride+pad outputs/groups. A layer that works in place shares\n"
                 "the box of the layer whose result it changes. OUT ends in .svg,\n"
                 ".html or .dot; other formats, as .png and .pdf, need Graphviz.\n"
                 "`firecaffe net --draw` builds the net and shows shapes too.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe draw models/lenet/train_val.prototxt lenet.svg\n"
                 "  firecaffe draw --rankdir TB --phase TEST --display_lrm \\\n"
                 "      net.prototxt net.html\n",
    .groups    = groups,
    .min_args  = 2,
    .max_args  = 2,
    .run       = run,
};
