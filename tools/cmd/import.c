/* firecaffe import onnx - reads a net that another program has written. */
#include <stdio.h>
#include "command.h"
#include "onnx/onnx.h"

typedef struct flags {
    const char        *o;
    int64_t            batch;
    fire_option_list_t shape;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, o, PATH, NULL, "DIR", "folder to write to; made if missing"),
    FIRE_OPTION(flags_t, batch, INT, "0", "N",
                "first dimension of the inputs; 0: as in the file, or 1"),
    FIRE_OPTION(flags_t, shape, LIST, NULL, "BLOB=N,C,H,W",
                "shape of an input, where the file leaves it open; may be repeated"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

static fire_status_t run(int narg, const char *const *arg)
{
    fire_onnx_import_config_t c = FIRE_ONNX_IMPORT_CONFIG_INIT;

    (void)narg;
    if (flags.o == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "Need a folder to write to: -o DIR");
    if (flags.batch < 0 || flags.batch > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--batch must be positive");
    c.batch  = (int)flags.batch;
    c.shape  = flags.shape.text;
    c.nshape = (int)flags.shape.n;
    FIRE_TRY(fire_onnx_import(arg[0], flags.o, &c));
    printf("wrote %s/deploy.prototxt and %s/net.caffemodel\n", flags.o, flags.o);
    return FIRE_OK;
}

const command_t command_import_onnx = {
    .name      = "import onnx",
    .arguments = "NET.onnx -o DIR",
    .summary   = "read an ONNX net, to run or train it here",
    .help   = "Reads an ONNX file, for example one of torch.onnx.export(), and writes\n"
              "deploy.prototxt, train_val.prototxt, solver.prototxt and\n"
              "net.caffemodel to a folder. Layers are called as in the graph.\n"
              "Constants are computed, paddings and shapes resolved. Nodes that have\n"
              "no form as layers are reported all at once.\n"
              "\n"
              "Examples:\n"
              "  firecaffe import onnx resnet18.onnx -o resnet18\n"
              "  firecaffe train --solver resnet18/solver.prototxt \\\n"
              "      --weights resnet18/net.caffemodel\n",
    .groups = groups,
    .min_args = 1,
    .max_args = 1,
    .run      = run,
};
