/* import_files.c - the files of an imported net: prototxts as a person would write them,
 * and the weights, layer by layer. */
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "model/blob_proto.h"
#include "model/load.h"
#include "model/message.h"
#include "onnx/import.h"
#include "onnx/wire.h"

/* Numbers of fields of NetParameter, LayerParameter and BlobProto. */
enum { NET_NAME = 1, NET_LAYER = 100, LAYER_BLOBS = 7, BLOB_DATA = 5 };

static fire_status_t path_in(const char *folder, const char *file, char **path_p)
{
    return fire_asprintf(path_p, "%s/%s", folder, file);
}

/* ---- weights ---- */

fire_status_t fire_onnx_add_blob(Caffe__LayerParameter *l, const fire_onnx_tensor_t *t)
{
    Caffe__BlobProto *blob;
    float            *values;
    fire_status_t     st;

    FIRE_TRY(fire_message_add_message(l, "blobs", &blob));
    FIRE_TRY(fire_blob_proto_set_shape(blob, t->ndim, t->dim));
    FIRE_TRY(FIRE_NEW(&values, t->count));
    fire_onnx_tensor_floats(t, values);
    st = fire_blob_proto_write(blob, FIRE_DATA, t->count, values);
    fire_free(values);
    return st;
}

/* Append a message in protobuf's binary form. */
static fire_status_t add_packed(fire_str_t *out, const void *msg)
{
    size_t        n = protobuf_c_message_get_packed_size(msg);
    uint8_t      *bytes;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&bytes, n + 1));
    protobuf_c_message_pack(msg, bytes);
    st = fire_str_add(out, (const char *)bytes, n);
    fire_free(bytes);
    return st;
}

/* Floats that are converted at a time. */
enum { CHUNK = 1 << 14 };

/* What is before the values of a parameter: fields of LayerParameter and BlobProto. */
static fire_status_t blob_head(const fire_onnx_tensor_t *t, fire_str_t *head)
{
    Caffe__BlobProto shape = CAFFE__BLOB_PROTO__INIT;
    fire_str_t       inner = {0};
    uint64_t         bytes = (uint64_t)t->count * sizeof(float);
    fire_status_t    st    = fire_blob_proto_set_shape(&shape, t->ndim, t->dim);

    if (st >= 0) st = add_packed(&inner, &shape);
    if (st >= 0) st = fire_wire_put(&inner, BLOB_DATA, FIRE_WIRE_BYTES, bytes);
    if (st >= 0)
        st = fire_wire_put(head, LAYER_BLOBS, FIRE_WIRE_BYTES,
                           (uint64_t)inner.n + bytes);
    if (st >= 0) st = fire_str_add(head, inner.text, (size_t)inner.n);
    fire_str_fini(&inner);
    fire_message_clear_field(&shape, "shape");
    return st;
}

static fire_status_t write_values(fire_file_writer_t *w, const fire_onnx_tensor_t *t)
{
    float              values[CHUNK];
    fire_onnx_tensor_t part = *t;

    if (t->type == FIRE_ONNX(FLOAT))
        return fire_file_writer_write(w, t->data, (size_t)t->count * sizeof(float));
    for (int64_t i = 0; i < t->count; i += CHUNK) {
        part.data  = (const char *)t->data + (size_t)i * fire_onnx_type_size(t->type);
        part.count = t->count - i < CHUNK ? t->count - i : CHUNK;
        fire_onnx_tensor_floats(&part, values);
        FIRE_TRY(fire_file_writer_write(w, values, (size_t)part.count * sizeof(float)));
    }
    return FIRE_OK;
}

/* The layer's message, then its parameters [0, n): their values go from one file to the
 * other and are never in memory as a whole. */
static fire_status_t write_layer(fire_file_writer_t *w, const Caffe__LayerParameter *l,
                                 const fire_onnx_weight_t *weight, int64_t n)
{
    fire_str_t    text = {0}, head = {0};
    uint64_t      bytes;
    fire_status_t st = add_packed(&text, l);

    bytes = (uint64_t)text.n;
    for (int64_t i = 0; i < n && st >= 0; i++) {
        head.n = 0;
        st     = blob_head(&weight[i].t, &head);
        bytes += (uint64_t)head.n + (uint64_t)weight[i].t.count * sizeof(float);
    }
    head.n = 0;
    if (st >= 0) st = fire_wire_put(&head, NET_LAYER, FIRE_WIRE_BYTES, bytes);
    if (st >= 0) st = fire_file_writer_write(w, head.text, (size_t)head.n);
    if (st >= 0) st = fire_file_writer_write(w, text.text, (size_t)text.n);
    for (int64_t i = 0; i < n && st >= 0; i++) {
        head.n = 0;
        st     = blob_head(&weight[i].t, &head);
        if (st >= 0) st = fire_file_writer_write(w, head.text, (size_t)head.n);
        if (st >= 0) st = write_values(w, &weight[i].t);
    }
    fire_str_fini(&head);
    fire_str_fini(&text);
    return st;
}

static fire_status_t write_layers(fire_onnx_import_t *x, fire_file_writer_t *w)
{
    int64_t next = 0, first;

    for (size_t i = 0; i < x->net->n_layer; i++) {
        first = next;
        while (next < x->nweight && x->weight[next].layer == i)
            next++;
        FIRE_TRY(write_layer(w, x->net->layer[i], x->weight + first, next - first));
    }
    return FIRE_OK;
}

static fire_status_t write_name(const fire_onnx_import_t *x, fire_file_writer_t *w)
{
    const char   *name = x->net->name != NULL ? x->net->name : "";
    fire_str_t    text = {0};
    fire_status_t st   = fire_wire_put(&text, NET_NAME, FIRE_WIRE_BYTES, strlen(name));

    if (st >= 0) st = fire_str_add(&text, name, strlen(name));
    if (st >= 0) st = fire_file_writer_write(w, text.text, (size_t)text.n);
    fire_str_fini(&text);
    return st;
}

static fire_status_t write_weights(fire_onnx_import_t *x, const char *path)
{
    fire_file_writer_t *w;
    fire_status_t       st;

    FIRE_TRY(fire_file_writer_open(path, &w));
    st = write_name(x, w);
    if (st >= 0) st = write_layers(x, w);
    if (st >= 0) return fire_file_writer_commit(w);
    fire_file_writer_abort(w);
    return st;
}

/* ---- the net to train ---- */

/* The images and the scores: one input of 4 axes, one output. */
typedef struct ends {
    const char *data, *scores;
    int64_t     crop; /* height and width; 0: they differ */
    size_t      last; /* layers [1, last) are the net; a Softmax at the end goes */
} ends_t;

static bool find_ends(const fire_onnx_import_t *x, ends_t *e)
{
    const Caffe__NetParameter   *net = x->net;
    const Caffe__LayerParameter *tail;
    const Caffe__BlobShape      *shape;

    for (size_t i = 1; i < net->n_layer; i++)
        if (strcmp(net->layer[i]->type, "Input") == 0) return false;
    if (net->n_layer < 2 || x->m->noutput != 1) return false;
    shape = net->layer[0]->input_param->shape[0];
    tail  = net->layer[net->n_layer - 1];
    if (shape->n_dim != 4 || tail->n_top != 1 || tail->n_bottom < 1 ||
        strcmp(tail->top[0], x->m->output[0]->name) != 0)
        return false;
    e->data   = net->layer[0]->top[0];
    e->crop   = shape->dim[2] == shape->dim[3] ? shape->dim[2] : 0;
    e->last   = net->n_layer;
    e->scores = tail->top[0];
    if (strcmp(tail->type, "Softmax") == 0 && net->n_layer > 2) {
        e->last--;
        e->scores = tail->bottom[0];
    }
    return true;
}

static fire_status_t add_rule(Caffe__LayerParameter *l, Caffe__Phase phase)
{
    Caffe__NetStateRule *rule;

    FIRE_TRY(fire_message_add_message(l, "include", &rule));
    rule->has_phase = true;
    rule->phase     = phase;
    return FIRE_OK;
}

static fire_status_t add_data(Caffe__NetParameter *net, const ends_t *e,
                              Caffe__Phase phase)
{
    bool                            train = phase == CAFFE__PHASE__TRAIN;
    Caffe__TransformationParameter *t;
    Caffe__DataParameter           *d;
    Caffe__LayerParameter          *l;

    FIRE_TRY(fire_message_add_message(net, "layer", &l));
    FIRE_TRY(fire_message_add_string(l, "name", e->data));
    FIRE_TRY(fire_message_add_string(l, "type", "Data"));
    FIRE_TRY(fire_message_add_string(l, "top", e->data));
    FIRE_TRY(fire_message_add_string(l, "top", "label"));
    FIRE_TRY(add_rule(l, phase));
    FIRE_TRY(fire_message_add_message(l, "transform_param", &t));
    t->has_crop_size = e->crop > 0;
    t->crop_size     = (uint32_t)e->crop;
    t->has_mirror = t->mirror = train;
    FIRE_TRY(fire_message_add_message(l, "data_param", &d));
    FIRE_TRY(fire_message_add_string(d, "source", train ? "train_lmdb" : "val_lmdb"));
    d->has_batch_size = d->has_backend = true;
    d->batch_size                      = train ? 64 : 50;
    d->backend                         = CAFFE__DATA_PARAMETER__DB__LMDB;
    return FIRE_OK;
}

static fire_status_t add_end(Caffe__NetParameter *net, const ends_t *e,
                             const char *name, const char *type,
                             Caffe__LayerParameter **l_p)
{
    Caffe__LayerParameter *l;

    FIRE_TRY(fire_message_add_message(net, "layer", &l));
    FIRE_TRY(fire_message_add_string(l, "name", name));
    FIRE_TRY(fire_message_add_string(l, "type", type));
    FIRE_TRY(fire_message_add_string(l, "bottom", e->scores));
    FIRE_TRY(fire_message_add_string(l, "bottom", "label"));
    FIRE_TRY(fire_message_add_string(l, "top", name));
    *l_p = l;
    return FIRE_OK;
}

static fire_status_t fill_training(const fire_onnx_import_t *x, const ends_t *e,
                                   Caffe__NetParameter *net)
{
    const fire_field_t    *layer = fire_field_find(net->base.descriptor, "layer");
    Caffe__LayerParameter *l;

    if (x->net->name != NULL)
        FIRE_TRY(fire_message_add_string(net, "name", x->net->name));
    FIRE_TRY(add_data(net, e, CAFFE__PHASE__TRAIN));
    FIRE_TRY(add_data(net, e, CAFFE__PHASE__TEST));
    for (size_t i = 1; i < e->last; i++)
        FIRE_TRY(fire_message_put(net, layer, &x->net->layer[i]));
    FIRE_TRY(add_end(net, e, "loss", "SoftmaxWithLoss", &l));
    FIRE_TRY(add_end(net, e, "accuracy", "Accuracy", &l));
    return add_rule(l, CAFFE__PHASE__TEST);
}

static fire_status_t write_training(const fire_onnx_import_t *x, const ends_t *e,
                                    const char *path)
{
    ProtobufCMessage *net;
    fire_status_t     st;

    FIRE_TRY(fire_message_create(&caffe__net_parameter__descriptor, &net));
    st = fill_training(x, e, (Caffe__NetParameter *)net);
    if (st >= 0) st = fire_message_save_text(path, net);
    fire_message_free(net);
    return st;
}

/* Fine-tuning: a small rate that falls. */
static fire_status_t write_solver(const char *path, const char *net)
{
    fire_str_t    text = {0};
    fire_status_t st;

    st = fire_str_printf(&text,
                         "# Continues from the imported weights:\n"
                         "#   firecaffe train --solver THIS --weights net.caffemodel\n"
                         "net: \"%s\"\n"
                         "test_iter: 100\n"
                         "test_interval: 1000\n"
                         "base_lr: 0.001\n"
                         "lr_policy: \"step\"\n"
                         "gamma: 0.1\n"
                         "stepsize: 10000\n"
                         "momentum: 0.9\n"
                         "weight_decay: 0.0001\n"
                         "display: 20\n"
                         "max_iter: 30000\n"
                         "snapshot: 5000\n",
                         net);
    if (st >= 0) st = fire_file_write(path, text.text, (size_t)text.n);
    fire_str_fini(&text);
    return st;
}

/* ---- all of them ---- */

typedef struct paths {
    char *deploy, *train_val, *solver, *weights;
} paths_t;

static fire_status_t make_paths(const char *folder, paths_t *p)
{
    FIRE_TRY(path_in(folder, "deploy.prototxt", &p->deploy));
    FIRE_TRY(path_in(folder, "train_val.prototxt", &p->train_val));
    FIRE_TRY(path_in(folder, "solver.prototxt", &p->solver));
    return path_in(folder, "net.caffemodel", &p->weights);
}

static fire_status_t write_all(fire_onnx_import_t *x, const paths_t *p)
{
    ends_t e = {0};

    FIRE_TRY(write_weights(x, p->weights));
    FIRE_TRY(fire_message_save_text(p->deploy, x->net));
    if (!find_ends(x, &e)) return FIRE_OK;
    FIRE_TRY(write_training(x, &e, p->train_val));
    return write_solver(p->solver, p->train_val);
}

fire_status_t fire_onnx_write_net(fire_onnx_import_t *x, const char *folder)
{
    paths_t       p  = {0};
    fire_status_t st = make_paths(folder, &p);

    if (st >= 0) st = write_all(x, &p);
    fire_free(p.deploy);
    fire_free(p.train_val);
    fire_free(p.solver);
    fire_free(p.weights);
    return st;
}
