/* datum.c - reads and writes the protobuf wire format of a Datum by hand. A message is
 * a sequence of fields; each is a key (field number << 3 | wire type) and a value. */
#include "data/datum.h"

#include <string.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 }; /* wire types of protobuf */
/* Field numbers of message Datum in proto/caffe.proto. */
enum { CHANNELS = 1, HEIGHT, WIDTH, DATA, LABEL, FLOAT_DATA, ENCODED };

typedef struct reader {
    const uint8_t *at, *end; /* next byte, and one past the last */
} reader_t;

/* The value of one field. */
typedef struct value {
    uint64_t       number; /* of a VARINT */
    const uint8_t *bytes;  /* n bytes in the record, of the other wire types */
    size_t         n;
} value_t;

/* 7 bits per byte, lowest first; the top bit says that another byte follows. */
static bool read_varint(reader_t *r, uint64_t *value_p)
{
    uint64_t value = 0;

    for (int shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;

        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value_p = value;
            return true;
        }
    }
    return false;
}

/* The next n bytes, if the record has that many. */
static bool read_bytes(reader_t *r, uint64_t n, value_t *v)
{
    if (n > (uint64_t)(r->end - r->at)) return false;
    v->bytes = r->at;
    v->n     = (size_t)n;
    r->at += n;
    return true;
}

static bool read_value(reader_t *r, int wire, value_t *v)
{
    switch (wire) {
    case VARINT:
        return read_varint(r, &v->number);
    case FIXED64:
        return read_bytes(r, 8, v);
    case FIXED32:
        return read_bytes(r, 4, v);
    case BYTES:
        return read_varint(r, &v->number) && read_bytes(r, v->number, v);
    default:
        return false;
    }
}

/* Append floats to d (and to dst, unless it is NULL). They are written one per field or
 * packed into one string of bytes; protobuf allows both. */
static bool read_floats(const value_t *v, fire_datum_t *d, float *dst)
{
    if (v->n % 4 != 0) return false;
    if (dst != NULL && v->n > 0) memcpy(dst + d->nfloat, v->bytes, v->n);
    d->nfloat += (int64_t)(v->n / 4);
    return true;
}

/* Store one field. Unknown fields, and known ones with an unexpected wire type, are
 * skipped, as protobuf does. */
static bool read_field(int field, int wire, const value_t *v, fire_datum_t *d,
                       float *floats)
{
    if (wire == VARINT) {
        int number = (int)(uint32_t)v->number;

        if (field == CHANNELS) d->channels = number;
        if (field == HEIGHT) d->height = number;
        if (field == WIDTH) d->width = number;
        if (field == LABEL) d->label = number;
        if (field == ENCODED) d->encoded = v->number != 0;
    } else if (wire == BYTES && field == DATA) {
        d->data  = v->bytes;
        d->ndata = v->n;
    } else if ((wire == BYTES || wire == FIXED32) && field == FLOAT_DATA) {
        return read_floats(v, d, floats);
    }
    return true;
}

/* False if the bytes are no valid message. */
static bool parse(const uint8_t *bytes, size_t n, fire_datum_t *d, float *floats)
{
    reader_t r = {bytes, bytes + n};

    *d = (fire_datum_t){.record = bytes, .nrecord = n};
    while (r.at < r.end) {
        uint64_t key;
        value_t  v = {0};

        if (!read_varint(&r, &key) || key >> 3 == 0 || key > UINT32_MAX) return false;
        if (!read_value(&r, (int)(key & 7), &v)) return false;
        if (!read_field((int)(key >> 3), (int)(key & 7), &v, d, floats)) return false;
    }
    return true;
}

fire_status_t fire_datum_check(const fire_datum_t *d)
{
    int64_t have = d->ndata > 0 ? (int64_t)d->ndata : d->nfloat;
    int64_t want;

    if (d->encoded && d->ndata > 0) return FIRE_OK;
    if (d->encoded)
        return FIRE_FAIL(FIRE_ERR_PARSE, "damaged Datum: encoded, but without data");
    if (d->channels <= 0 || d->height <= 0 || d->width <= 0 ||
        __builtin_mul_overflow((int64_t)d->channels * d->height, d->width, &want) ||
        want != have)
        return FIRE_FAIL(FIRE_ERR_PARSE, "damaged Datum: %d x %d x %d with %lld values",
                         d->channels, d->height, d->width, (long long)have);
    return FIRE_OK;
}

fire_status_t fire_datum_parse(const uint8_t *bytes, size_t n, fire_datum_t *datum_p)
{
    fire_datum_t d;

    if (!parse(bytes, n, &d, NULL))
        return FIRE_FAIL(FIRE_ERR_PARSE,
                         "damaged record: its %zu bytes are not a Datum", n);
    FIRE_TRY(fire_datum_check(&d));
    *datum_p = d;
    return FIRE_OK;
}

void fire_datum_floats(const fire_datum_t *d, float *dst)
{
    fire_datum_t again;

    parse(d->record, d->nrecord, &again, dst);
}

static fire_status_t write_varint(fire_str_t *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t  n = 0;

    do {
        bytes[n++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        value >>= 7;
    } while (value > 0);
    return fire_str_add(out, bytes, n);
}

static fire_status_t write_int(fire_str_t *out, int field, int value)
{
    FIRE_TRY(write_varint(out, (uint64_t)field << 3 | VARINT));
    return write_varint(out, (uint64_t)(int64_t)value);
}

fire_status_t fire_datum_write(const fire_datum_t *d, const float *floats,
                               fire_str_t *out)
{
    if (!d->encoded) {
        FIRE_TRY(write_int(out, CHANNELS, d->channels));
        FIRE_TRY(write_int(out, HEIGHT, d->height));
        FIRE_TRY(write_int(out, WIDTH, d->width));
    }
    if (d->ndata > 0) {
        FIRE_TRY(write_varint(out, DATA << 3 | BYTES));
        FIRE_TRY(write_varint(out, d->ndata));
        FIRE_TRY(fire_str_add(out, d->data, d->ndata));
    }
    FIRE_TRY(write_int(out, LABEL, d->label));
    for (int64_t i = 0; i < d->nfloat; i++) {
        FIRE_TRY(write_varint(out, FLOAT_DATA << 3 | FIXED32));
        FIRE_TRY(fire_str_add(out, &floats[i], sizeof(*floats)));
    }
    return d->encoded ? write_int(out, ENCODED, 1) : FIRE_OK;
}
