/* model.c - see model.h. */
#include "onnx/model.h"

#include <string.h>
#include <sys/mman.h>
#include "base/alloc.h"
#include "base/half.h"
#include "model/message.h"

fire_status_t fire_onnx_model_create(fire_onnx_model_t **m_p)
{
    return FIRE_NEW(m_p, 1);
}

void fire_onnx_tensor_fini(fire_onnx_tensor_t *t)
{
    fire_free(t->name);
    fire_free(t->own);
    *t = (fire_onnx_tensor_t){0};
}

void fire_onnx_model_destroy(fire_onnx_model_t *m)
{
    if (m == NULL) return;
    for (int64_t i = 0; i < m->nnode; i++)
        fire_message_free(m->node[i]);
    for (int64_t i = 0; i < m->ntensor; i++)
        fire_onnx_tensor_fini(&m->tensor[i]);
    for (int64_t i = 0; i < m->ninput; i++)
        fire_message_free(m->input[i]);
    for (int64_t i = 0; i < m->noutput; i++)
        fire_message_free(m->output[i]);
    for (int64_t i = 0; i < m->nfile; i++) {
        if (m->file[i].n > 0) munmap(m->file[i].bytes, m->file[i].n);
        fire_free(m->file[i].path);
    }
    fire_free(m->node);
    fire_free(m->tensor);
    fire_free(m->input);
    fire_free(m->output);
    fire_free(m->file);
    fire_free(m->name);
    fire_free(m);
}

fire_status_t fire_onnx_add_node(fire_onnx_model_t *m, Onnx__NodeProto **node_p)
{
    ProtobufCMessage *node;

    FIRE_TRY(fire_grow(&m->node, &m->node_cap, m->nnode + 1, sizeof(*m->node)));
    FIRE_TRY(fire_message_create(&onnx__node_proto__descriptor, &node));
    *node_p = m->node[m->nnode++] = (Onnx__NodeProto *)node;
    return FIRE_OK;
}

/* ---- values ---- */

size_t fire_onnx_type_size(int type)
{
    switch (type) {
    case FIRE_ONNX(UINT8):
    case FIRE_ONNX(INT8):
    case FIRE_ONNX(BOOL):
        return 1;
    case FIRE_ONNX(FLOAT16):
    case FIRE_ONNX(BFLOAT16):
    case FIRE_ONNX(INT16):
    case FIRE_ONNX(UINT16):
        return 2;
    case FIRE_ONNX(FLOAT):
    case FIRE_ONNX(INT32):
    case FIRE_ONNX(UINT32):
        return 4;
    case FIRE_ONNX(DOUBLE):
    case FIRE_ONNX(INT64):
    case FIRE_ONNX(UINT64):
        return 8;
    default:
        return 0;
    }
}

/* One eighth of what an address can reach, so that bytes of any type fit. */
#define MOST_ELEMENTS (INT64_MAX / 8)

fire_status_t fire_onnx_tensor_count(fire_onnx_tensor_t *t)
{
    int64_t n    = 1;
    bool    zero = false;

    for (int i = 0; i < t->ndim; i++) {
        if (t->dim[i] < 0)
            return FIRE_FAIL(FIRE_ERR_PARSE, "tensor \"%s\": dimension %d is %lld",
                             t->name != NULL ? t->name : "", i, (long long)t->dim[i]);
        zero |= t->dim[i] == 0;
        if (t->dim[i] > 0 && n > MOST_ELEMENTS / t->dim[i])
            return FIRE_FAIL(FIRE_ERR_PARSE, "tensor \"%s\" has too many elements",
                             t->name != NULL ? t->name : "");
        if (t->dim[i] > 0) n *= t->dim[i];
    }
    t->count = zero ? 0 : n;
    return FIRE_OK;
}

fire_status_t fire_onnx_add_tensor(fire_onnx_model_t *m, fire_onnx_tensor_t *t)
{
    fire_status_t st = fire_onnx_tensor_count(t);

    if (st >= 0)
        st = fire_grow(&m->tensor, &m->tensor_cap, m->ntensor + 1, sizeof(*m->tensor));
    if (st < 0) {
        fire_onnx_tensor_fini(t);
        return st;
    }
    m->tensor[m->ntensor++] = *t;
    return FIRE_OK;
}

/* Copies, because a value in a mapped file need not be aligned. */
#define ELEMENT(ctype, out) \
    ctype out;              \
    memcpy(&out, (const char *)t->data + (size_t)i * sizeof(out), sizeof(out))

int64_t fire_onnx_tensor_integer(const fire_onnx_tensor_t *t, int64_t i)
{
    switch (t->type) {
    case FIRE_ONNX(INT64):
    case FIRE_ONNX(UINT64): {
        ELEMENT(int64_t, v);
        return v;
    }
    case FIRE_ONNX(INT32): {
        ELEMENT(int32_t, v);
        return v;
    }
    case FIRE_ONNX(UINT32): {
        ELEMENT(uint32_t, v);
        return v;
    }
    case FIRE_ONNX(INT16): {
        ELEMENT(int16_t, v);
        return v;
    }
    case FIRE_ONNX(UINT16): {
        ELEMENT(uint16_t, v);
        return v;
    }
    case FIRE_ONNX(INT8):
        return ((const int8_t *)t->data)[i];
    case FIRE_ONNX(UINT8):
    case FIRE_ONNX(BOOL):
        return ((const uint8_t *)t->data)[i];
    default: {
        double v = fire_onnx_tensor_number(t, i);

        return v > -9e18 && v < 9e18 ? (int64_t)v : 0;
    }
    }
}

double fire_onnx_tensor_number(const fire_onnx_tensor_t *t, int64_t i)
{
    switch (t->type) {
    case FIRE_ONNX(FLOAT): {
        ELEMENT(float, v);
        return v;
    }
    case FIRE_ONNX(DOUBLE): {
        ELEMENT(double, v);
        return v;
    }
    case FIRE_ONNX(FLOAT16): {
        ELEMENT(uint16_t, v);
        return fire_from_fp16(v);
    }
    case FIRE_ONNX(BFLOAT16): {
        ELEMENT(uint16_t, v);
        return fire_from_bf16(v);
    }
    default:
        return (double)fire_onnx_tensor_integer(t, i);
    }
}

void fire_onnx_tensor_floats(const fire_onnx_tensor_t *t, float *out)
{
    if (t->type == FIRE_ONNX(FLOAT)) {
        if (t->count > 0) memcpy(out, t->data, (size_t)t->count * sizeof(*out));
        return;
    }
    for (int64_t i = 0; i < t->count; i++)
        out[i] = (float)fire_onnx_tensor_number(t, i);
}

/* ---- inputs and outputs ---- */

static fire_status_t fill_value(Onnx__ValueInfoProto *v, const char *name, int ndim,
                                const int64_t *dim, const char *const *symbol)
{
    Onnx__TypeProto         *type;
    Onnx__TypeProto__Tensor *tensor;
    Onnx__TensorShapeProto  *shape;

    FIRE_TRY(fire_message_add_string(v, "name", name));
    FIRE_TRY(fire_message_add_message(v, "type", &type));
    FIRE_TRY(fire_message_add_message(type, "tensor_type", &tensor));
    tensor->has_elem_type = true;
    tensor->elem_type     = FIRE_ONNX(FLOAT);
    FIRE_TRY(fire_message_add_message(tensor, "shape", &shape));
    for (int i = 0; i < ndim; i++) {
        Onnx__TensorShapeProto__Dimension *d;

        FIRE_TRY(fire_message_add_message(shape, "dim", &d));
        if (symbol != NULL && symbol[i] != NULL) {
            FIRE_TRY(fire_message_add_string(d, "dim_param", symbol[i]));
        } else {
            d->has_dim_value = true;
            d->dim_value     = dim[i];
        }
    }
    return FIRE_OK;
}

static fire_status_t add_value(Onnx__ValueInfoProto ***list, int64_t *cap, int64_t *n,
                               const char *name, int ndim, const int64_t *dim,
                               const char *const *symbol)
{
    ProtobufCMessage *v;

    FIRE_TRY(fire_grow(list, cap, *n + 1, sizeof(**list)));
    FIRE_TRY(fire_message_create(&onnx__value_info_proto__descriptor, &v));
    (*list)[(*n)++] = (Onnx__ValueInfoProto *)v;
    return fill_value((Onnx__ValueInfoProto *)v, name, ndim, dim, symbol);
}

fire_status_t fire_onnx_add_input(fire_onnx_model_t *m, const char *name, int ndim,
                                  const int64_t *dim, const char *const *symbol)
{
    return add_value(&m->input, &m->input_cap, &m->ninput, name, ndim, dim, symbol);
}

fire_status_t fire_onnx_add_output(fire_onnx_model_t *m, const char *name, int ndim,
                                   const int64_t *dim, const char *const *symbol)
{
    return add_value(&m->output, &m->output_cap, &m->noutput, name, ndim, dim, symbol);
}
