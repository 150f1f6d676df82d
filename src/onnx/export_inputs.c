/* export_inputs.c - inputs of the graph, with transform_param in front, and layers as
 * operators of the domain "caffe". */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "model/blob_proto.h"
#include "model/load.h"
#include "model/text.h"
#include "onnx/export.h"

static void keep(fire_onnx_export_t *x, fire_status_t st)
{
    if (x->st >= 0) x->st = st;
}

/* ---- the transformation ---- */

/* mean_value: one for all channels, or one for each. */
static const char *subtract_values(fire_onnx_export_t *x, const char *in,
                                   const Caffe__TransformationParameter *t,
                                   int64_t                               channels)
{
    int64_t dim[3] = {(int64_t)t->n_mean_value, 1, 1};

    if (dim[0] != 1 && dim[0] != channels)
        keep(x,
             FIRE_FAIL(FIRE_ERR_INVALID, "%zu values of mean_value for %lld channels",
                       t->n_mean_value, (long long)channels));
    return fire_onnx_op(x, "Sub", NULL, in, fire_onnx_floats(x, 3, dim, t->mean_value),
                        NULL);
}

/* Cut the middle of the mean image out, as the net's crop does in phase TEST. */
static void cut_mean(const float *mean, const int64_t *from, const int64_t *to,
                     float *out)
{
    int64_t top = (from[1] - to[1]) / 2, left = (from[2] - to[2]) / 2;

    for (int64_t c = 0; c < to[0]; c++)
        for (int64_t h = 0; h < to[1]; h++, out += to[2])
            memcpy(out, mean + (c * from[1] + top + h) * from[2] + left,
                   (size_t)to[2] * sizeof(*out));
}

/* *mean_p: [channels][height][width] of the input, from a mean file of that size or
 * larger. */
static fire_status_t crop_mean(const Caffe__BlobProto *proto, const char *file,
                               const int64_t *to, float **mean_p)
{
    int64_t       dim[FIRE_MAX_DIMS], count;
    int           ndim;
    float        *all, *mean = NULL;
    fire_status_t st;

    FIRE_TRY(fire_blob_proto_shape(proto, file, &ndim, dim, &count));
    if (ndim < 3 || count != dim[ndim - 3] * dim[ndim - 2] * dim[ndim - 1] ||
        dim[ndim - 3] != to[0] || dim[ndim - 2] < to[1] || dim[ndim - 1] < to[2])
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the mean of \"%s\" does not fit an input of "
                         "%lld x %lld x %lld",
                         file, (long long)to[0], (long long)to[1], (long long)to[2]);
    FIRE_TRY(FIRE_NEW(&all, count));
    FIRE_TRY_GOTO(st, fire_blob_proto_read(proto, FIRE_DATA, file, count, all), out);
    FIRE_TRY_GOTO(st, FIRE_NEW(&mean, to[0] * to[1] * to[2]), out);
    cut_mean(all, dim + ndim - 3, to, mean);
    *mean_p = mean;
out:
    fire_free(all);
    return st;
}

static fire_status_t load_mean(const char *file, const int64_t *dim, float **mean_p)
{
    ProtobufCMessage *proto;
    fire_status_t     st;

    FIRE_TRY(fire_message_load_binary(file, &caffe__blob_proto__descriptor, &proto));
    st = crop_mean((Caffe__BlobProto *)proto, file, dim, mean_p);
    fire_message_free(proto);
    return st;
}

static const char *subtract_file(fire_onnx_export_t *x, const char *in,
                                 const Caffe__TransformationParameter *t,
                                 const fire_blob_t                    *b)
{
    float *mean = NULL;

    if (x->st >= 0) keep(x, load_mean(t->mean_file, b->dim + 1, &mean));
    if (x->st < 0) return "";
    in = fire_onnx_op(x, "Sub", NULL, in, fire_onnx_floats(x, 3, b->dim + 1, mean),
                      NULL);
    fire_free(mean);
    return in;
}

/* (x - mean) * scale, in this order as data layers do. */
static const char *transform(fire_onnx_export_t *x, const char *in,
                             const fire_blob_t *b)
{
    const Caffe__TransformationParameter *t = x->layer->param->transform_param;

    if (t == NULL) {
        fire_onnx_refuse(x, "--with_transform: the layer has no transform_param");
        return "";
    }
    if (t->mean_file != NULL)
        in = subtract_file(x, in, t, b);
    else if (t->n_mean_value > 0)
        in = subtract_values(x, in, t, b->dim[1]);
    if (t->scale != 1.0f)
        in = fire_onnx_op(x, "Mul", NULL, in, fire_onnx_scalar(x, t->scale), NULL);
    return in;
}

/* Red, green, blue to blue, green, red. */
static const char *swap_channels(fire_onnx_export_t *x, const char *in)
{
    static const int64_t order[3] = {2, 1, 0};

    in = fire_onnx_op(x, "Gather", NULL, in, fire_onnx_integers(x, 3, order), NULL);
    fire_onnx_int(x, "axis", 1);
    return in;
}

/* ---- inputs ---- */

static void put_input(fire_onnx_export_t *x, int top)
{
    const fire_blob_t *b                     = x->layer->top[top];
    const char        *symbol[FIRE_MAX_DIMS] = {NULL};
    const char        *name = fire_onnx_out(x, top), *value = name;
    bool               image = top == 0 && b->ndim == 4;

    for (int i = 0; i < b->ndim; i++)
        if (fire_onnx_varies(x, b, i))
            symbol[i] = x->m->ninput == 0 || (x->net->blob[0].blob->ndim > 0 &&
                                              b->dim[0] == x->net->blob[0].blob->dim[0])
                            ? "batch"
                            : fire_onnx_name(x, name);
    if (x->st >= 0) keep(x, fire_onnx_add_input(x->m, name, b->ndim, b->dim, symbol));
    if (x->m->ninput > 1 || !image) return;
    if (x->config->rgb && b->dim[1] != 3)
        fire_onnx_refuse(x, "--rgb needs an input of 3 channels");
    if (x->config->rgb) value = swap_channels(x, value);
    if (x->config->with_transform) value = transform(x, value, b);
    for (int i = 0; i < x->net->nblob && x->st >= 0; i++)
        if (x->value[i].blob == b) x->value[i].next = value;
}

/* What nobody reads in inference, such as labels, is left out. */
void fire_onnx_put_inputs(fire_onnx_export_t *x)
{
    for (int t = 0; t < x->layer->ntop; t++) {
        bool read = false;

        for (int i = x->index + 1; i < x->net->nlayer && !read; i++)
            for (int k = 0; k < x->net->layer[i].base.nbottom; k++)
                read |= x->net->layer[i].base.bottom[k] == x->layer->top[t];
        if (read) put_input(x, t);
    }
}

/* ---- custom operators ---- */

/* The layer's settings as text, without what the node says already. */
static fire_status_t settings_text(const Caffe__LayerParameter *l, fire_str_t *out)
{
    static const char *const said[] = {"name",  "type",    "bottom",  "top",
                                       "blobs", "include", "exclude", "param"};
    ProtobufCMessage        *copy;
    fire_status_t            st;

    FIRE_TRY(fire_message_copy(l, &copy));
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        fire_message_clear_field(copy, said[i]);
    st = fire_text_print(copy, out);
    fire_message_free(copy);
    return st;
}

void fire_onnx_put_custom(fire_onnx_export_t *x)
{
    const fire_layer_t *l    = x->layer;
    fire_str_t          text = {0};
    char                suffix[16];

    fire_onnx_op(x, l->ops->type, l->ntop > 0 ? fire_onnx_out(x, 0) : "", NULL);
    for (int i = 0; i < l->nbottom; i++)
        fire_onnx_also(x, fire_onnx_in(x, i));
    for (int i = 0; i < l->nblob; i++) {
        snprintf(suffix, sizeof(suffix), "blob%d", i);
        fire_onnx_also(x, fire_onnx_param(x, i, suffix));
    }
    for (int i = 1; i < l->ntop; i++)
        fire_onnx_more(x, fire_onnx_out(x, i));
    if (x->st >= 0) keep(x, fire_message_add_string(x->node, "domain", "caffe"));
    if (x->st >= 0) keep(x, settings_text(l->param, &text));
    if (x->st >= 0 && text.n > 0) fire_onnx_text(x, "param", text.text);
    fire_str_fini(&text);
    x->m->custom = true;
}
