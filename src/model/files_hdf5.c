/* files_hdf5.c - converts .caffemodel.h5 and .solverstate.h5 files to messages and back
 * (layout: hdf5.h). Callers need no lock; it is taken here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "model/blob_proto.h"
#include "model/hdf5_io.h"
#include "model/message.h"

/* LONGEST: bytes of a layer's name. DEPTH_MAX: groups inside of groups, links may lead
 * in circles. BLOBS_MAX: of a layer. */
enum { LONGEST = 1024, DEPTH_MAX = 32, BLOBS_MAX = 4096 };

/* The number that a name stands for; -1 if it is none. "00" is none, because it would
 * be a second name of blob 0. */
static int index_of(const char *name)
{
    char *end;
    long  index = strtol(name, &end, 10);

    if (name[0] < '0' || name[0] > '9' || *end != '\0' || index >= BLOBS_MAX ||
        (name[0] == '0' && name[1] != '\0'))
        return -1;
    return (int)index;
}

/* Read one dataset of floats. */
static fire_status_t read_blob(hid_t group, const char *name, const char *path,
                               Caffe__BlobProto *blob)
{
    int64_t       dim[FIRE_MAX_DIMS], count;
    int           ndim;
    float        *values;
    fire_status_t st;

    FIRE_TRY(fire_hdf5_read_shape(group, name, path, &ndim, dim, &count));
    FIRE_TRY(fire_blob_proto_set_shape(blob, ndim, dim));
    FIRE_TRY(FIRE_NEW(&values, count));
    st = fire_hdf5_read_floats(group, name, path, values);
    if (st < 0) {
        fire_free(values);
        return st;
    }
    blob->data   = values;
    blob->n_data = (size_t)count;
    return FIRE_OK;
}

/* Read the datasets 0, 1, ... of a group into a repeated field of BlobProto. Numbers
 * that are missing stay empty. */
static fire_status_t read_blobs(hid_t group, const char *path, void *msg,
                                const char *field_name)
{
    const fire_field_t *field =
        fire_field_find(FIRE_MESSAGE(msg)->descriptor, field_name);
    char              name[LONGEST];
    int64_t           n;
    Caffe__BlobProto *blob;

    FIRE_TRY(fire_hdf5_count(group, path, &n));
    for (int64_t i = 0; i < n; i++) {
        int index;

        FIRE_TRY(fire_hdf5_name(group, i, path, name, sizeof(name)));
        if (fire_hdf5_kind(group, name) != H5I_DATASET) continue;
        index = index_of(name);
        if (index < 0)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "%s: dataset \"%s\" is no number of a blob; is this a "
                             "Caffe file?",
                             path, name);
        while ((int64_t)fire_message_count(msg, field) <= index)
            FIRE_TRY(fire_message_add_message(msg, field_name, &blob));
        blob = *(Caffe__BlobProto **)fire_message_at(msg, field, (size_t)index);
        FIRE_TRY(read_blob(group, name, path, blob));
    }
    return FIRE_OK;
}

static fire_status_t read_layers(hid_t group, const char *prefix, int depth,
                                 const char *path, Caffe__NetParameter *net);

/* Read a group: it is a layer, unless it has no blobs but groups inside of it. Then its
 * name is the first part of names like "inception_3a/1x1". */
static fire_status_t read_layer(hid_t group, const char *layer_name, int depth,
                                const char *path, Caffe__NetParameter *net)
{
    Caffe__LayerParameter *layer;
    size_t                 before = net->n_layer;

    FIRE_TRY(read_layers(group, layer_name, depth + 1, path, net));
    FIRE_TRY(fire_message_add_message(net, "layer", &layer));
    FIRE_TRY(fire_message_add_string(layer, "name", layer_name));
    FIRE_TRY(read_blobs(group, path, layer, "blobs"));
    if (layer->n_blobs == 0 && net->n_layer - 1 > before) {
        fire_message_free(layer);
        net->n_layer--;
    }
    return FIRE_OK;
}

/* Read all groups inside of this one. */
static fire_status_t read_layers(hid_t group, const char *prefix, int depth,
                                 const char *path, Caffe__NetParameter *net)
{
    char    name[LONGEST], whole[2 * LONGEST];
    int64_t n;

    if (depth > DEPTH_MAX)
        return FIRE_FAIL(
            FIRE_ERR_PARSE,
            "%s: more than %d groups inside one another; is a link a circle?", path,
            DEPTH_MAX);
    FIRE_TRY(fire_hdf5_count(group, path, &n));
    for (int64_t i = 0; i < n; i++) {
        fire_status_t st;
        hid_t         inner;
        int           len;

        FIRE_TRY(fire_hdf5_name(group, i, path, name, sizeof(name)));
        if (fire_hdf5_kind(group, name) != H5I_GROUP) continue;
        len = snprintf(whole, LONGEST, "%s%s%s", prefix, prefix[0] ? "/" : "", name);
        if (len >= LONGEST)
            return FIRE_FAIL(FIRE_ERR_PARSE, "%s: a layer name is too long", path);
        inner = fire_hdf5_find(group, name);
        if (inner < 0) return fire_hdf5_fail("read", path, whole);
        st = read_layer(inner, whole, depth, path, net);
        H5Oclose(inner);
        FIRE_TRY(st);
    }
    return FIRE_OK;
}

/* Layers are the groups inside of /data; gradients in /diff are ignored. */
static fire_status_t read_net(hid_t file, const char *path, void *net)
{
    hid_t         data = fire_hdf5_find(file, "data");
    fire_status_t st;

    if (data < 0)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "%s: no group /data; is this a .caffemodel.h5?", path);
    st = read_layers(data, "", 0, path, net);
    H5Oclose(data);
    return st;
}

/* The FireState of a solver state is one dataset of bytes, "fire", which Caffe
 * ignores. */
static fire_status_t read_fire(hid_t file, const char *path, Caffe__SolverState *state)
{
    uint8_t      *bytes;
    size_t        n;
    fire_status_t st;

    if (fire_hdf5_kind(file, "fire") != H5I_DATASET) return FIRE_OK;
    FIRE_TRY(fire_hdf5_read_bytes(file, "fire", path, &n, &bytes));
    st = fire_message_unpack(&caffe__fire_state__descriptor, bytes, n, path,
                             (ProtobufCMessage **)&state->fire);
    fire_free(bytes);
    return st;
}

static fire_status_t write_fire(hid_t file, const char *path,
                                const Caffe__FireState *fire)
{
    size_t        n = caffe__fire_state__get_packed_size(fire);
    uint8_t      *bytes;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&bytes, n));
    caffe__fire_state__pack(fire, bytes);
    st = fire_hdf5_write_bytes(file, "fire", path, n, bytes);
    fire_free(bytes);
    return st;
}

/* Caffe's four members, and ours if it is there. */
static fire_status_t read_state(hid_t file, const char *path, void *msg)
{
    Caffe__SolverState *state = msg;
    hid_t               history;
    fire_status_t       st;

    FIRE_TRY(fire_hdf5_read_int(file, "iter", path, &state->iter));
    FIRE_TRY(fire_hdf5_read_int(file, "current_step", path, &state->current_step));
    state->has_iter = state->has_current_step = 1;
    if (fire_hdf5_kind(file, "learned_net") == H5I_DATASET)
        FIRE_TRY(fire_hdf5_read_string(file, "learned_net", path, &state->learned_net));
    FIRE_TRY(read_fire(file, path, state));
    history = fire_hdf5_find(file, "history");
    if (history < 0) return fire_hdf5_fail("read", path, "history");
    st = read_blobs(history, path, state, "history");
    H5Oclose(history);
    return st;
}

/* The message so far names only the blob; add the file. */
static fire_status_t fail_blob(const char *path)
{
    return fire_error_prefix(FIRE_ERR_PARSE, "cannot write \"%s\"", path);
}

/* Write the values of one part as a dataset. */
static fire_status_t write_blob(hid_t file, const char *name, const char *path,
                                const Caffe__BlobProto *blob, fire_part_t part)
{
    int64_t       dim[FIRE_MAX_DIMS], count;
    int           ndim;
    float        *values;
    fire_status_t st;

    if (fire_blob_proto_shape(blob, name, &ndim, dim, &count) < 0)
        return fail_blob(path);
    FIRE_TRY(FIRE_NEW(&values, count));
    if (fire_blob_proto_read(blob, part, name, count, values) < 0)
        st = fail_blob(path);
    else
        st = fire_hdf5_write_floats(file, name, path, ndim, dim, values);
    fire_free(values);
    return st;
}

/* Write the blobs of one part of a layer as top/NAME/0, 1, ... */
static fire_status_t write_layer(hid_t file, const char *path,
                                 const Caffe__LayerParameter *layer, fire_part_t part)
{
    const char *top = part == FIRE_DATA ? "data" : "diff";
    char        name[2 * LONGEST];

    if (layer->name == NULL || strlen(layer->name) >= LONGEST)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "cannot write \"%s\": a layer has no name, or "
                         "one of more than %d bytes",
                         path, LONGEST);
    snprintf(name, sizeof(name), "%s/%s", top, layer->name);
    if (fire_hdf5_kind(file, name) != H5I_GROUP)
        FIRE_TRY(fire_hdf5_write_group(file, name, path));
    for (size_t i = 0; i < layer->n_blobs; i++) {
        if (!fire_blob_proto_has(layer->blobs[i], part)) continue;
        snprintf(name, sizeof(name), "%s/%s/%zu", top, layer->name, i);
        FIRE_TRY(write_blob(file, name, path, layer->blobs[i], part));
    }
    return FIRE_OK;
}

/* Does any blob hold gradients? */
static bool has_diffs(const Caffe__NetParameter *net)
{
    for (size_t i = 0; i < net->n_layer; i++)
        for (size_t b = 0; b < net->layer[i]->n_blobs; b++)
            if (fire_blob_proto_has(net->layer[i]->blobs[b], FIRE_DIFF)) return true;
    return false;
}

/* /data for weights; /diff only if there are gradients. */
static fire_status_t write_net(hid_t file, const char *path, const void *msg)
{
    const Caffe__NetParameter *net = msg;

    for (int part = FIRE_DATA; part <= (has_diffs(net) ? FIRE_DIFF : FIRE_DATA);
         part++) {
        FIRE_TRY(
            fire_hdf5_write_group(file, part == FIRE_DATA ? "data" : "diff", path));
        for (size_t i = 0; i < net->n_layer; i++)
            FIRE_TRY(write_layer(file, path, net->layer[i], (fire_part_t)part));
    }
    return FIRE_OK;
}

/* Members in Caffe's order. */
static fire_status_t write_state(hid_t file, const char *path, const void *msg)
{
    const Caffe__SolverState *state = msg;
    char                      name[64];

    FIRE_TRY(fire_hdf5_write_int(file, "iter", path, state->iter));
    if (state->learned_net != NULL)
        FIRE_TRY(fire_hdf5_write_string(file, "learned_net", path, state->learned_net));
    FIRE_TRY(fire_hdf5_write_int(file, "current_step", path, state->current_step));
    if (state->fire != NULL) FIRE_TRY(write_fire(file, path, state->fire));
    FIRE_TRY(fire_hdf5_write_group(file, "history", path));
    for (size_t i = 0; i < state->n_history; i++) {
        snprintf(name, sizeof(name), "history/%zu", i);
        FIRE_TRY(write_blob(file, name, path, state->history[i], FIRE_DATA));
    }
    return FIRE_OK;
}

/* Open a file, read it with `read` into a new message, close it. */
static fire_status_t load(const char *path, const ProtobufCMessageDescriptor *desc,
                          fire_status_t (*read)(hid_t, const char *, void *),
                          ProtobufCMessage **msg_p)
{
    ProtobufCMessage *msg;
    hid_t             file;
    fire_status_t     st;

    FIRE_TRY(fire_message_create(desc, &msg));
    fire_hdf5_lock();
    st = fire_hdf5_open(path, &file);
    if (st == FIRE_OK) {
        st = read(file, path, msg);
        fire_hdf5_close(file);
    }
    fire_hdf5_unlock();
    if (st == FIRE_OK)
        *msg_p = msg;
    else
        fire_message_free(msg);
    return st;
}

/* Create a file in memory, write it with `write`, put it in place. */
static fire_status_t save(const char *path, const void *msg, bool sealed,
                          fire_status_t (*write)(hid_t, const char *, const void *))
{
    hid_t         file;
    fire_status_t st;

    fire_hdf5_lock();
    st = fire_hdf5_create(&file);
    if (st == FIRE_OK) {
        st = write(file, path, msg);
        if (st == FIRE_OK)
            st = fire_hdf5_commit(file, path, sealed);
        else
            fire_hdf5_close(file);
    }
    fire_hdf5_unlock();
    return st;
}

fire_status_t fire_net_param_load_hdf5(const char *path, Caffe__NetParameter **net_p)
{
    return load(path, &caffe__net_parameter__descriptor, read_net,
                (ProtobufCMessage **)net_p);
}

fire_status_t fire_net_param_save_hdf5(const char *path, const Caffe__NetParameter *net)
{
    return save(path, net, false, write_net);
}

fire_status_t fire_solver_state_load_hdf5(const char          *path,
                                          Caffe__SolverState **state_p)
{
    return load(path, &caffe__solver_state__descriptor, read_state,
                (ProtobufCMessage **)state_p);
}

fire_status_t fire_solver_state_save_hdf5(const char               *path,
                                          const Caffe__SolverState *state)
{
    return save(path, state, true, write_state);
}
