/* writer.h - makes a new LMDB or LevelDB. It grows beside its final place and moves
 * there at the end: a data set is whole or not there. */
#ifndef FIRE_DATA_SOURCE_WRITER_H
#define FIRE_DATA_SOURCE_WRITER_H
#include "base/error.h"

/* Records per transaction, and the bytes after which it is made earlier. */
enum { FIRE_COMMIT_EVERY = 1000, FIRE_COMMIT_BYTES = 1 << 26 };

typedef struct fire_writer fire_writer_t;

typedef struct fire_writer_ops {
    const char *name; /* "LMDB", "LEVELDB" */
    fire_status_t (*open)(const char *directory, fire_writer_t **writer_p);
    fire_status_t (*put)(fire_writer_t *w, const void *key, size_t nkey,
                         const void *value, size_t nvalue);
    fire_status_t (*finish)(fire_writer_t *w); /* all that was put is on disk */
    void (*close)(fire_writer_t *w);
} fire_writer_ops_t;

struct fire_writer {
    const fire_writer_ops_t *ops;
    char                    *path, *temp;
    int64_t                  count; /* records put so far */
};

/* backend: "lmdb" or "leveldb", in any case. `path` must not exist yet; the folders
 * above it are made if they are missing. */
fire_status_t fire_writer_open(const char *backend, const char *path,
                               fire_writer_t **writer_p);
fire_status_t fire_writer_put(fire_writer_t *w, const char *key, const void *value,
                              size_t nvalue);
/* Both end the writer; after abort or a failed commit nothing is left behind. */
fire_status_t fire_writer_commit(fire_writer_t *w);
void          fire_writer_abort(fire_writer_t *w); /* NULL is allowed */
#endif
