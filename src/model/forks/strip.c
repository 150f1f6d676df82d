/* strip.c - see strip.h: walks over protobuf's fields without knowing messages. */
#include "model/forks/strip.h"

#include <stdint.h>
#include <string.h>

enum { LAYER = 100, LAYER_V1 = 2 }; /* fields of NetParameter */

/* A field: where it begins, where its content (of wire type 2) does, and its end. */
typedef struct field {
    uint64_t       number;
    int            wire;
    const uint8_t *begin, *content, *end;
} field_t;

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *v_p)
{
    uint64_t v = 0;

    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;

        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *v_p = v;
            return true;
        }
    }
    return false;
}

static uint8_t *write_varint(uint8_t *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (uint8_t)(v | 0x80);
    *to++ = (uint8_t)v;
    return to;
}

static bool read_field(const uint8_t *at, const uint8_t *end, field_t *f)
{
    uint64_t tag, n;

    f->begin = at;
    if (!read_varint(&at, end, &tag)) return false;
    f->number  = tag >> 3;
    f->wire    = (int)(tag & 7);
    f->content = at;
    switch (f->wire) {
    case 0:
        if (!read_varint(&at, end, &n)) return false;
        n = 0;
        break;
    case 1:
        n = 8;
        break;
    case 2:
        if (!read_varint(&at, end, &n)) return false;
        f->content = at;
        break;
    case 5:
        n = 4;
        break;
    default:
        return false;
    }
    if (n > (uint64_t)(end - at)) return false;
    f->end = at + n;
    return true;
}

/* Has every Caffe this field of a layer? Of V1 layers: without the settings, too. */
static bool is_common(uint64_t layer, uint64_t number)
{
    if (layer == LAYER) return number >= 1 && number <= 11;
    return (number >= 2 && number <= 8) || number == 32 || number == 33 ||
           number == 35 || number == 1001 || number == 1002;
}

/* Copy the common fields of a layer to `to` (NULL: only measure); sets *n_p to their
 * length. `to` may overlap the layer from below. */
static bool copy_common(const field_t *layer, uint8_t *to, size_t *n_p)
{
    size_t  n = 0;
    field_t f = {.end = layer->content};

    while (f.end < layer->end) {
        if (!read_field(f.end, layer->end, &f)) return false;
        if (!is_common(layer->number, f.number)) continue;
        if (to != NULL) memmove(to + n, f.begin, (size_t)(f.end - f.begin));
        n += (size_t)(f.end - f.begin);
    }
    *n_p = n;
    return true;
}

/* What is written never reaches beyond what has been read: a layer only shrinks. */
bool fire_foreign_strip(void *bytes, size_t n, size_t *n_p)
{
    uint8_t *to = bytes, *end = to + n;
    field_t  f = {.end = bytes};

    while (f.end < end) {
        size_t rest;

        if (!read_field(f.end, end, &f)) return false;
        if (f.wire == 2 && (f.number == LAYER || f.number == LAYER_V1)) {
            if (!copy_common(&f, NULL, &rest)) return false;
            to = write_varint(to, f.number << 3 | 2);
            to = write_varint(to, rest);
            copy_common(&f, to, &rest);
        } else {
            rest = (size_t)(f.end - f.begin);
            memmove(to, f.begin, rest);
        }
        to += rest;
    }
    *n_p = (size_t)(to - (uint8_t *)bytes);
    return true;
}
