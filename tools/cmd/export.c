/* firecaffe export onnx - writes a net for other programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "flags/net.h"
#include "onnx/onnx.h"

typedef struct flags {
    const char        *o, *batch;
    int64_t            opset;
    bool               fold, custom_ops, with_transform, rgb, external;
    fire_option_list_t shape;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, o, PATH, NULL, "FILE", "file to write: net.onnx"),
    FIRE_OPTION(
        flags_t, opset, INT, "17", "N",
        "version of ONNX's operators, 13 to 22; older programs need older ones"),
    FIRE_OPTION(flags_t, batch, STRING, "dynamic", "N",
                "first dimension of the inputs: a number, or dynamic, which leaves it "
                "open"),
    FIRE_OPTION(flags_t, fold, BOOL, "false", NULL,
                "put BatchNorm, Scale and Bias into the weights of the layer before"),
    FIRE_OPTION(flags_t, custom_ops, BOOL, "false", NULL,
                "write layers that ONNX cannot say as operators of the domain caffe"),
    FIRE_OPTION(flags_t, with_transform, BOOL, "false", NULL,
                "subtract the mean and scale as the transform_param of the input's "
                "layer says"),
    FIRE_OPTION(flags_t, rgb, BOOL, "false", NULL,
                "take images as red, green, blue, for a net that expects blue first"),
    FIRE_OPTION(flags_t, external, BOOL, "false", NULL,
                "write the weights to a second file, FILE.data; from 2 GB on always"),
    FIRE_OPTION(
        flags_t, shape, LIST, NULL, "BLOB=N,C,H,W",
        "shape of a blob, instead of reading the layer's data; may be repeated"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

static fire_status_t read_batch(int *batch_p)
{
    char *end;
    long  n;

    *batch_p = 0;
    if (strcmp(flags.batch, "dynamic") == 0) return FIRE_OK;
    n = strtol(flags.batch, &end, 10);
    if (*end != '\0' || end == flags.batch || n < 1 || n > INT32_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--batch \"%s\": write a number from 1 on, or dynamic",
                         flags.batch);
    *batch_p = (int)n;
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_onnx_export_config_t c      = FIRE_ONNX_EXPORT_CONFIG_INIT;
    net_shapes_t              shapes = {&flags.shape, 0};
    fire_net_t               *net;
    fire_status_t             st;

    if (narg > 0) net_flags.model = arg[0];
    if (flags.o == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID, "Need a file to write: -o net.onnx");
    if (flags.opset < FIRE_ONNX_OPSET_MIN || flags.opset > FIRE_ONNX_OPSET_MAX)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--opset must be %d to %d",
                         FIRE_ONNX_OPSET_MIN, FIRE_ONNX_OPSET_MAX);
    FIRE_TRY(read_batch(&c.batch));
    c.opset          = (int)flags.opset;
    c.fold           = flags.fold;
    c.custom_ops     = flags.custom_ops;
    c.with_transform = flags.with_transform;
    c.rgb            = flags.rgb;
    c.external       = flags.external;
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, net_flags_set_shapes, &shapes, &net));
    st = fire_onnx_export(net, flags.o, &c);
    net_flags_close(net);
    if (st >= 0) printf("wrote %s\n", flags.o);
    return st < 0 ? fire_error_prefix(st, "%s", net_flags.model) : FIRE_OK;
}

const command_t command_export_onnx = {
    .name      = "export onnx",
    .arguments = "FILE -o NET.onnx",
    .summary   = "write a net as ONNX, for other programs to run",
    .help =
        "Writes the net of --model (or FILE) with --weights as an ONNX file, which\n"
        "onnxruntime, OpenVINO, TensorRT, OpenCV and others run. The net is that\n"
        "of phase TEST; its outputs keep their names. The results are those of\n"
        "this program: windows of Pooling are rounded and cut as in Caffe. A\n"
        "layer that ONNX cannot say is an error with its name, or, with\n"
        "--custom_ops, an operator of the domain caffe.\n"
        "\n"
        "Examples:\n"
        "  firecaffe export onnx --model deploy.prototxt \\\n"
        "      --weights net.caffemodel -o net.onnx\n"
        "  firecaffe export onnx models/alexnet/deploy.prototxt -o a.onnx \\\n"
        "      --batch 1 --fold\n",
    .groups   = groups,
    .max_args = 1,
    .run      = run,
};
