/* lmdb.c - reads an LMDB. Opening builds an index: two pointers per record into the
 * mapped file. A read-only transaction stays open so that they remain valid; reading a
 * record is then a look into the index, without lock, search or copy. Building the
 * index walks the leaves of the tree; values on overflow pages (images) are not
 * touched. */
#include <errno.h>
#include <lmdb.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "data/source/lmdb_pages.h"
#include "data/source/source.h"

/* One record: its key and value in the mapped file. */
typedef struct entry {
    const void *key, *value;
    uint32_t    nvalue;
    uint16_t    nkey;
} entry_t;

typedef struct lmdb_source {
    fire_source_t base;
    MDB_env      *env;
    MDB_txn      *txn;
    entry_t      *entry; /* [count], in the order of keys */
} lmdb_source_t;

/* Turn a return code of LMDB into a status. */
static fire_status_t check(int rc, const char *path)
{
    if (rc == 0) return FIRE_OK;
    return FIRE_FAIL(rc == MDB_INVALID || rc == MDB_CORRUPTED ||
                             rc == MDB_VERSION_MISMATCH
                         ? FIRE_ERR_PARSE
                         : FIRE_ERR_IO,
                     "cannot read LMDB \"%s\": %s%s", path, mdb_strerror(rc),
                     rc == ENOENT ? "; `firecaffe convert` makes one from images" : "");
}

static void lmdb_close(fire_source_t *base)
{
    lmdb_source_t *s = (lmdb_source_t *)base;

    if (s->txn != NULL) mdb_txn_abort(s->txn);
    if (s->env != NULL) mdb_env_close(s->env);
    fire_free(s->entry);
    fire_free(s->base.path);
    fire_free(s);
}

/* Open without locks: training never writes, and several workers may read the same
 * file. A path may name the data.mdb file instead of its directory. */
static fire_status_t open_env(lmdb_source_t *s)
{
    const char *path  = s->base.path;
    unsigned    flags = MDB_RDONLY | MDB_NOTLS | MDB_NOLOCK;
    struct stat info;

    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) flags |= MDB_NOSUBDIR;
    FIRE_TRY(check(mdb_env_create(&s->env), path));
    FIRE_TRY(check(mdb_env_open(s->env, path, flags, 0664), path));
    return check(mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->txn), path);
}

/* Fill the index; `cap` entries are allocated. The tree was checked (lmdb_pages.h). */
static fire_status_t walk(lmdb_source_t *s, MDB_cursor *cursor, int64_t cap)
{
    MDB_val key, value;
    int     rc;

    while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        if (s->base.count == cap || value.mv_size > UINT32_MAX)
            return FIRE_FAIL(FIRE_ERR_PARSE,
                             "LMDB \"%s\" is damaged: its tree has more records than "
                             "its header counts",
                             s->base.path);
        s->entry[s->base.count++] = (entry_t){.key    = key.mv_data,
                                              .value  = value.mv_data,
                                              .nvalue = (uint32_t)value.mv_size,
                                              .nkey   = (uint16_t)key.mv_size};
    }
    return rc == MDB_NOTFOUND ? FIRE_OK : check(rc, s->base.path);
}

static fire_status_t build_index(lmdb_source_t *s)
{
    MDB_cursor   *cursor;
    MDB_dbi       dbi;
    MDB_stat      stat;
    fire_status_t st;

    FIRE_TRY(check(mdb_dbi_open(s->txn, NULL, 0, &dbi), s->base.path));
    FIRE_TRY(check(mdb_stat(s->txn, dbi, &stat), s->base.path));
    if (stat.ms_entries == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "LMDB \"%s\" holds no records",
                         s->base.path);
    FIRE_TRY(FIRE_NEW(&s->entry, stat.ms_entries));
    FIRE_TRY(check(mdb_cursor_open(s->txn, dbi, &cursor), s->base.path));
    st = walk(s, cursor, (int64_t)stat.ms_entries);
    mdb_cursor_close(cursor);
    return st;
}

extern const fire_source_ops_t fire_source_lmdb;

static fire_status_t lmdb_open(const char *path, fire_source_t **source_p)
{
    lmdb_source_t *s;
    fire_status_t  st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    s->base.ops = &fire_source_lmdb;
    FIRE_TRY_GOTO(st, fire_strdup(path, &s->base.path), err_source);
    FIRE_TRY_GOTO(st, fire_lmdb_check(path), err_source);
    FIRE_TRY_GOTO(st, open_env(s), err_source);
    FIRE_TRY_GOTO(st, build_index(s), err_source);
    *source_p = &s->base;
    return FIRE_OK;

err_source:
    lmdb_close(&s->base);
    return st;
}

/* No copy: the record stays in the mapped file, `b` is not used. */
static fire_status_t lmdb_read(fire_source_t *base, int64_t i, fire_buffer_t *b,
                               fire_record_t *record_p)
{
    const entry_t *e = &((lmdb_source_t *)base)->entry[i];

    (void)b;
    *record_p = (fire_record_t){e->value, e->nvalue};
    return FIRE_OK;
}

static void lmdb_key(const fire_source_t *base, int64_t i, char text[FIRE_KEY_TEXT])
{
    const entry_t *e = &((const lmdb_source_t *)base)->entry[i];

    fire_key_text(e->key, e->nkey, text);
}

const fire_source_ops_t fire_source_lmdb = {
    .name  = "LMDB",
    .mark  = "data.mdb",
    .open  = lmdb_open,
    .close = lmdb_close,
    .read  = lmdb_read,
    .key   = lmdb_key,
};
