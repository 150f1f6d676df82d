/* common.c - writes Datums into a new database and reports progress. */
#include "data/convert/common.h"

fire_status_t fire_convert_open(fire_convert_t *c, const char *db, const char *backend,
                                int64_t total, const fire_progress_t *progress)
{
    *c = (fire_convert_t){.total = total};
    if (progress != NULL) c->progress = *progress;
    return fire_writer_open(backend, db, &c->writer);
}

/* Tell the caller how many records are written. */
static fire_status_t report(const fire_convert_t *c)
{
    if (c->progress.report == NULL) return FIRE_OK;
    return c->progress.report(c->progress.arg, c->writer->count, c->total);
}

fire_status_t fire_convert_put_record(fire_convert_t *c, const char *key,
                                      const fire_str_t *record)
{
    FIRE_TRY(fire_writer_put(c->writer, key, record->text, (size_t)record->n));
    return c->writer->count % 100 == 0 ? report(c) : FIRE_OK;
}

fire_status_t fire_convert_put(fire_convert_t *c, const char *key,
                               const fire_datum_t *d, const float *floats)
{
    c->record.n = 0;
    FIRE_TRY(fire_datum_write(d, floats, &c->record));
    return fire_convert_put_record(c, key, &c->record);
}

fire_status_t fire_convert_close(fire_convert_t *c, fire_status_t st)
{
    fire_str_fini(&c->record);
    if (st >= 0) st = report(c);
    if (st >= 0) return fire_writer_commit(c->writer);
    fire_writer_abort(c->writer);
    return st;
}
