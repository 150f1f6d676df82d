/* writer_leveldb.c - writes a LevelDB with the settings of Caffe's tools. Records are
 * collected in a batch and written a thousand at a time. */
#include <leveldb/c.h>

#include "base/alloc.h"
#include "data/source/writer.h"

typedef struct leveldb_writer {
    fire_writer_t         base;
    leveldb_t            *db;
    leveldb_writebatch_t *batch;
    int                   pending; /* records in `batch` */
    size_t                bytes;   /* bytes in `batch` */
} leveldb_writer_t;

static fire_status_t check(char *error)
{
    fire_status_t st;

    if (error == NULL) return FIRE_OK;
    st = FIRE_FAIL(FIRE_ERR_IO, "cannot write LevelDB: %s", error);
    leveldb_free(error);
    return st;
}

static void level_close(fire_writer_t *base)
{
    leveldb_writer_t *w = (leveldb_writer_t *)base;

    if (w->batch != NULL) leveldb_writebatch_destroy(w->batch);
    if (w->db != NULL) leveldb_close(w->db);
    fire_free(w);
}

static fire_status_t level_open(const char *directory, fire_writer_t **writer_p)
{
    leveldb_options_t *options = leveldb_options_create();
    leveldb_writer_t  *w;
    char              *error = NULL;
    fire_status_t      st    = FIRE_NEW(&w, 1);

    if (st == FIRE_OK) {
        leveldb_options_set_create_if_missing(options, 1);
        leveldb_options_set_error_if_exists(options, 1);
        leveldb_options_set_block_size(options, 65536);
        leveldb_options_set_write_buffer_size(options, 268435456);
        leveldb_options_set_max_open_files(options, 100);
        w->batch = leveldb_writebatch_create();
        w->db    = leveldb_open(options, directory, &error);
        st       = check(error);
        if (st == FIRE_OK)
            *writer_p = &w->base;
        else
            level_close(&w->base);
    }
    leveldb_options_destroy(options);
    return st;
}

/* Write the batch; sync: wait until it is on disk. */
static fire_status_t write_batch(leveldb_writer_t *w, bool sync)
{
    leveldb_writeoptions_t *options = leveldb_writeoptions_create();
    char                   *error   = NULL;

    leveldb_writeoptions_set_sync(options, sync);
    leveldb_write(w->db, options, w->batch, &error);
    leveldb_writeoptions_destroy(options);
    leveldb_writebatch_clear(w->batch);
    w->pending = 0;
    w->bytes   = 0;
    return check(error);
}

static fire_status_t level_put(fire_writer_t *base, const void *key, size_t nkey,
                               const void *value, size_t nvalue)
{
    leveldb_writer_t *w = (leveldb_writer_t *)base;

    leveldb_writebatch_put(w->batch, key, nkey, value, nvalue);
    w->pending++;
    w->bytes += nkey + nvalue;
    if (w->pending < FIRE_COMMIT_EVERY && w->bytes < FIRE_COMMIT_BYTES) return FIRE_OK;
    return write_batch(w, false);
}

static fire_status_t level_finish(fire_writer_t *base)
{
    return write_batch((leveldb_writer_t *)base, true);
}

const fire_writer_ops_t fire_writer_leveldb = {
    .name   = "LEVELDB",
    .open   = level_open,
    .put    = level_put,
    .finish = level_finish,
    .close  = level_close,
};
