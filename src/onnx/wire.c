/* wire.c - see wire.h. */
#include "onnx/wire.h"

static fire_status_t fail_cut(void)
{
    return FIRE_FAIL(FIRE_ERR_PARSE, "it is cut off, or is no ONNX model");
}

fire_status_t fire_wire_varint(fire_wire_t *w, uint64_t *value_p)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 70; shift += 7) {
        if (w->at == w->end) return fail_cut();
        if (shift < 64) value |= (uint64_t)(*w->at & 0x7f) << shift;
        if ((*w->at++ & 0x80) == 0) {
            *value_p = value;
            return FIRE_OK;
        }
    }
    return fail_cut();
}

static fire_status_t take(fire_wire_t *w, fire_wire_field_t *f, uint64_t n)
{
    if (n > (uint64_t)(w->end - w->at)) return fail_cut();
    f->bytes = w->at;
    f->n     = (size_t)n;
    w->at += n;
    return FIRE_OK;
}

fire_status_t fire_wire_next(fire_wire_t *w, fire_wire_field_t *f, bool *more_p)
{
    uint64_t tag;

    *more_p = w->at < w->end;
    if (!*more_p) return FIRE_OK;
    FIRE_TRY(fire_wire_varint(w, &tag));
    *f = (fire_wire_field_t){.number = (uint32_t)(tag >> 3), .kind = (int)(tag & 7)};
    if (f->number == 0 || tag >> 32 != 0) return fail_cut();
    switch (f->kind) {
    case FIRE_WIRE_VARINT:
        return fire_wire_varint(w, &f->value);
    case FIRE_WIRE_64:
        return take(w, f, 8);
    case FIRE_WIRE_32:
        return take(w, f, 4);
    case FIRE_WIRE_BYTES:
        FIRE_TRY(fire_wire_varint(w, &f->value));
        return take(w, f, f->value);
    default:
        return fail_cut();
    }
}

static size_t varint_size(uint64_t value)
{
    size_t n = 1;

    for (; value > 0x7f; value >>= 7)
        n++;
    return n;
}

static fire_status_t put_varint(fire_str_t *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t  n = 0;

    for (; value > 0x7f; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    return fire_str_add(out, bytes, n);
}

fire_status_t fire_wire_put(fire_str_t *out, uint32_t number, int kind, uint64_t value)
{
    FIRE_TRY(put_varint(out, (uint64_t)number << 3 | (uint64_t)kind));
    return put_varint(out, value);
}

size_t fire_wire_size(uint32_t number, uint64_t value)
{
    return varint_size((uint64_t)number << 3) + varint_size(value);
}
