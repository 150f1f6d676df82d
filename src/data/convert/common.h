/* common.h - what the converters share: writing Datums into a new database. */
#ifndef FIRE_DATA_CONVERT_COMMON_H
#define FIRE_DATA_CONVERT_COMMON_H
#include "data/convert/convert.h"
#include "data/datum.h"
#include "data/source/writer.h"

/* A database being written. Begin with fire_convert_open(). */
typedef struct fire_convert {
    fire_writer_t  *writer;   /* the new database */
    fire_str_t      record;   /* the record being put together; memory is kept */
    int64_t         total;    /* records that there will be, for progress reports */
    fire_progress_t progress; /* report is NULL if nobody asked for reports */
} fire_convert_t;

/* Create the database `db` of `total` records. *progress is copied; NULL: no
 * reports. */
fire_status_t fire_convert_open(fire_convert_t *c, const char *db, const char *backend,
                                int64_t total, const fire_progress_t *progress);
/* Append a Datum under `key`. `floats`: its d->nfloat floats, or NULL. */
fire_status_t fire_convert_put(fire_convert_t *c, const char *key,
                               const fire_datum_t *d, const float *floats);
/* The same with a Datum that fire_datum_write() has encoded already. */
fire_status_t fire_convert_put_record(fire_convert_t *c, const char *key,
                                      const fire_str_t *record);
/* Finish. If st is FIRE_OK, give the database its name; else delete it. Returns st, or
 * the error of finishing. */
fire_status_t fire_convert_close(fire_convert_t *c, fire_status_t st);
#endif
