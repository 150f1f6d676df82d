/* layers.c - layer types of forks: who has them, and those that are ours under another
 * name. */
#include "model/forks/forks.h"

#include <string.h>

#include "base/log.h"
#include "model/message.h"

static const struct {
    const char *type, *fork;
} types[] = {
#define FIRE_FORK_TYPE(type, fork) {#type, fork},
#include "model/forks/types.def"
#undef FIRE_FORK_TYPE
};

const char *fire_fork_of_type(const char *type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i].type, type) == 0) return types[i].fork;
    return NULL;
}

/* param, our_param: fields with the settings; NULL: they have the same name. */
static const struct {
    const char *type, *ours, *param, *our_param;
} names[] = {
    {"AbsLoss", "L1Loss", NULL, NULL},
    {"Convolution3D", "Convolution", "convolution3d_param", "convolution_param"},
    {"Deconvolution3D", "Deconvolution", "convolution3d_param", "convolution_param"},
    {"Gather", "Split", NULL, NULL}, /* TSN: of several GPUs, which lanes need not */
    {"NdConvolution", "Convolution", NULL, NULL},
    {"NdPooling", "Pooling", NULL, NULL},
    {"Pooling3D", "Pooling", "pooling3d_param", "pooling_param"},
    {"Transpose", "Permute", "transpose_param", "permute_param"},
};

/* Move the settings, unless the layer has them under our name already. */
static void move_settings(Caffe__LayerParameter *layer, const char *from,
                          const char *to)
{
    const ProtobufCMessageDescriptor *desc     = &caffe__layer_parameter__descriptor;
    const fire_field_t               *field    = fire_field_find(desc, from);
    const fire_field_t               *to_field = fire_field_find(desc, to);

    if (fire_message_has(layer, field) && !fire_message_has(layer, to_field))
        fire_message_move(layer, field, layer, to_field);
}

static fire_status_t upgrade_layer(Caffe__LayerParameter *layer, const char *file)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (layer->type == NULL || strcmp(layer->type, names[i].type) != 0) continue;
        if (names[i].param != NULL)
            move_settings(layer, names[i].param, names[i].our_param);
        FIRE_LOG(INFO, "%s: layer \"%s\" of type %s is of type %s here", file,
                 layer->name != NULL ? layer->name : "", names[i].type, names[i].ours);
        return fire_message_add_string(layer, "type", names[i].ours);
    }
    return FIRE_OK;
}

fire_status_t fire_fork_layers_upgrade(Caffe__NetParameter *net, const char *file)
{
    for (size_t i = 0; i < net->n_layer; i++)
        FIRE_TRY(upgrade_layer(net->layer[i], file));
    return FIRE_OK;
}
