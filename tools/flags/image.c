/* image.c - opens the net of --model_def and --pretrained_model for pictures. */
#include "flags/image.h"

#include "flags/net.h"

image_flags_t       image_flags;
const fire_option_t image_options[] = {
    FIRE_OPTION(image_flags_t, model_def, PATH, "", "FILE",
                "net file for deployment (.prototxt); required"),
    FIRE_OPTION(image_flags_t, pretrained_model, PATH, "", "FILE",
                "trained weights (.caffemodel); required"),
    FIRE_OPTION(image_flags_t, gpu, BOOL, "false", NULL, "run on the first GPU"),
    FIRE_OPTION(image_flags_t, mean_file, STRING, "", "FILE",
                "subtract this mean (.npy or .binaryproto); \"\": none"),
    FIRE_OPTION(image_flags_t, input_scale, DOUBLE, "1", "X",
                "multiply inputs by X after the mean is subtracted"),
    FIRE_OPTION(
        image_flags_t, raw_scale, DOUBLE, "255", "X",
        "multiply pixels, which are 0 to 1, by X before the mean is subtracted"),
    FIRE_OPTION(image_flags_t, channel_swap, STRING, "2,1,0", "LIST",
                "order of channels that the net expects; 0 is red"),
    {0},
};

static fire_status_t need_files(void)
{
    const char *missing = image_flags.model_def[0] == '\0'          ? "model_def"
                          : image_flags.pretrained_model[0] == '\0' ? "pretrained_model"
                                                                    : NULL;

    if (missing == NULL) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "--%s FILE is required: there is no models folder to take another "
                     "from, as Caffe's script does",
                     missing);
}

fire_status_t image_flags_open(bool mean_by_channel, fire_image_net_t *n_p)
{
    const fire_image_options_t o = {.mean_file       = image_flags.mean_file,
                                    .mean_by_channel = mean_by_channel,
                                    .channel_swap    = image_flags.channel_swap,
                                    .raw_scale       = image_flags.raw_scale,
                                    .input_scale     = image_flags.input_scale};
    fire_net_t                *net;
    fire_status_t              st;

    FIRE_TRY(need_files());
    net_flags.model   = image_flags.model_def;
    net_flags.weights = image_flags.pretrained_model;
    net_flags.gpu     = image_flags.gpu ? "0" : "none";
    net_flags.lean    = true;
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, NULL, NULL, &net));
    st = fire_image_net_open(net, image_flags.model_def, &o, n_p);
    if (st < 0) net_flags_close(net);
    return st;
}

void image_flags_close(fire_image_net_t *n)
{
    fire_net_t *net = n->net;

    fire_image_net_close(n);
    net_flags_close(net);
}
