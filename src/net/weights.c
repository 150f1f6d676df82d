/* weights.c - copies parameters from and to model files, and shares them between
 * nets. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "model/blob_proto.h"
#include "model/load.h"
#include "net/net_state.h"

enum { NAME_ROOM = 512 };

/* For messages: "FILE: parameter I of layer "NAME"". */
static void name_param(const char *file, const char *layer, int i, char out[NAME_ROOM])
{
    snprintf(out, NAME_ROOM, "%s: parameter %d of layer \"%s\"", file, i, layer);
}

/* Fail with both shapes. */
static fire_status_t shape_mismatch(const fire_blob_t *b, const Caffe__BlobProto *proto,
                                    const char *what, const char *layer, int i)
{
    fire_blob_t theirs = {0};
    char        a[FIRE_SHAPE_TEXT], c[FIRE_SHAPE_TEXT], name[NAME_ROOM];

    name_param(what, layer, i, name);
    FIRE_TRY(
        fire_blob_proto_shape(proto, name, &theirs.ndim, theirs.dim, &theirs.count));
    return FIRE_FAIL(
        FIRE_ERR_INVALID,
        "%s: cannot copy parameter %d of layer \"%s\": its shape is %s in "
        "the file, %s in the net; to learn this layer from scratch, rename "
        "it",
        what, i, layer, fire_blob_shape_string(&theirs, a, sizeof(a)),
        fire_blob_shape_string(b, c, sizeof(c)));
}

/* Is it the same vector with other ones around its length? Forks write a number for each
 * channel as (C), (1, C) and (1, C, 1, 1). */
static bool is_same_vector(const Caffe__BlobProto *proto, const fire_blob_t *b)
{
    int64_t dim[FIRE_MAX_DIMS], count;
    int     n, longer[2] = {0, 0};

    if (fire_blob_proto_shape(proto, "blob", &n, dim, &count) < 0) return false;
    for (int i = 0; i < n; i++)
        longer[0] += dim[i] != 1;
    for (int i = 0; i < b->ndim; i++)
        longer[1] += b->dim[i] != 1;
    return n > 0 && longer[0] <= 1 && longer[1] <= 1 && count == b->count;
}

/* Copy all parameters of a layer from the file. Their number must be the same. */
static fire_status_t load_layer(fire_layer_t *l, const Caffe__LayerParameter *from,
                                const char *source)
{
    if ((int)from->n_blobs != l->nblob)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "%s: layer \"%s\" has %zu parameters in the file, %d in the net; "
            "to learn it from scratch, rename it",
            source, from->name, from->n_blobs, l->nblob);
    for (int i = 0; i < l->nblob; i++) {
        const Caffe__BlobProto *proto = from->blobs[i];
        fire_blob_t            *b     = l->blob[i];
        char                    name[NAME_ROOM];
        float                  *w;

        if (fire_blob_proto_is_empty(proto))
            continue; /* shared, and stored with its owner */
        if (!fire_blob_proto_fits(proto, b->ndim, b->dim) && !is_same_vector(proto, b))
            return shape_mismatch(b, proto, source, from->name, i);
        FIRE_TRY(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &w));
        name_param(source, from->name, i, name);
        FIRE_TRY(fire_blob_proto_read(proto, FIRE_DATA, name, b->count, w));
    }
    return FIRE_OK;
}

fire_status_t fire_net_load(fire_net_t *net, const Caffe__NetParameter *trained,
                            const char *source)
{
    for (size_t i = 0; i < trained->n_layer; i++) {
        const Caffe__LayerParameter *from = trained->layer[i];
        fire_layer_t                *l =
            from->name != NULL ? fire_net_find_layer(net, from->name) : NULL;

        if (source == NULL && from->n_blobs == 0) continue; /* the net's own prototxt */
        if (l == NULL)
            FIRE_LOG(INFO, "Ignoring source layer %s",
                     from->name != NULL ? from->name : "without a name");
        else
            FIRE_TRY(load_layer(l, from, source != NULL ? source : "net definition"));
    }
    return FIRE_OK;
}

/* Has the model values for all parameters of the layer? Empty ones are shared, and
 * stored with their owner. */
static bool has_layer(const Caffe__NetParameter *trained, const fire_layer_t *l)
{
    for (size_t i = 0; i < trained->n_layer; i++) {
        const Caffe__LayerParameter *from = trained->layer[i];
        size_t                       k    = 0;

        if (from->name == NULL || strcmp(from->name, l->param->name) != 0) continue;
        while (k < from->n_blobs && !fire_blob_proto_is_empty(from->blobs[k]))
            k++;
        if (k > 0 && k == from->n_blobs) return true;
    }
    return false;
}

bool fire_net_is_in(const fire_net_t *net, int n, Caffe__NetParameter *const *trained)
{
    for (int i = 0; i < net->nlayer; i++) {
        int k = 0;

        if (net->layer[i].base.nblob == 0) continue;
        while (k < n && !has_layer(trained[k], &net->layer[i].base))
            k++;
        if (k == n) return false;
    }
    return true;
}

fire_status_t fire_net_load_file(fire_net_t *net, const char *path)
{
    Caffe__NetParameter *trained;
    fire_log_route_t    *before;
    fire_status_t        st;

    FIRE_TRY(fire_net_param_load_weights(path, &trained));
    before = fire_log_enter(net->log);
    st     = fire_net_refresh_views_after(net, fire_net_load(net, trained, path));
    fire_log_leave(before);
    fire_message_free(trained);
    return st;
}

/* Append a parameter to a layer's message. */
static fire_status_t save_blob(fire_blob_t *b, bool with_diff,
                               Caffe__LayerParameter *out)
{
    Caffe__BlobProto *proto;
    const float      *x;

    FIRE_TRY(fire_message_add_message(out, "blobs", &proto));
    FIRE_TRY(fire_blob_proto_set_shape(proto, b->ndim, b->dim));
    FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
    FIRE_TRY(fire_blob_proto_write(proto, FIRE_DATA, b->count, x));
    if (!with_diff) return FIRE_OK;
    FIRE_TRY(fire_blob_read(b, FIRE_DIFF, FIRE_CPU, &x));
    return fire_blob_proto_write(proto, FIRE_DIFF, b->count, x);
}

fire_status_t fire_net_save(const fire_net_t *net, bool with_diff,
                            Caffe__NetParameter **param_p)
{
    const fire_field_t *blobs =
        fire_field_find(&caffe__layer_parameter__descriptor, "blobs");
    Caffe__NetParameter *out;
    fire_status_t        st;

    FIRE_TRY(fire_message_copy(net->param, (ProtobufCMessage **)&out));
    for (int i = 0; i < net->nlayer; i++) {
        const fire_layer_t *l = &net->layer[i].base;

        fire_message_clear(out->layer[i], blobs);
        for (int k = 0; k < l->nblob; k++)
            FIRE_TRY_GOTO(st, save_blob(l->blob[k], with_diff, out->layer[i]), err_out);
    }
    *param_p = out;
    return FIRE_OK;

err_out:
    fire_message_free(out);
    return st;
}

fire_status_t fire_net_share(fire_net_t *net, const fire_net_t *other)
{
    for (int i = 0; i < net->nlayer; i++) {
        fire_layer_t       *l    = &net->layer[i].base;
        const fire_layer_t *from = fire_net_find_layer(other, l->param->name);

        if (from == NULL || from->nblob == 0) continue;
        if (from->nblob != l->nblob)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "layer \"%s\" has %d parameters in one net and %d in the "
                             "other; they must be the same to share them",
                             l->param->name, l->nblob, from->nblob);
        for (int k = 0; k < l->nblob; k++) {
            char a[FIRE_SHAPE_TEXT], b[FIRE_SHAPE_TEXT];

            if (!fire_blob_same_shape(l->blob[k], from->blob[k]))
                return FIRE_FAIL(FIRE_ERR_INVALID,
                                 "layer \"%s\" cannot share parameter %d: shape %s in "
                                 "one net, %s in "
                                 "the other",
                                 l->param->name, k,
                                 fire_blob_shape_string(l->blob[k], a, sizeof(a)),
                                 fire_blob_shape_string(from->blob[k], b, sizeof(b)));
            fire_blob_share(l->blob[k], from->blob[k], FIRE_DATA);
        }
    }
    return FIRE_OK;
}
