/* tensor.c - reads a tensor. Its values are raw bytes, which stay where they are, a list
 * of numbers, which is converted, or in another file (external.c). */
#include <string.h>
#include "base/alloc.h"
#include "model/message.h"
#include "onnx/external.h"
#include "onnx/wire.h"

/* Numbers of fields of TensorProto. */
enum {
    DIMS        = 1,
    FLOAT_DATA  = 4,
    INT32_DATA  = 5,
    STRING_DATA = 6,
    INT64_DATA  = 7,
    RAW_DATA    = 9,
    DOUBLE_DATA = 10,
    UINT64_DATA = 11
};

/* Where the values are. */
typedef struct found {
    fire_str_t        head; /* all fields but the values, as bytes */
    fire_wire_field_t raw;  /* number 0: none */
    fire_str_t        list; /* numbers of one type, 8 or 4 bytes each */
    int64_t           n;    /* how many are in the list */
} found_t;

static fire_status_t add_number(found_t *v, uint64_t number)
{
    v->n++;
    return fire_str_add(&v->list, &number, sizeof(number));
}

/* One number, or a packed list of them, kept as 64 bits each. */
static fire_status_t add_numbers(found_t *v, const fire_wire_field_t *f)
{
    bool        single = f->number == FLOAT_DATA, twice = f->number == DOUBLE_DATA;
    size_t      size = single ? 4 : 8;
    fire_wire_t w;
    uint64_t    number;

    if (f->kind == FIRE_WIRE_VARINT) return add_number(v, f->value);
    w = (fire_wire_t){f->bytes, f->bytes + f->n};
    if (!single && !twice) {
        if (f->kind != FIRE_WIRE_BYTES)
            return FIRE_FAIL(FIRE_ERR_PARSE, "a tensor's values have the wrong type");
        while (w.at < w.end) {
            FIRE_TRY(fire_wire_varint(&w, &number));
            FIRE_TRY(add_number(v, number));
        }
        return FIRE_OK;
    }
    if (f->n % size != 0)
        return FIRE_FAIL(FIRE_ERR_PARSE, "a tensor's values are cut off");
    v->n += (int64_t)(f->n / size);
    return fire_str_add(&v->list, f->bytes, f->n);
}

/* Put what is no value back together as a small message. */
static fire_status_t keep(found_t *v, const uint8_t *begin, const uint8_t *end)
{
    return fire_str_add(&v->head, begin, (size_t)(end - begin));
}

static fire_status_t split(const void *bytes, size_t n, found_t *v)
{
    fire_wire_t       w = {bytes, (const uint8_t *)bytes + n};
    fire_wire_field_t f;
    bool              more;

    for (;;) {
        const uint8_t *begin = w.at;

        FIRE_TRY(fire_wire_next(&w, &f, &more));
        if (!more) return FIRE_OK;
        switch (f.number) {
        case RAW_DATA:
            v->raw = f;
            break;
        case FLOAT_DATA:
        case INT32_DATA:
        case INT64_DATA:
        case DOUBLE_DATA:
        case UINT64_DATA:
            FIRE_TRY(add_numbers(v, &f));
            break;
        case STRING_DATA:
            break;
        default:
            FIRE_TRY(keep(v, begin, w.at));
            break;
        }
    }
}

static fire_status_t read_head(const Onnx__TensorProto *head, fire_onnx_tensor_t *t)
{
    if (head->n_dims > FIRE_MAX_DIMS)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "a tensor of %zu axes; at most %d are possible", head->n_dims,
                         FIRE_MAX_DIMS);
    FIRE_TRY(fire_strdup(head->name != NULL ? head->name : "", &t->name));
    t->type = head->data_type;
    t->ndim = (int)head->n_dims;
    for (int i = 0; i < t->ndim; i++)
        t->dim[i] = head->dims[i];
    return fire_onnx_tensor_count(t);
}

/* From the list's 64 or 32 bits per number to the element's size; little-endian, so the
 * low bytes are the value. */
static fire_status_t convert(found_t *v, fire_onnx_tensor_t *t)
{
    size_t size = fire_onnx_type_size(t->type);
    size_t from = v->n > 0 ? (size_t)v->list.n / (size_t)v->n : size;
    char  *out;

    if (v->n != t->count || size > from)
        return FIRE_FAIL(FIRE_ERR_PARSE, "tensor \"%s\" has %lld values, not %lld",
                         t->name, (long long)v->n, (long long)t->count);
    FIRE_TRY(fire_alloc((size_t)t->count, size, "a tensor", &t->own));
    out = t->own;
    for (int64_t i = 0; i < t->count; i++)
        memcpy(out + (size_t)i * size, v->list.text + (size_t)i * from, size);
    t->data = t->own;
    return FIRE_OK;
}

static fire_status_t read_values(fire_onnx_model_t *m, const Onnx__TensorProto *head,
                                 found_t *v, const char *folder, fire_onnx_tensor_t *t)
{
    size_t   size  = fire_onnx_type_size(t->type);
    uint64_t bytes = (uint64_t)t->count * size;

    if (size == 0) return FIRE_OK; /* texts and the like: known by name only */
    if (head->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return fire_onnx_external(m, head, folder, bytes, t);
    if (v->raw.number == 0) return convert(v, t);
    if (v->raw.kind != FIRE_WIRE_BYTES || v->raw.n != bytes)
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "tensor \"%s\" has %zu bytes of values, not %llu", t->name,
                         v->raw.n, (unsigned long long)bytes);
    t->data = v->raw.bytes;
    return FIRE_OK;
}

fire_status_t fire_onnx_tensor_parse(fire_onnx_model_t *m, const void *bytes, size_t n,
                                     const char *folder, fire_onnx_tensor_t *t)
{
    found_t            v    = {0};
    fire_onnx_tensor_t made = {0};
    ProtobufCMessage  *msg  = NULL;
    fire_status_t      st   = split(bytes, n, &v);

    if (st >= 0)
        st = fire_message_unpack(&onnx__tensor_proto__descriptor, v.head.text,
                                 (size_t)v.head.n, "tensor", &msg);
    if (st >= 0) st = read_head((Onnx__TensorProto *)msg, &made);
    if (st >= 0) st = read_values(m, (Onnx__TensorProto *)msg, &v, folder, &made);
    if (st >= 0)
        *t = made;
    else
        fire_onnx_tensor_fini(&made);
    fire_message_free(msg);
    fire_str_fini(&v.head);
    fire_str_fini(&v.list);
    return st;
}
