/* weights.c - weights of nets from and to files and memory, for users of the library. */
#include "api/enter.h"
#include "base/text/text.h"
#include "model/hdf5.h"
#include "model/load.h"
#include "model/text.h"
#include "model/upgrade.h"

/* Copy the weights of a message, which it frees, to the net. */
static fire_status_t load(fire_net_t *net, Caffe__NetParameter *trained,
                          const char *source)
{
    fire_log_route_t *before = fire_net_enter(net);
    fire_status_t     st     = fire_net_load(net, trained, source);

    st = fire_net_refresh_views_after(net, st);
    fire_message_free(trained);
    return fire_net_leave(before, st);
}

fire_status_t fire_net_load_hdf5(fire_net_t *net, const char *path)
{
    Caffe__NetParameter *trained;

    FIRE_TRY(fire_net_param_load_hdf5(path, &trained));
    return load(net, trained, path);
}

fire_status_t fire_net_load_message(fire_net_t *net, const void *message, size_t length)
{
    static const char what[] = "message of a net";
    ProtobufCMessage *msg;
    fire_status_t     st;

    FIRE_TRY(fire_message_unpack(&caffe__net_parameter__descriptor, message, length,
                                 what, &msg));
    st = fire_net_param_upgrade((Caffe__NetParameter *)msg, what);
    if (st >= 0) return load(net, (Caffe__NetParameter *)msg, what);
    fire_message_free(msg);
    return st;
}

/* The net with its weights, for a function that writes it. */
static fire_status_t pack(const fire_net_t *net, bool with_diff,
                          Caffe__NetParameter **param_p)
{
    fire_log_route_t *before = fire_net_enter(net);

    return fire_net_leave(before, fire_net_save(net, with_diff, param_p));
}

fire_status_t fire_net_save_file(const fire_net_t *net, const char *path,
                                 bool with_diff)
{
    Caffe__NetParameter *param;
    fire_status_t        st;

    FIRE_TRY(pack(net, with_diff, &param));
    st = fire_net_param_save_weights(path, param);
    fire_message_free(param);
    return st;
}

fire_status_t fire_net_save_hdf5(const fire_net_t *net, const char *path,
                                 bool with_diff)
{
    Caffe__NetParameter *param;
    fire_status_t        st;

    FIRE_TRY(pack(net, with_diff, &param));
    st = fire_net_param_save_hdf5(path, param);
    fire_message_free(param);
    return st;
}

fire_status_t fire_net_save_message(const fire_net_t *net, bool with_diff,
                                    void **message_p, size_t *length_p)
{
    Caffe__NetParameter *param;
    fire_status_t        st;
    size_t               n;
    void                *bytes;

    FIRE_TRY(pack(net, with_diff, &param));
    n  = protobuf_c_message_get_packed_size(FIRE_MESSAGE(param));
    st = fire_alloc_raw(n, "message of a net", &bytes);
    if (st >= 0) {
        protobuf_c_message_pack(FIRE_MESSAGE(param), bytes);
        *message_p = bytes;
        *length_p  = n;
    }
    fire_message_free(param);
    return st;
}

fire_status_t fire_net_save_text(const fire_net_t *net, char **text_p)
{
    fire_str_t    text = {0};
    fire_status_t st   = fire_text_print(net->param, &text);

    if (st >= 0) st = fire_str_take(&text, text_p);
    fire_str_fini(&text);
    return st;
}

fire_status_t fire_net_share_param(fire_net_t *net, int layer, int i,
                                   const fire_blob_t *blob)
{
    const fire_blob_t *mine = net->layer[layer].base.blob[i];
    fire_storage_t    *old;
    char               a[FIRE_SHAPE_TEXT], b[FIRE_SHAPE_TEXT];

    if (!fire_blob_same_shape(mine, blob))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "layer \"%s\" cannot share parameter %d: its shape is %s, "
                         "that of the blob %s",
                         fire_net_layer_name(net, layer), i,
                         fire_blob_shape_string(mine, a, sizeof(a)),
                         fire_blob_shape_string(blob, b, sizeof(b)));
    old = fire_storage_retain(mine->part[FIRE_DATA]);
    for (int l = 0; l < net->nlayer; l++)
        for (int k = 0; k < net->layer[l].base.nblob; k++)
            if (net->layer[l].base.blob[k]->part[FIRE_DATA] == old)
                fire_blob_share(net->layer[l].base.blob[k], blob, FIRE_DATA);
    fire_storage_release(old);
    return FIRE_OK;
}
