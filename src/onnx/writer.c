/* writer.c - writes a model. Sizes come before contents in protobuf, so one pass adds up
 * sizes and a second one writes; values go from where they are to the file. */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "model/message.h"
#include "onnx/model.h"
#include "onnx/wire.h"

/* Numbers of fields of ModelProto, GraphProto and TensorProto. */
enum { MODEL_GRAPH = 7 };
enum { NODE = 1, NAME = 2, INITIALIZER = 5, INPUT = 11, OUTPUT = 12 };
enum { RAW_DATA = 9 };

/* Protobuf reads files of up to 2 GB. External values begin at multiples of ALIGN. */
#define MOST_BYTES ((uint64_t)INT32_MAX - (1 << 20))
enum { ALIGN = 64 };

typedef struct output {
    const fire_onnx_model_t *m;
    fire_file_writer_t      *file, *data; /* data NULL: values are in the file */
    const char              *data_name;   /* of the second file, without its folder */
    uint64_t                 offset;      /* in the second file */
    fire_str_t               scratch;
} output_t;

static uint64_t value_bytes(const fire_onnx_tensor_t *t)
{
    return (uint64_t)t->count * fire_onnx_type_size(t->type);
}

/* Shapes and indices stay in the model's file: readers need them to infer shapes. */
static bool is_outside(const output_t *o, const fire_onnx_tensor_t *t)
{
    return o->data_name != NULL && t->type == FIRE_ONNX(FLOAT) &&
           value_bytes(t) >= ALIGN;
}

static uint64_t aligned(uint64_t offset)
{
    return (offset + ALIGN - 1) / ALIGN * ALIGN;
}

static fire_status_t add_entry(Onnx__TensorProto *head, const char *key,
                               const char *value)
{
    Onnx__StringStringEntryProto *e;

    FIRE_TRY(fire_message_add_message(head, "external_data", &e));
    FIRE_TRY(fire_message_add_string(e, "key", key));
    return fire_message_add_string(e, "value", value);
}

static fire_status_t add_external(const output_t *o, const fire_onnx_tensor_t *t,
                                  uint64_t offset, Onnx__TensorProto *head)
{
    char number[24];

    head->has_data_location = true;
    head->data_location     = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    FIRE_TRY(add_entry(head, "location", o->data_name));
    snprintf(number, sizeof(number), "%llu", (unsigned long long)offset);
    FIRE_TRY(add_entry(head, "offset", number));
    snprintf(number, sizeof(number), "%llu", (unsigned long long)value_bytes(t));
    return add_entry(head, "length", number);
}

/* The message of a tensor without its values. */
static fire_status_t make_head(const output_t *o, const fire_onnx_tensor_t *t,
                               uint64_t offset, ProtobufCMessage **head_p)
{
    const fire_field_t *dims;
    ProtobufCMessage   *msg;
    Onnx__TensorProto  *head;
    fire_status_t       st;

    FIRE_TRY(fire_message_create(&onnx__tensor_proto__descriptor, &msg));
    head                = (Onnx__TensorProto *)msg;
    dims                = fire_field_find(msg->descriptor, "dims");
    head->has_data_type = true;
    head->data_type     = t->type;
    st                  = fire_message_add_string(head, "name", t->name);
    for (int i = 0; i < t->ndim && st >= 0; i++)
        st = fire_message_put(head, dims, &t->dim[i]);
    if (st >= 0 && is_outside(o, t)) st = add_external(o, t, offset, head);
    if (st < 0) {
        fire_message_free(msg);
        return st;
    }
    *head_p = msg;
    return FIRE_OK;
}

/* ---- sizes ---- */

static uint64_t field_size(uint32_t number, uint64_t bytes)
{
    return fire_wire_size(number, bytes) + bytes;
}

static uint64_t message_size(uint32_t number, const void *msg)
{
    return field_size(number, protobuf_c_message_get_packed_size(FIRE_MESSAGE(msg)));
}

static fire_status_t tensor_size(const output_t *o, const fire_onnx_tensor_t *t,
                                 uint64_t offset, uint64_t *bytes_p)
{
    ProtobufCMessage *head;

    FIRE_TRY(make_head(o, t, offset, &head));
    *bytes_p = protobuf_c_message_get_packed_size(head);
    if (!is_outside(o, t)) *bytes_p += field_size(RAW_DATA, value_bytes(t));
    fire_message_free(head);
    return FIRE_OK;
}

static fire_status_t graph_size(const output_t *o, uint64_t *bytes_p)
{
    const fire_onnx_model_t *m   = o->m;
    uint64_t                 sum = 0, offset = 0, n;

    for (int64_t i = 0; i < m->nnode; i++)
        sum += message_size(NODE, m->node[i]);
    sum += field_size(NAME, strlen(m->name));
    for (int64_t i = 0; i < m->ntensor; i++) {
        FIRE_TRY(tensor_size(o, &m->tensor[i], offset, &n));
        sum += field_size(INITIALIZER, n);
        if (is_outside(o, &m->tensor[i]))
            offset = aligned(offset + value_bytes(&m->tensor[i]));
    }
    for (int64_t i = 0; i < m->ninput; i++)
        sum += message_size(INPUT, m->input[i]);
    for (int64_t i = 0; i < m->noutput; i++)
        sum += message_size(OUTPUT, m->output[i]);
    *bytes_p = sum;
    return FIRE_OK;
}

/* ---- writing ---- */

static fire_status_t flush(output_t *o)
{
    fire_status_t st =
        fire_file_writer_write(o->file, o->scratch.text, (size_t)o->scratch.n);

    o->scratch.n = 0;
    return st;
}

static fire_status_t put_packed(output_t *o, const void *msg)
{
    size_t        n = protobuf_c_message_get_packed_size(FIRE_MESSAGE(msg));
    uint8_t      *bytes;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&bytes, n));
    protobuf_c_message_pack(FIRE_MESSAGE(msg), bytes);
    st = fire_str_add(&o->scratch, bytes, n);
    fire_free(bytes);
    return st < 0 ? st : flush(o);
}

static fire_status_t put_message(output_t *o, uint32_t number, const void *msg)
{
    FIRE_TRY(fire_wire_put(&o->scratch, number, FIRE_WIRE_BYTES,
                           protobuf_c_message_get_packed_size(FIRE_MESSAGE(msg))));
    return put_packed(o, msg);
}

static fire_status_t put_values(output_t *o, const fire_onnx_tensor_t *t)
{
    static const char zero[ALIGN];
    uint64_t          bytes = value_bytes(t), next = aligned(o->offset + bytes);

    if (!is_outside(o, t)) {
        FIRE_TRY(fire_wire_put(&o->scratch, RAW_DATA, FIRE_WIRE_BYTES, bytes));
        FIRE_TRY(flush(o));
        return bytes > 0 ? fire_file_writer_write(o->file, t->data, bytes) : FIRE_OK;
    }
    FIRE_TRY(fire_file_writer_write(o->data, t->data, bytes));
    FIRE_TRY(fire_file_writer_write(o->data, zero, next - o->offset - bytes));
    o->offset = next;
    return FIRE_OK;
}

static fire_status_t put_tensor(output_t *o, const fire_onnx_tensor_t *t)
{
    ProtobufCMessage *head;
    uint64_t          n;
    fire_status_t     st;

    FIRE_TRY(tensor_size(o, t, o->offset, &n));
    FIRE_TRY(fire_wire_put(&o->scratch, INITIALIZER, FIRE_WIRE_BYTES, n));
    FIRE_TRY(make_head(o, t, o->offset, &head));
    st = put_packed(o, head);
    fire_message_free(head);
    return st < 0 ? st : put_values(o, t);
}

static fire_status_t put_graph(output_t *o)
{
    const fire_onnx_model_t *m = o->m;
    uint64_t                 n;

    FIRE_TRY(graph_size(o, &n));
    FIRE_TRY(fire_wire_put(&o->scratch, MODEL_GRAPH, FIRE_WIRE_BYTES, n));
    for (int64_t i = 0; i < m->nnode; i++)
        FIRE_TRY(put_message(o, NODE, m->node[i]));
    n = strlen(m->name);
    FIRE_TRY(fire_wire_put(&o->scratch, NAME, FIRE_WIRE_BYTES, n));
    FIRE_TRY(fire_str_add(&o->scratch, m->name, n));
    for (int64_t i = 0; i < m->ntensor; i++)
        FIRE_TRY(put_tensor(o, &m->tensor[i]));
    for (int64_t i = 0; i < m->ninput; i++)
        FIRE_TRY(put_message(o, INPUT, m->input[i]));
    for (int64_t i = 0; i < m->noutput; i++)
        FIRE_TRY(put_message(o, OUTPUT, m->output[i]));
    return flush(o);
}

/* ---- the model ---- */

static fire_status_t add_opset(Onnx__ModelProto *head, const char *domain, int64_t n)
{
    Onnx__OperatorSetIdProto *id;

    FIRE_TRY(fire_message_add_message(head, "opset_import", &id));
    FIRE_TRY(fire_message_add_string(id, "domain", domain));
    id->has_version = true;
    id->version     = n;
    return FIRE_OK;
}

/* The version of the file format that came with a version of the operators. */
static int64_t ir_version(int64_t opset)
{
    return opset < 15 ? 7 : opset < 19 ? 8 : opset < 21 ? 9 : 10;
}

static fire_status_t fill_model(const fire_onnx_model_t *m, Onnx__ModelProto *head)
{
    head->has_ir_version = true;
    head->ir_version     = ir_version(m->opset);
    FIRE_TRY(fire_message_add_string(head, "producer_name", "firecaffe"));
    FIRE_TRY(fire_message_add_string(head, "producer_version", FIRE_VERSION));
    FIRE_TRY(add_opset(head, "", m->opset));
    return m->custom ? add_opset(head, "caffe", 1) : FIRE_OK;
}

static fire_status_t put_model(output_t *o)
{
    ProtobufCMessage *head;
    fire_status_t     st;

    FIRE_TRY(fire_message_create(&onnx__model_proto__descriptor, &head));
    st = fill_model(o->m, (Onnx__ModelProto *)head);
    if (st >= 0) st = put_packed(o, head);
    fire_message_free(head);
    return st < 0 ? st : put_graph(o);
}

/* Write both files under temporary names; the data appears before what refers to it. */
static fire_status_t save(output_t *o, const char *path, const char *data_path)
{
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_file_writer_open(path, &o->file));
    if (data_path != NULL) st = fire_file_writer_open(data_path, &o->data);
    if (st >= 0) st = put_model(o);
    if (o->data != NULL) {
        if (st >= 0)
            st = fire_file_writer_commit(o->data);
        else
            fire_file_writer_abort(o->data);
    }
    if (st >= 0) return fire_file_writer_commit(o->file);
    fire_file_writer_abort(o->file);
    return st;
}

fire_status_t fire_onnx_save(const fire_onnx_model_t *m, const char *path,
                             bool external)
{
    output_t      o         = {.m = m};
    char         *data_path = NULL;
    const char   *slash;
    uint64_t      n;
    fire_status_t st;

    FIRE_TRY(graph_size(&o, &n));
    if (external || n > MOST_BYTES) {
        FIRE_TRY(fire_asprintf(&data_path, "%s.data", path));
        slash       = strrchr(data_path, '/');
        o.data_name = slash != NULL ? slash + 1 : data_path;
    }
    st = save(&o, path, data_path);
    fire_str_fini(&o.scratch);
    fire_free(data_path);
    return st;
}
