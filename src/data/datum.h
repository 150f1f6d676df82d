/* datum.h - Caffe's record: an image (raw, as floats, or an encoded file) and its
 * label. Parsed in place and without allocation, since it happens for every sample;
 * bytes from a damaged data set are an error, never a stray read. */
#ifndef FIRE_DATA_DATUM_H
#define FIRE_DATA_DATUM_H
#include "base/text/text.h"

typedef struct fire_datum {
    int            channels, height, width, label;
    bool           encoded;
    const uint8_t *data; /* points into the record */
    size_t         ndata;
    int64_t        nfloat;
    const uint8_t *record; /* for fire_datum_floats() */
    size_t         nrecord;
} fire_datum_t;

/* A raw Datum that passes has exactly channels x height x width values, at least one,
 * in either `data` or the floats; an encoded one has some data. */
fire_status_t fire_datum_check(const fire_datum_t *d);
/* What is parsed has passed. */
fire_status_t fire_datum_parse(const uint8_t *bytes, size_t n, fire_datum_t *datum_p);

/* Copy the nfloat floats to dst. */
void fire_datum_floats(const fire_datum_t *d, float *dst);

/* Append the binary form; floats (d->nfloat of them, or none) come from `floats`. The
 * file inside an encoded one knows its size: then none is written, as in Caffe. */
fire_status_t fire_datum_write(const fire_datum_t *d, const float *floats,
                               fire_str_t *out);
#endif
