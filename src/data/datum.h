/* datum.h - Caffe's record: an image (raw bytes, floats, or an encoded file) and its
 * label.
 *
 * It is parsed without allocation and without copying, because this happens for every
 * sample. Damaged bytes give an error; nothing outside of the record is ever read. */
#ifndef FIRE_DATA_DATUM_H
#define FIRE_DATA_DATUM_H
#include "base/text/text.h"

/* A parsed record. Its pointers point into the bytes that were parsed. */
typedef struct fire_datum {
    int            channels, height, width; /* 0 if encoded, usually */
    int            label;
    bool           encoded; /* `data` is a JPEG, PNG, ... file */
    const uint8_t *data;    /* channels x height x width bytes, or the encoded file */
    size_t         ndata;   /* bytes of `data` */
    int64_t        nfloat;  /* floats, if there is no `data` */
    const uint8_t *record;  /* the whole record, for fire_datum_floats() */
    size_t         nrecord;
} fire_datum_t;

/* Check a Datum's members against each other. A raw Datum must have exactly channels x
 * height x width values (at least one), all in `data` or all as floats; an encoded one
 * must have data. */
fire_status_t fire_datum_check(const fire_datum_t *d);
/* Parse n bytes of a record and check the result with fire_datum_check(). *datum_p
 * points into `bytes`. */
fire_status_t fire_datum_parse(const uint8_t *bytes, size_t n, fire_datum_t *datum_p);

/* Copy the d->nfloat floats to dst; the record must still be there. */
void fire_datum_floats(const fire_datum_t *d, float *dst);

/* Append the record of a Datum to out; its d->nfloat floats come from `floats`. An
 * encoded image is written without channels, height and width, as Caffe writes it: the
 * file inside knows them. */
fire_status_t fire_datum_write(const fire_datum_t *d, const float *floats,
                               fire_str_t *out);
#endif
