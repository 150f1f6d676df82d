/* net.c - builds the net that the flags describe, and loads its weights. */
#include "flags/net.h"

#include <stdlib.h>
#include <string.h>
#include "api/kernels.h"
#include "flags/gpu.h"
#include "layers/plugin/plugin.h"
#include "model/load.h"
#include "net/shapes.h"

/* Defaults are repeated here for commands that parse only place_options. */
net_flags_t net_flags = {.model = "", .weights = "", .phase = "", .precision = ""};

#define HOW_OPTIONS                                                                    \
    FIRE_OPTION(net_flags_t, threads, INT, "0", "N",                                   \
                "compute with N threads per worker; 0: one for each core"),            \
        FIRE_OPTION(net_flags_t, kernel, STRING, "", "LIST",                           \
                    "prefer these kernels, as \"Convolution=ref,ReLU=onednn\" (or "    \
                    "set FIRE_KERNEL)"),                                               \
        FIRE_OPTION(net_flags_t, exact, BOOL, "false", NULL,                           \
                    "use no algorithm that trades accuracy for speed (Winograd)"),     \
        FIRE_OPTION(net_flags_t, recompute, BOOL, "false", NULL,                       \
                    "save memory in training: compute cheap blobs again in backward"), \
        FIRE_OPTION(net_flags_t, level, INT, "0", "N",                                 \
                    "level of the net's state, for include and exclude rules"),        \
        FIRE_OPTION(net_flags_t, stage, STRING, "", "LIST",                            \
                    "stages of the net's state, separated by commas"),                 \
        FIRE_OPTION(net_flags_t, plugin, LIST, NULL, "FILE",                           \
                    "load layer types from this shared object (or set FIRE_PLUGINS); " \
                    "may be repeated")

#define PLACE_OPTIONS                                                           \
    FIRE_OPTION(net_flags_t, gpu, STRING, "", "IDS",                            \
                "run on these GPUs, \"0,1\" or \"all\"; \"none\": on the CPU"), \
        HOW_OPTIONS

const fire_option_t net_options[] = {
    FIRE_OPTION(net_flags_t, model, PATH, "", "FILE", "net file (.prototxt)"),
    FIRE_OPTION(net_flags_t, weights, PATH, "", "FILES",
                "trained weights (.caffemodel or .caffemodel.h5), separated by commas"),
    FIRE_OPTION_OF(net_flags_t, phase, STRING, "", "NAME", "TRAIN TEST",
                   "build the net for this phase: TRAIN or TEST"),
    FIRE_OPTION_OF(net_flags_t, precision, STRING, "fp32", "TYPE",
                   "fp32 tf32 bf16 fp16",
                   "type of activations: fp32, tf32, bf16 or fp16"),
    PLACE_OPTIONS,
    {0},
};

const fire_option_t place_options[] = {PLACE_OPTIONS, {0}};
const fire_option_t how_options[]   = {HOW_OPTIONS, {0}};

/* ---- --plugin ---- */

fire_status_t net_flags_load_plugins(void)
{
    FIRE_TRY(fire_plugin_load_environment());
    for (int64_t i = 0; i < net_flags.plugin.n; i++)
        FIRE_TRY(fire_plugin_load(net_flags.plugin.text[i]));
    return FIRE_OK;
}

enum { MAX_THREADS = 1024 };

fire_status_t net_flags_ctx(fire_ctx_t *ctx_p)
{
    fire_ctx_t  ctx = FIRE_CTX_INIT;
    const char *list =
        net_flags.kernel[0] != '\0' ? net_flags.kernel : getenv("FIRE_KERNEL");

    if (net_flags.threads < 0 || net_flags.threads > MAX_THREADS)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--threads must be 0 to %d", MAX_THREADS);
    FIRE_TRY(net_flags_load_plugins());
    FIRE_TRY(fire_kernels_check("--kernel", list));
    ctx.threads   = (int)net_flags.threads;
    ctx.kernels   = list;
    ctx.exact     = net_flags.exact;
    ctx.lean      = net_flags.lean;
    ctx.unfilled  = net_flags.unfilled;
    ctx.recompute = net_flags.recompute;
    *ctx_p        = ctx;
    return FIRE_OK;
}

fire_status_t net_flags_stages(int *n_p, const char ***stages_p)
{
    const char **stages;
    char        *copy;
    int          n = 1;

    FIRE_TRY(fire_strdup(net_flags.stage, &copy));
    FIRE_TRY(fire_alloc(strlen(copy) + 1, sizeof(*stages), "stages", (void **)&stages));
    stages[0] = copy;
    for (char *c = copy; *c != '\0'; c++)
        if (*c == ',') {
            *c          = '\0';
            stages[n++] = c + 1;
        }
    *n_p      = n;
    *stages_p = stages;
    return FIRE_OK;
}

void net_flags_free_stages(const char **stages)
{
    if (stages == NULL) return;
    fire_free((void *)stages[0]);
    fire_free(stages);
}

static fire_status_t phase_of(const char *name, Caffe__Phase otherwise,
                              Caffe__Phase *phase_p)
{
    if (strcmp(name, "TRAIN") == 0)
        *phase_p = CAFFE__PHASE__TRAIN;
    else if (strcmp(name, "TEST") == 0)
        *phase_p = CAFFE__PHASE__TEST;
    else if (name[0] == '\0')
        *phase_p = otherwise;
    else
        return FIRE_FAIL(FIRE_ERR_INVALID, "--phase is TRAIN or TEST, not \"%s\"",
                         name);
    return FIRE_OK;
}

/* The files of --weights. */
typedef struct weights {
    int                   n;
    char                 *copy;
    char                **path;    /* [n], in copy */
    Caffe__NetParameter **trained; /* [n] */
} weights_t;

static void close_weights(weights_t *w)
{
    for (int i = 0; i < w->n; i++)
        fire_message_free(w->trained[i]);
    fire_free(w->trained);
    fire_free(w->path);
    fire_free(w->copy);
}

static fire_status_t open_weights(const char *paths, weights_t *w)
{
    size_t most = strlen(paths) + 1;
    char  *rest;

    *w = (weights_t){0};
    if (paths[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_strdup(paths, &w->copy));
    FIRE_TRY(fire_alloc(most, sizeof(*w->path), "names", (void **)&w->path));
    FIRE_TRY(fire_alloc(most, sizeof(*w->trained), "models", (void **)&w->trained));
    rest = w->copy;
    while ((w->path[w->n] = strsep(&rest, ",")) != NULL) {
        FIRE_TRY(fire_net_param_load_weights(w->path[w->n], &w->trained[w->n]));
        w->n++;
    }
    return FIRE_OK;
}

static fire_status_t create(const Caffe__NetParameter *param, Caffe__Phase phase,
                            bool unfilled, fire_net_t **net_p)
{
    fire_net_options_t o = FIRE_NET_OPTIONS_INIT;
    fire_status_t      st;

    FIRE_TRY(net_flags_ctx(&o.ctx));
    o.ctx.unfilled |= unfilled;
    FIRE_TRY(fire_ctx_set_precision(&o.ctx, net_flags.precision));
    FIRE_TRY(gpu_flags_open(0, &o.ctx));
    FIRE_TRY(net_flags_stages(&o.nstage, &o.stage));
    o.phase = phase;
    o.level = (int)net_flags.level;
    st      = fire_net_create(param, &o, net_p);
    net_flags_free_stages(o.stage);
    if (st >= 0) return st;
    gpu_flags_close(&o.ctx);
    return fire_error_prefix(st, "%s", net_flags.model);
}

/* Values are drawn from fillers only if the files lack some. */
static fire_status_t create_loaded(const Caffe__NetParameter *param, Caffe__Phase phase,
                                   const weights_t *w, fire_net_t **net_p)
{
    fire_status_t st = FIRE_OK;
    fire_net_t   *net;

    FIRE_TRY(create(param, phase, w->n > 0, &net));
    if (w->n > 0 && !net_flags.unfilled && !fire_net_is_in(net, w->n, w->trained)) {
        net_flags_close(net);
        FIRE_TRY(create(param, phase, false, &net));
    }
    for (int i = 0; i < w->n && st >= 0; i++)
        st = fire_net_load(net, w->trained[i], w->path[i]);
    if (st < 0)
        net_flags_close(net);
    else
        *net_p = net;
    return st;
}

fire_status_t net_flags_open(Caffe__Phase otherwise, net_edit_t edit, void *arg,
                             fire_net_t **net_p)
{
    Caffe__NetParameter *param = NULL;
    Caffe__Phase         phase = otherwise;
    weights_t            w     = {0};
    fire_status_t        st;

    if (net_flags.model[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "Need a model definition: --model FILE");
    FIRE_TRY(phase_of(net_flags.phase, otherwise, &phase));
    FIRE_TRY(fire_net_param_load_text(net_flags.model, &param));
    if (edit != NULL) FIRE_TRY_GOTO(st, edit(arg, param), done);
    FIRE_TRY_GOTO(st, open_weights(net_flags.weights, &w), done);
    st = create_loaded(param, phase, &w, net_p);

done:
    close_weights(&w);
    fire_message_free(param);
    return st;
}

fire_status_t net_flags_set_shapes(void *shapes, Caffe__NetParameter *param)
{
    const net_shapes_t     *s      = shapes;
    const fire_net_shapes_t wanted = {.file   = net_flags.model,
                                      .shape  = s->list->text,
                                      .nshape = s->list->n,
                                      .batch  = s->batch};

    return fire_net_set_shapes(param, &wanted);
}

void net_flags_close(fire_net_t *net)
{
    fire_ctx_t ctx = FIRE_CTX_INIT;

    if (net != NULL) ctx = *fire_net_ctx(net);
    fire_net_destroy(net);
    gpu_flags_close(&ctx);
}
