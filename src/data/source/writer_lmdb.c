/* writer_lmdb.c - writes an LMDB. Records are collected and written a thousand per
 * transaction. If the memory map turns out too small, LMDB drops the transaction: the
 * map is doubled and the same records are written again. */
#include <errno.h>
#include <lmdb.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/text.h"
#include "data/source/writer.h"

enum { FIRST_MAP = 1 << 26 }; /* bytes of the map at first */

/* A record that waits to be written. */
typedef struct item {
    int64_t at; /* offset of its key in `bytes`; its value follows */
    size_t  nkey, nvalue;
} item_t;

typedef struct lmdb_writer {
    fire_writer_t base;
    MDB_env      *env;
    size_t        map;   /* bytes of the memory map now */
    fire_str_t    bytes; /* keys and values of the records that wait */
    item_t       *item;
    int64_t       nitem, cap;
} lmdb_writer_t;

static fire_status_t check(int rc)
{
    if (rc == 0) return FIRE_OK;
    /* LMDB calls a short write an input/output error. */
    return FIRE_FAIL(FIRE_ERR_IO, "cannot write LMDB: %s%s", mdb_strerror(rc),
                     rc == EIO ? "; is the disk full?" : "");
}

static void lmdb_close(fire_writer_t *base)
{
    lmdb_writer_t *w = (lmdb_writer_t *)base;

    if (w->env != NULL) mdb_env_close(w->env);
    fire_str_fini(&w->bytes);
    fire_free(w->item);
    fire_free(w);
}

/* No sync per transaction: finish() syncs once, and until then the database does not
 * have its final name anyway. */
static fire_status_t lmdb_open(const char *directory, fire_writer_t **writer_p)
{
    const unsigned flags = MDB_NOLOCK | MDB_NOSYNC | MDB_NOTLS;
    lmdb_writer_t *w;
    fire_status_t  st;

    FIRE_TRY(FIRE_NEW(&w, 1));
    w->map = FIRST_MAP;
    FIRE_TRY_GOTO(st, check(mdb_env_create(&w->env)), err_writer);
    FIRE_TRY_GOTO(st, check(mdb_env_set_mapsize(w->env, w->map)), err_writer);
    FIRE_TRY_GOTO(st, check(mdb_env_open(w->env, directory, flags, 0664)), err_writer);
    *writer_p = &w->base;
    return FIRE_OK;

err_writer:
    lmdb_close(&w->base);
    return st;
}

/* Write all waiting records in one transaction. Returns LMDB's code. */
static int write_items(lmdb_writer_t *w)
{
    MDB_txn *txn;
    MDB_dbi  dbi;
    int      rc = mdb_txn_begin(w->env, NULL, 0, &txn);

    if (rc != 0) return rc;
    rc = mdb_dbi_open(txn, NULL, 0, &dbi);
    for (int64_t i = 0; rc == 0 && i < w->nitem; i++) {
        char   *at    = w->bytes.text + w->item[i].at;
        MDB_val key   = {w->item[i].nkey, at};
        MDB_val value = {w->item[i].nvalue, at + w->item[i].nkey};

        rc = mdb_put(txn, dbi, &key, &value, 0);
    }
    if (rc == 0) return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}

static fire_status_t write_pending(lmdb_writer_t *w)
{
    int rc;

    while ((rc = write_items(w)) == MDB_MAP_FULL) {
        w->map *= 2;
        FIRE_TRY(check(mdb_env_set_mapsize(w->env, w->map)));
    }
    w->nitem = w->bytes.n = 0;
    return check(rc);
}

static fire_status_t lmdb_put(fire_writer_t *base, const void *key, size_t nkey,
                              const void *value, size_t nvalue)
{
    lmdb_writer_t *w    = (lmdb_writer_t *)base;
    int64_t        at   = w->bytes.n;
    size_t         most = (size_t)mdb_env_get_maxkeysize(w->env);

    if (nkey > most)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "the key \"%.60s...\" is longer than the %zu bytes that LMDB "
                         "takes; shorten the path, or use LevelDB",
                         (const char *)key, most);
    FIRE_TRY(fire_grow(&w->item, &w->cap, w->nitem + 1, sizeof(*w->item)));
    FIRE_TRY(fire_str_add(&w->bytes, key, nkey));
    FIRE_TRY(fire_str_add(&w->bytes, value, nvalue));
    w->item[w->nitem++] = (item_t){at, nkey, nvalue};
    if (w->nitem < FIRE_COMMIT_EVERY && w->bytes.n < FIRE_COMMIT_BYTES) return FIRE_OK;
    return write_pending(w);
}

static fire_status_t lmdb_finish(fire_writer_t *base)
{
    lmdb_writer_t *w = (lmdb_writer_t *)base;

    FIRE_TRY(write_pending(w));
    return check(mdb_env_sync(w->env, 1));
}

const fire_writer_ops_t fire_writer_lmdb = {
    .name   = "LMDB",
    .open   = lmdb_open,
    .put    = lmdb_put,
    .finish = lmdb_finish,
    .close  = lmdb_close,
};
