/* upgrade_v1.c - V1 to today's format. V1 has `layers` with an enum as type, and
 * one list per setting of parameters (blobs_lr, weight_decay, param,
 * blob_share_mode). */
#include <string.h>
#include "model/message.h"
#include "model/upgrade.h"

#define V1_TYPE(name) CAFFE__V1_LAYER_PARAMETER__LAYER_TYPE__##name

static const struct {
    int         v1;
    const char *name;
} types[] = {
    {V1_TYPE(NONE), ""},
    {V1_TYPE(ABSVAL), "AbsVal"},
    {V1_TYPE(ACCURACY), "Accuracy"},
    {V1_TYPE(ARGMAX), "ArgMax"},
    {V1_TYPE(BNLL), "BNLL"},
    {V1_TYPE(CONCAT), "Concat"},
    {V1_TYPE(CONTRASTIVE_LOSS), "ContrastiveLoss"},
    {V1_TYPE(CONVOLUTION), "Convolution"},
    {V1_TYPE(DECONVOLUTION), "Deconvolution"},
    {V1_TYPE(DATA), "Data"},
    {V1_TYPE(DROPOUT), "Dropout"},
    {V1_TYPE(DUMMY_DATA), "DummyData"},
    {V1_TYPE(EUCLIDEAN_LOSS), "EuclideanLoss"},
    {V1_TYPE(ELTWISE), "Eltwise"},
    {V1_TYPE(EXP), "Exp"},
    {V1_TYPE(FLATTEN), "Flatten"},
    {V1_TYPE(HDF5_DATA), "HDF5Data"},
    {V1_TYPE(HDF5_OUTPUT), "HDF5Output"},
    {V1_TYPE(HINGE_LOSS), "HingeLoss"},
    {V1_TYPE(IM2COL), "Im2col"},
    {V1_TYPE(IMAGE_DATA), "ImageData"},
    {V1_TYPE(INFOGAIN_LOSS), "InfogainLoss"},
    {V1_TYPE(INNER_PRODUCT), "InnerProduct"},
    {V1_TYPE(LRN), "LRN"},
    {V1_TYPE(MEMORY_DATA), "MemoryData"},
    {V1_TYPE(MULTINOMIAL_LOGISTIC_LOSS), "MultinomialLogisticLoss"},
    {V1_TYPE(MVN), "MVN"},
    {V1_TYPE(POOLING), "Pooling"},
    {V1_TYPE(POWER), "Power"},
    {V1_TYPE(RELU), "ReLU"},
    {V1_TYPE(SIGMOID), "Sigmoid"},
    {V1_TYPE(SIGMOID_CROSS_ENTROPY_LOSS), "SigmoidCrossEntropyLoss"},
    {V1_TYPE(SILENCE), "Silence"},
    {V1_TYPE(SOFTMAX), "Softmax"},
    {V1_TYPE(SOFTMAX_LOSS), "SoftmaxWithLoss"},
    {V1_TYPE(SPLIT), "Split"},
    {V1_TYPE(SLICE), "Slice"},
    {V1_TYPE(TANH), "TanH"},
    {V1_TYPE(WINDOW_DATA), "WindowData"},
    {V1_TYPE(THRESHOLD), "Threshold"},
    {V1_TYPE(CONVOLUTION3D), "Convolution"},
    {V1_TYPE(POOLING3D), "Pooling"},
    {V1_TYPE(DECONVOLUTION3D), "Deconvolution"},
    {V1_TYPE(CROP), "Crop"},
    {V1_TYPE(PRELU), "PReLU"},
    {V1_TYPE(INTERP), "Interp"},
    {V1_TYPE(TILE), "Tile"},
    {V1_TYPE(RESHAPE), "Reshape"},
    {V1_TYPE(REDUCTION), "Reduction"},
    {V1_TYPE(PERMUTE), "Permute"},
    {V1_TYPE(NORMALIZE), "Normalize"},
    {V1_TYPE(ROI_POOLING), "ROIPooling"},
    {V1_TYPE(SMOOTH_L1_LOSS), "SmoothL1Loss"},
    {V1_TYPE(BATCH_NORM), "BatchNorm"},
    {V1_TYPE(SCALE), "Scale"},
    {V1_TYPE(BIAS), "Bias"},
    {V1_TYPE(EMBED), "Embed"},
    {V1_TYPE(FILTER), "Filter"},
    {V1_TYPE(LOG), "Log"},
    {V1_TYPE(ELU), "ELU"},
    {V1_TYPE(SPP), "SPP"},
    {V1_TYPE(PYTHON), "Python"},
    {V1_TYPE(UNPOOLING), "Unpooling"},
    {V1_TYPE(SEG_ACCURACY), "SegAccuracy"},
    {V1_TYPE(BN), "BN"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const transform_fields[] = {"scale", "mean_file", "crop_size",
                                               "mirror"};

/* Move scale, mean, crop and mirror from data_param, image_data_param or
 * window_data_param to transform_param. */
static fire_status_t move_transform(Caffe__V1LayerParameter *layer, void *source)
{
    const ProtobufCMessageDescriptor *desc;
    ProtobufCMessage                 *transform;

    if (source == NULL) return FIRE_OK;
    desc = FIRE_MESSAGE(source)->descriptor;
    for (size_t i = 0; i < COUNT(transform_fields); i++) {
        const fire_field_t *field = fire_field_find(desc, transform_fields[i]);

        if (!fire_message_has(source, field)) continue;
        FIRE_TRY(fire_message_add_message(layer, "transform_param", &transform));
        fire_message_move(source, field, transform,
                          fire_field_find(transform->descriptor, transform_fields[i]));
    }
    return FIRE_OK;
}

/* Translate V1's enum into the name of the type. */
static fire_status_t set_type(const Caffe__V1LayerParameter *v1,
                              Caffe__LayerParameter *layer, const char *file)
{
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].v1 == (int)v1->type)
            return fire_message_add_string(layer, "type", types[i].name);
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: layer \"%s\" has the unknown V1 type %d",
                     file, v1->name != NULL ? v1->name : "", (int)v1->type);
}

/* The `param` message of parameter i; those before it are added if missing. */
static fire_status_t param_spec(Caffe__LayerParameter *layer, size_t i,
                                Caffe__ParamSpec **spec_p)
{
    Caffe__ParamSpec *spec;

    while (layer->n_param <= i)
        FIRE_TRY(fire_message_add_message(layer, "param", &spec));
    *spec_p = layer->param[i];
    return FIRE_OK;
}

/* Turn V1's four lists into one `param` message per parameter. */
static fire_status_t gather_params(const Caffe__V1LayerParameter *v1,
                                   Caffe__LayerParameter         *layer)
{
    Caffe__ParamSpec *spec;

    for (size_t i = 0; i < v1->n_param; i++) {
        FIRE_TRY(param_spec(layer, i, &spec));
        FIRE_TRY(fire_message_add_string(spec, "name", v1->param[i]));
    }
    for (size_t i = 0; i < v1->n_blob_share_mode; i++) {
        FIRE_TRY(param_spec(layer, i, &spec));
        spec->has_share_mode = 1; /* both enums: STRICT 0, PERMISSIVE 1 */
        spec->share_mode     = (Caffe__ParamSpec__DimCheckMode)v1->blob_share_mode[i];
    }
    for (size_t i = 0; i < v1->n_blobs_lr; i++) {
        FIRE_TRY(param_spec(layer, i, &spec));
        spec->has_lr_mult = 1;
        spec->lr_mult     = v1->blobs_lr[i];
    }
    for (size_t i = 0; i < v1->n_weight_decay; i++) {
        FIRE_TRY(param_spec(layer, i, &spec));
        spec->has_decay_mult = 1;
        spec->decay_mult     = v1->weight_decay[i];
    }
    return FIRE_OK;
}

/* Move all fields that have the same name and kind in both formats: bottom, top, blobs,
 * loss_weight, all *_param messages, ... */
static void move_common(Caffe__V1LayerParameter *v1, Caffe__LayerParameter *layer)
{
    const ProtobufCMessageDescriptor *desc = &caffe__v1_layer_parameter__descriptor;

    for (unsigned f = 0; f < desc->n_fields; f++) {
        const fire_field_t *from = &desc->fields[f];
        const fire_field_t *to =
            fire_field_find(&caffe__layer_parameter__descriptor, from->name);

        if (to != NULL && fire_field_same_kind(from, to))
            fire_message_move(v1, from, layer, to);
    }
}

/* Append today's layer for a V1 layer; its values are moved, not copied. */
static fire_status_t upgrade_layer(Caffe__NetParameter     *net,
                                   Caffe__V1LayerParameter *v1, const char *file)
{
    Caffe__LayerParameter *layer;

    FIRE_TRY(move_transform(v1, v1->data_param));
    FIRE_TRY(move_transform(v1, v1->image_data_param));
    FIRE_TRY(move_transform(v1, v1->window_data_param));
    FIRE_TRY(fire_message_add_message(net, "layer", &layer));
    if (v1->has_type) FIRE_TRY(set_type(v1, layer, file));
    FIRE_TRY(gather_params(v1, layer));
    move_common(v1, layer);
    return FIRE_OK;
}

fire_status_t fire_net_param_upgrade_v1(Caffe__NetParameter *net, const char *file)
{
    for (size_t i = 0; i < net->n_layers; i++)
        FIRE_TRY(upgrade_layer(net, net->layers[i], file));
    fire_message_clear_field(net, "layers");
    return FIRE_OK;
}
