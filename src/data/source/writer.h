/* writer.h - writes a new LMDB or LevelDB. It is built in a temporary directory next to
 * its final path and renamed at the end, so that a database is complete or absent. */
#ifndef FIRE_DATA_SOURCE_WRITER_H
#define FIRE_DATA_SOURCE_WRITER_H
#include "base/error.h"

/* A transaction is committed after so many records, or after so many bytes of them. */
enum { FIRE_COMMIT_EVERY = 1000, FIRE_COMMIT_BYTES = 1 << 26 };

typedef struct fire_writer fire_writer_t;

/* What a kind of database must implement (writer_lmdb.c, writer_leveldb.c). */
typedef struct fire_writer_ops {
    const char *name; /* "LMDB", "LEVELDB" */
    fire_status_t (*open)(const char *directory, fire_writer_t **writer_p);
    fire_status_t (*put)(fire_writer_t *w, const void *key, size_t nkey,
                         const void *value, size_t nvalue);
    fire_status_t (*finish)(fire_writer_t *w); /* flush everything to disk */
    void (*close)(fire_writer_t *w);
} fire_writer_ops_t;

struct fire_writer {
    const fire_writer_ops_t *ops;
    char                    *path, *temp; /* final path; directory being written */
    int64_t                  count;       /* records put so far */
};

/* Start a database. backend: "lmdb" or "leveldb", in any case. `path` must not exist
 * yet; missing folders above it are created. */
fire_status_t fire_writer_open(const char *backend, const char *path,
                               fire_writer_t **writer_p);
/* Append a record under a key of its own. */
fire_status_t fire_writer_put(fire_writer_t *w, const char *key, const void *value,
                              size_t nvalue);
/* commit() flushes and renames, abort() deletes; both end the writer. A commit that
 * fails deletes too. */
fire_status_t fire_writer_commit(fire_writer_t *w);
void          fire_writer_abort(fire_writer_t *w); /* NULL is allowed */
#endif
