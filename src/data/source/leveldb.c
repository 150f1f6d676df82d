/* leveldb.c - reads a LevelDB. Opening lists all keys, so that records can be read by
 * number. LevelDB lets one process open a directory, and only once; but several nets
 * and workers may read the same data set. Those of this process therefore share one
 * open database, counted by `users`. */
#include <errno.h>
#include <leveldb/c.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text/text.h"
#include "data/source/source.h"

typedef struct level_source {
    fire_source_t          base;
    leveldb_t             *db;
    leveldb_readoptions_t *read;
    fire_str_t             keys; /* all keys, one after another; key i ends at end[i] */
    int64_t               *end, cap; /* [count] offsets into `keys` */
    int                    users;    /* how often it is open; guarded by `lock` */
    char                  *real;     /* path without symbolic links, to find it again */
    struct level_source   *next;     /* next in the list `open_ones` */
} level_source_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* All open databases of this process, guarded by `lock`. */
static level_source_t *open_ones;

extern const fire_source_ops_t fire_source_leveldb;

/* Turn an error text of LevelDB, which it frees, into a status. */
static fire_status_t check(char *error, const char *path)
{
    fire_status_t st;

    if (error == NULL) return FIRE_OK;
    st = FIRE_FAIL(FIRE_ERR_IO, "cannot read LevelDB \"%s\": %s%s", path, error,
                   strncmp(error, "IO error: lock ", 15) == 0
                       ? " (another process has it open; only one can: use LMDB)"
                       : "");
    leveldb_free(error);
    return st;
}

static void destroy(level_source_t *s)
{
    if (s->read != NULL) leveldb_readoptions_destroy(s->read);
    if (s->db != NULL) leveldb_close(s->db);
    fire_str_fini(&s->keys);
    fire_free(s->end);
    fire_free(s->real);
    fire_free(s->base.path);
    fire_free(s);
}

static fire_status_t list_keys(level_source_t *s, leveldb_iterator_t *it)
{
    char *error = NULL;

    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it);
         leveldb_iter_next(it)) {
        size_t      n;
        const char *key = leveldb_iter_key(it, &n);

        FIRE_TRY(fire_str_add(&s->keys, key, n));
        FIRE_TRY(fire_grow(&s->end, &s->cap, s->base.count + 1, sizeof(*s->end)));
        s->end[s->base.count++] = s->keys.n;
    }
    leveldb_iter_get_error(it, &error);
    FIRE_TRY(check(error, s->base.path));
    if (s->base.count == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "LevelDB \"%s\" holds no records",
                         s->base.path);
    return FIRE_OK;
}

static fire_status_t open_db(level_source_t *s)
{
    leveldb_options_t  *options = leveldb_options_create();
    leveldb_iterator_t *it;
    char               *error = NULL;
    fire_status_t       st;

    leveldb_options_set_max_open_files(options, 100);
    /* else it drops damaged records silently */
    leveldb_options_set_paranoid_checks(options, 1);
    s->db = leveldb_open(options, s->base.path, &error);
    leveldb_options_destroy(options);
    FIRE_TRY(check(error, s->base.path));
    s->read = leveldb_readoptions_create();
    leveldb_readoptions_set_verify_checksums(s->read, 1);
    it = leveldb_create_iterator(s->db, s->read);
    st = list_keys(s, it);
    leveldb_iter_destroy(it);
    return st;
}

static fire_status_t create(const char *path, const char *real,
                            level_source_t **source_p)
{
    level_source_t *s;
    fire_status_t   st;

    FIRE_TRY(FIRE_NEW(&s, 1));
    s->base.ops = &fire_source_leveldb;
    FIRE_TRY_GOTO(st, fire_strdup(path, &s->base.path), err_source);
    FIRE_TRY_GOTO(st, fire_strdup(real, &s->real), err_source);
    FIRE_TRY_GOTO(st, open_db(s), err_source);
    *source_p = s;
    return FIRE_OK;

err_source:
    destroy(s);
    return st;
}

/* Share the open database of this path, or open it. Called with the lock. */
static fire_status_t find_or_create(const char *path, const char *real,
                                    level_source_t **source_p)
{
    level_source_t *s = open_ones;

    while (s != NULL && strcmp(s->real, real) != 0)
        s = s->next;
    if (s == NULL) {
        FIRE_TRY(create(path, real, &s));
        s->next   = open_ones;
        open_ones = s;
    }
    s->users++;
    *source_p = s;
    return FIRE_OK;
}

static fire_status_t level_open(const char *path, fire_source_t **source_p)
{
    char            real[PATH_MAX];
    level_source_t *s;
    fire_status_t   st;

    if (realpath(path, real) == NULL)
        return FIRE_FAIL(FIRE_ERR_IO, "cannot open LevelDB \"%s\": %s", path,
                         strerror(errno));
    pthread_mutex_lock(&lock);
    st = find_or_create(path, real, &s);
    pthread_mutex_unlock(&lock);
    if (st == FIRE_OK) *source_p = &s->base;
    return st;
}

static void level_close(fire_source_t *base)
{
    level_source_t *s = (level_source_t *)base, **at = &open_ones;

    pthread_mutex_lock(&lock);
    if (--s->users == 0) {
        while (*at != s)
            at = &(*at)->next;
        *at = s->next;
        destroy(s);
    }
    pthread_mutex_unlock(&lock);
}

/* Key i and its length. */
static const char *key_at(const level_source_t *s, int64_t i, size_t *n_p)
{
    int64_t first = i > 0 ? s->end[i - 1] : 0;

    *n_p = (size_t)(s->end[i] - first);
    return s->keys.text + first;
}

static fire_status_t level_read(fire_source_t *base, int64_t i, fire_buffer_t *b,
                                fire_record_t *record_p)
{
    level_source_t *s = (level_source_t *)base;
    size_t          nkey, n = 0;
    const char     *key   = key_at(s, i, &nkey);
    char           *error = NULL;
    char           *value = leveldb_get(s->db, s->read, key, nkey, &n, &error);
    fire_status_t   st;

    FIRE_TRY(check(error, base->path));
    if (value == NULL)
        return FIRE_FAIL(FIRE_ERR_IO,
                         "the record was deleted since the database was opened");
    st = fire_grow(&b->bytes, &b->cap, (int64_t)n, 1);
    if (st == FIRE_OK) {
        memcpy(b->bytes, value, n);
        *record_p = (fire_record_t){b->bytes, n};
    }
    leveldb_free(value);
    return st;
}

static void level_key(const fire_source_t *base, int64_t i, char text[FIRE_KEY_TEXT])
{
    size_t      n;
    const char *key = key_at((const level_source_t *)base, i, &n);

    fire_key_text(key, n, text);
}

const fire_source_ops_t fire_source_leveldb = {
    .name  = "LEVELDB",
    .mark  = "CURRENT",
    .open  = level_open,
    .close = level_close,
    .read  = level_read,
    .key   = level_key,
};
