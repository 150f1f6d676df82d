/* upgrade_v0.c - V0 to V1. V0 has one message with every setting of every layer,
 * types as lower-case words, and padding as a layer of its own. */
#include <string.h>
#include "base/log.h"
#include "model/message.h"
#include "model/upgrade.h"

#define V1_TYPE(name) CAFFE__V1_LAYER_PARAMETER__LAYER_TYPE__##name

static const struct {
    const char *v0;
    int         v1;
} types[] = {
    {"accuracy", V1_TYPE(ACCURACY)},
    {"bnll", V1_TYPE(BNLL)},
    {"concat", V1_TYPE(CONCAT)},
    {"conv", V1_TYPE(CONVOLUTION)},
    {"data", V1_TYPE(DATA)},
    {"dropout", V1_TYPE(DROPOUT)},
    {"euclidean_loss", V1_TYPE(EUCLIDEAN_LOSS)},
    {"flatten", V1_TYPE(FLATTEN)},
    {"hdf5_data", V1_TYPE(HDF5_DATA)},
    {"hdf5_output", V1_TYPE(HDF5_OUTPUT)},
    {"im2col", V1_TYPE(IM2COL)},
    {"images", V1_TYPE(IMAGE_DATA)},
    {"infogain_loss", V1_TYPE(INFOGAIN_LOSS)},
    {"innerproduct", V1_TYPE(INNER_PRODUCT)},
    {"lrn", V1_TYPE(LRN)},
    {"multinomial_logistic_loss", V1_TYPE(MULTINOMIAL_LOGISTIC_LOSS)},
    {"pool", V1_TYPE(POOLING)},
    {"relu", V1_TYPE(RELU)},
    {"sigmoid", V1_TYPE(SIGMOID)},
    {"softmax", V1_TYPE(SOFTMAX)},
    {"softmax_loss", V1_TYPE(SOFTMAX_LOSS)},
    {"split", V1_TYPE(SPLIT)},
    {"tanh", V1_TYPE(TANH)},
    {"window_data", V1_TYPE(WINDOW_DATA)},
};

/* Where a V0 setting belongs: in message `into` of the layer (NULL: in the layer
 * itself) under the name `as`, for layers of one type (NULL: any). */
static const struct {
    const char *field, *type, *into, *as;
} moves[] = {
    {"name", NULL, NULL, "name"},
    {"blobs", NULL, NULL, "blobs"},
    {"blobs_lr", NULL, NULL, "blobs_lr"},
    {"weight_decay", NULL, NULL, "weight_decay"},
    {"num_output", "conv", "convolution_param", "num_output"},
    {"num_output", "innerproduct", "inner_product_param", "num_output"},
    {"biasterm", "conv", "convolution_param", "bias_term"},
    {"biasterm", "innerproduct", "inner_product_param", "bias_term"},
    {"weight_filler", "conv", "convolution_param", "weight_filler"},
    {"weight_filler", "innerproduct", "inner_product_param", "weight_filler"},
    {"bias_filler", "conv", "convolution_param", "bias_filler"},
    {"bias_filler", "innerproduct", "inner_product_param", "bias_filler"},
    {"pad", "conv", "convolution_param", "pad"},
    {"pad", "pool", "pooling_param", "pad"},
    {"kernelsize", "conv", "convolution_param", "kernel_size"},
    {"kernelsize", "pool", "pooling_param", "kernel_size"},
    {"group", "conv", "convolution_param", "group"},
    {"stride", "conv", "convolution_param", "stride"},
    {"stride", "pool", "pooling_param", "stride"},
    {"pool", "pool", "pooling_param", "pool"},
    {"dropout_ratio", "dropout", "dropout_param", "dropout_ratio"},
    {"local_size", "lrn", "lrn_param", "local_size"},
    {"alpha", "lrn", "lrn_param", "alpha"},
    {"beta", "lrn", "lrn_param", "beta"},
    {"k", "lrn", "lrn_param", "k"},
    {"source", "data", "data_param", "source"},
    {"source", "hdf5_data", "hdf5_data_param", "source"},
    {"source", "images", "image_data_param", "source"},
    {"source", "window_data", "window_data_param", "source"},
    {"source", "infogain_loss", "infogain_loss_param", "source"},
    {"batchsize", "data", "data_param", "batch_size"},
    {"batchsize", "hdf5_data", "hdf5_data_param", "batch_size"},
    {"batchsize", "images", "image_data_param", "batch_size"},
    {"batchsize", "window_data", "window_data_param", "batch_size"},
    {"rand_skip", "data", "data_param", "rand_skip"},
    {"rand_skip", "images", "image_data_param", "rand_skip"},
    {"shuffle_images", "images", "image_data_param", "shuffle"},
    {"new_height", "images", "image_data_param", "new_height"},
    {"new_width", "images", "image_data_param", "new_width"},
    {"scale", NULL, "transform_param", "scale"},
    {"meanfile", NULL, "transform_param", "mean_file"},
    {"cropsize", NULL, "transform_param", "crop_size"},
    {"mirror", NULL, "transform_param", "mirror"},
    {"concat_dim", "concat", "concat_param", "concat_dim"},
    {"det_fg_threshold", "window_data", "window_data_param", "fg_threshold"},
    {"det_bg_threshold", "window_data", "window_data_param", "bg_threshold"},
    {"det_fg_fraction", "window_data", "window_data_param", "fg_fraction"},
    {"det_context_pad", "window_data", "window_data_param", "context_pad"},
    {"det_crop_mode", "window_data", "window_data_param", "crop_mode"},
    {"hdf5_output_param", "hdf5_output", NULL, "hdf5_output_param"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

bool fire_net_param_is_v0(const Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layers; i++)
        if (net->layers[i]->layer != NULL) return true;
    return false;
}

/* The layer's name for messages; V0 keeps it inside of `layer`. */
static const char *name_of(const Caffe__V1LayerParameter *layer)
{
    const char *name = layer->layer != NULL ? layer->layer->name : layer->name;

    return name != NULL ? name : "";
}

/* The V0 type; "" for a V1 layer. */
static const char *type_of(const Caffe__V1LayerParameter *layer)
{
    return layer->layer != NULL && layer->layer->type != NULL ? layer->layer->type : "";
}

static bool is_type(const Caffe__V1LayerParameter *layer, const char *type)
{
    return strcmp(type_of(layer), type) == 0;
}

/* *maker_p = the last layer before layer `end` with this top; -1: it is an input of the
 * net. */
static fire_status_t find_maker(const Caffe__NetParameter *net, size_t end,
                                const char *blob, const char *file, int64_t *maker_p)
{
    for (size_t i = end; i-- > 0;)
        for (size_t t = 0; t < net->layers[i]->n_top; t++)
            if (strcmp(net->layers[i]->top[t], blob) == 0) {
                *maker_p = (int64_t)i;
                return FIRE_OK;
            }
    for (size_t i = 0; i < net->n_input; i++)
        if (strcmp(net->input[i], blob) == 0) {
            *maker_p = -1;
            return FIRE_OK;
        }
    return FIRE_FAIL(
        FIRE_ERR_PARSE,
        "%s: layer \"%s\" takes blob \"%s\", which no layer before it makes", file,
        name_of(net->layers[end]), blob);
}

/* Set `pad` of a convolution or pooling that follows a padding layer, and connect it to
 * that layer's bottom. */
static fire_status_t absorb_padding(Caffe__V1LayerParameter       *layer,
                                    const Caffe__V1LayerParameter *padding,
                                    const char                    *file)
{
    const fire_field_t *bottom =
        fire_field_find(&caffe__v1_layer_parameter__descriptor, "bottom");

    if (!is_type(layer, "conv") && !is_type(layer, "pool"))
        return FIRE_FAIL(
            FIRE_ERR_PARSE,
            "%s: padding layer \"%s\" can only stand before a conv or pool "
            "layer, not before \"%s\" of type \"%s\"",
            file, name_of(padding), name_of(layer), type_of(layer));
    if (layer->n_bottom != 1 || padding->n_bottom != 1 || padding->n_top != 1)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: padding layer \"%s\" and the layer \"%s\" after it must "
                         "take one blob each",
                         file, name_of(padding), name_of(layer));
    layer->layer->has_pad = 1;
    layer->layer->pad     = padding->layer->pad;
    fire_message_clear(layer, bottom);
    return fire_message_put(layer, bottom, &padding->bottom[0]);
}

/* Replace all padding layers by `pad` settings and remove them. */
static fire_status_t fold_padding(Caffe__NetParameter *net, const char *file)
{
    size_t kept = 0;

    for (size_t i = 0; i < net->n_layers; i++) {
        Caffe__V1LayerParameter *layer = net->layers[i];

        for (size_t b = 0; b < layer->n_bottom; b++) {
            int64_t maker = -1;

            FIRE_TRY(find_maker(net, i, layer->bottom[b], file, &maker));
            if (maker >= 0 && is_type(net->layers[maker], "padding"))
                FIRE_TRY(absorb_padding(layer, net->layers[maker], file));
        }
    }
    for (size_t i = 0; i < net->n_layers; i++)
        if (is_type(net->layers[i], "padding"))
            fire_message_free(net->layers[i]);
        else
            net->layers[kept++] = net->layers[i];
    net->n_layers = kept;
    return FIRE_OK;
}

/* Translate the type's word into V1's enum. */
static fire_status_t set_type(Caffe__V1LayerParameter *layer, const char *file)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (is_type(layer, types[i].v0)) {
            layer->has_type = 1;
            layer->type     = types[i].v1;
            return FIRE_OK;
        }
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: layer \"%s\" has the unknown V0 type \"%s\"",
                     file, name_of(layer), type_of(layer));
}

/* The row of `moves` for a field of a layer of this type; COUNT(moves) if there is
 * none. */
static size_t find_move(const char *field, const char *type)
{
    size_t i = 0;

    while (i < COUNT(moves) &&
           (strcmp(moves[i].field, field) != 0 ||
            (moves[i].type != NULL && strcmp(moves[i].type, type) != 0)))
        i++;
    return i;
}

/* Move one setting to where row `row` of `moves` says. Most have the same kind in both
 * formats; a single number that became a list is appended. */
static fire_status_t move_setting(Caffe__V1LayerParameter *layer,
                                  const fire_field_t *field, size_t row)
{
    ProtobufCMessage   *into = FIRE_MESSAGE(layer);
    const fire_field_t *as;

    if (moves[row].into != NULL)
        FIRE_TRY(fire_message_add_message(layer, moves[row].into, &into));
    as = fire_field_find(into->descriptor, moves[row].as);
    if (fire_field_same_kind(field, as)) {
        fire_message_move(layer->layer, field, into, as);
        return FIRE_OK;
    }
    return fire_message_put(into, as, fire_message_at(layer->layer, field, 0));
}

/* Upgrade one layer; a setting that its type does not have is ignored with a
 * warning. */
static fire_status_t upgrade_layer(Caffe__V1LayerParameter *layer, const char *file)
{
    const ProtobufCMessageDescriptor *desc = &caffe__v0_layer_parameter__descriptor;

    FIRE_TRY(set_type(layer, file));
    for (unsigned f = 0; f < desc->n_fields; f++) {
        const fire_field_t *field = &desc->fields[f];
        size_t              row;

        if (!fire_message_has(layer->layer, field) || strcmp(field->name, "type") == 0)
            continue;
        row = find_move(field->name, layer->layer->type);
        if (row < COUNT(moves))
            FIRE_TRY(move_setting(layer, field, row));
        else
            FIRE_LOG(WARNING,
                     "%s: layer \"%s\": a V0 layer of type \"%s\" has no "
                     "setting \"%s\": ignored",
                     file, layer->name != NULL ? layer->name : "", layer->layer->type,
                     field->name);
    }
    fire_message_clear_field(layer, "layer");
    return FIRE_OK;
}

fire_status_t fire_net_param_upgrade_v0(Caffe__NetParameter *net, const char *file)
{
    FIRE_TRY(fold_padding(net, file));
    for (size_t i = 0; i < net->n_layers; i++)
        if (net->layers[i]->layer != NULL)
            FIRE_TRY(upgrade_layer(net->layers[i], file));
    return FIRE_OK;
}
