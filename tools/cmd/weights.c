/* firecaffe export safetensors|npz, import safetensors|npz - weights alone, by name. */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "command.h"
#include "flags/net.h"
#include "model/load.h"
#include "model/tensors/tensors.h"

typedef struct flags {
    const char *o;
    bool        partial;
} flags_t;

static flags_t             flags;
static const fire_option_t export_options[] = {
    FIRE_OPTION(flags_t, o, PATH, NULL, "FILE", "file to write"),
    {0},
};
static const fire_option_t import_options[] = {
    FIRE_OPTION(flags_t, o, PATH, NULL, "FILE", "file to write: net.caffemodel"),
    FIRE_OPTION(flags_t, partial, BOOL, "false", NULL,
                "layers that the file lacks keep the values of --weights, or of their "
                "fillers; otherwise that is an error"),
    {0},
};
static const fire_option_group_t export_groups[] = {{"Flags", export_options, &flags},
                                                    {0}};
static const fire_option_group_t import_groups[] = {
    {"Flags", import_options, &flags}, {"Net", net_options, &net_flags}, {0}};

static fire_status_t need_output(void)
{
    if (flags.o != NULL) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID, "Need a file to write: -o FILE");
}

/* ---- export ---- */

typedef fire_status_t (*save_t)(const char *path, const Caffe__NetParameter *net);

static fire_status_t export_to(const char *path, save_t save)
{
    Caffe__NetParameter *net;
    fire_status_t        st;

    FIRE_TRY(need_output());
    FIRE_TRY(fire_net_param_load_weights(path, &net));
    st = save(flags.o, net);
    fire_message_free(net);
    if (st >= 0) printf("wrote %s\n", flags.o);
    return st;
}

static fire_status_t export_safetensors(int narg, const char *const *arg)
{
    (void)narg;
    return export_to(arg[0], fire_safetensors_save);
}

static fire_status_t export_npz(int narg, const char *const *arg)
{
    (void)narg;
    return export_to(arg[0], fire_npz_save);
}

/* ---- import ---- */

typedef fire_status_t (*parse_t)(const void *bytes, size_t n, const char *file,
                                 Caffe__NetParameter **net_p);

static bool has_layer(const Caffe__NetParameter *trained, const char *name)
{
    for (size_t i = 0; i < trained->n_layer; i++)
        if (strcmp(trained->layer[i]->name, name) == 0) return true;
    return false;
}

/* Layers with parameters that the file does not have. */
static fire_status_t check_complete(const fire_net_t          *net,
                                    const Caffe__NetParameter *trained,
                                    const char                *path)
{
    fire_str_t    missing = {0};
    int           n = 0, all = 0;
    fire_status_t st = FIRE_OK;

    for (int i = 0; i < fire_net_nlayer(net) && st >= 0; i++) {
        const char *name = fire_net_layer_name(net, i);

        if (fire_net_layer_nparam(net, i) == 0) continue;
        all++;
        if (has_layer(trained, name)) continue;
        st = fire_str_printf(&missing, "%s\"%s\"", n > 0 ? ", " : "", name);
        n++;
    }
    if (st >= 0 && n > 0 && (n == all || !flags.partial))
        st = FIRE_FAIL(FIRE_ERR_INVALID,
                       "%s: no parameters for %d of the %d layers of the net that have "
                       "some: %.1000s%s",
                       path, n, all, missing.text,
                       n == all ? "" : "; --partial keeps what these have");
    if (st >= 0 && n > 0)
        FIRE_LOG(WARNING, "%s: no parameters for %s", path, missing.text);
    fire_str_fini(&missing);
    return st;
}

static fire_status_t load(fire_net_t *net, const char *path, parse_t parse)
{
    Caffe__NetParameter *trained;
    char                *bytes;
    size_t               n;
    fire_status_t        st;

    FIRE_TRY(fire_file_read(path, &bytes, &n));
    st = parse(bytes, n, path, &trained);
    fire_free(bytes);
    FIRE_TRY(st);
    st = check_complete(net, trained, path);
    if (st >= 0) st = fire_net_load(net, trained, path);
    fire_message_free(trained);
    return st;
}

static fire_status_t import_from(const char *path, parse_t parse)
{
    fire_net_t   *net;
    fire_status_t st;

    FIRE_TRY(need_output());
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, NULL, NULL, &net));
    st = load(net, path, parse);
    if (st >= 0) st = fire_net_save_file(net, flags.o, false);
    net_flags_close(net);
    if (st >= 0) printf("wrote %s\n", flags.o);
    return st;
}

static fire_status_t import_safetensors(int narg, const char *const *arg)
{
    (void)narg;
    return import_from(arg[0], fire_safetensors_parse);
}

static fire_status_t import_npz(int narg, const char *const *arg)
{
    (void)narg;
    return import_from(arg[0], fire_npz_parse);
}

/* ---- the commands ---- */

#define NAMES                                                                     \
    "Arrays are called LAYER.weight and LAYER.bias, those of BatchNorm\n"         \
    "LAYER.running_mean and LAYER.running_var, as in PyTorch; layers with more\n" \
    "parameters number them: LAYER.0, LAYER.1, ...\n"

const command_t command_export_safetensors = {
    .name      = "export safetensors",
    .arguments = "NET.caffemodel -o NET.safetensors",
    .summary   = "write weights alone, as safetensors",
    .help      = "Writes the parameters of a .caffemodel (or .h5, or .npz) as named "
                 "arrays.\n" NAMES "\n"
                 "Example:\n"
                 "  firecaffe export safetensors net.caffemodel -o net.safetensors\n",
    .groups    = export_groups,
    .min_args  = 1,
    .max_args  = 1,
    .run       = export_safetensors,
};

const command_t command_export_npz = {
    .name      = "export npz",
    .arguments = "NET.caffemodel -o NET.npz",
    .summary   = "write weights alone, as numpy's npz",
    .help =
        "Writes the parameters of a .caffemodel (or .h5, or .safetensors) as named\n"
        "arrays, for numpy.load().\n" NAMES "\n"
        "Example:\n"
        "  firecaffe export npz net.caffemodel -o net.npz\n",
    .groups   = export_groups,
    .min_args = 1,
    .max_args = 1,
    .run      = export_npz,
};

#define MATCHING                                                                \
    "to the layers of the same names, and writes a .caffemodel. A shape that\n" \
    "differs is an error, and so is a layer without arrays, unless --partial\n" \
    "is given. Arrays for layers that the net lacks are skipped.\n"

const command_t command_import_safetensors = {
    .name      = "import safetensors",
    .arguments = "NET.safetensors --model FILE -o NET.caffemodel",
    .summary   = "read weights alone, from safetensors",
    .help =
        "Gives the arrays of a file (of F32, F64, F16 or BF16)\n" MATCHING NAMES "\n"
        "Example:\n"
        "  firecaffe import safetensors net.safetensors \\\n"
        "      --model deploy.prototxt -o net.caffemodel\n",
    .groups   = import_groups,
    .min_args = 1,
    .max_args = 1,
    .run      = import_safetensors,
};

const command_t command_import_npz = {
    .name      = "import npz",
    .arguments = "NET.npz --model FILE -o NET.caffemodel",
    .summary   = "read weights alone, from numpy's npz",
    .help =
        "Gives the arrays of a file, that of numpy.savez() or "
        "savez_compressed(),\n" MATCHING NAMES "\n"
        "Example:\n"
        "  firecaffe import npz net.npz --model deploy.prototxt -o net.caffemodel\n",
    .groups   = import_groups,
    .min_args = 1,
    .max_args = 1,
    .run      = import_npz,
};
