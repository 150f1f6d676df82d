/* common.h - what the converters share: Datums into a new database. */
#ifndef FIRE_DATA_CONVERT_COMMON_H
#define FIRE_DATA_CONVERT_COMMON_H
#include "data/convert/convert.h"
#include "data/datum.h"
#include "data/source/writer.h"

typedef struct fire_convert {
    fire_writer_t  *writer;
    fire_str_t      record;
    int64_t         total;
    fire_progress_t progress;
} fire_convert_t;

fire_status_t fire_convert_open(fire_convert_t *c, const char *db, const char *backend,
                                int64_t total, const fire_progress_t *progress);
fire_status_t fire_convert_put(fire_convert_t *c, const char *key,
                               const fire_datum_t *d, const float *floats);
/* The same for a Datum in its binary form. */
fire_status_t fire_convert_put_record(fire_convert_t *c, const char *key,
                                      const fire_str_t *record);
/* Put the database in place if all went well so far (st), else leave nothing. */
fire_status_t fire_convert_close(fire_convert_t *c, fire_status_t st);
#endif
