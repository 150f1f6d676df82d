/* source.h - a database whose records are read by number.
 *
 * A source is opened once; then any number of threads read any records in any order. A
 * worker reads only the records of its own lanes and never scans past others'. Records
 * are numbered in the order of their keys, which is the order in which Caffe reads
 * them.
 *
 * One file per kind of database implements fire_source_ops_t: lmdb.c and leveldb.c
 * here, data/store.c for records kept in memory. sources.def lists those that can be
 * opened. */
#ifndef FIRE_DATA_SOURCE_SOURCE_H
#define FIRE_DATA_SOURCE_SOURCE_H
#include "base/error.h"

enum { FIRE_KEY_TEXT = 96 }; /* room for a key as text, in a message */

/* The bytes of one record; they belong to the source or to the buffer given to
 * read(). */
typedef struct fire_record {
    const uint8_t *bytes;
    size_t         n;
} fire_record_t;

/* A buffer that one thread passes to every read: it grows to the largest record and is
 * then used again. {0} is a valid empty one. */
typedef struct fire_buffer {
    uint8_t *bytes;
    int64_t  cap; /* bytes allocated */
} fire_buffer_t;

void fire_buffer_fini(fire_buffer_t *b);

typedef struct fire_source fire_source_t;

/* What a kind of database must implement. read() and key() are called by several
 * threads at once. */
typedef struct fire_source_ops {
    const char *name; /* "LMDB", "LEVELDB": as data_param.backend has it */
    const char *mark; /* a file that every directory of this kind has */
    fire_status_t (*open)(const char *path, fire_source_t **source_p);
    void (*close)(fire_source_t *s);
    fire_status_t (*read)(fire_source_t *s, int64_t i, fire_buffer_t *b,
                          fire_record_t *record_p);
    void (*key)(const fire_source_t *s, int64_t i, char text[FIRE_KEY_TEXT]);
} fire_source_ops_t;

struct fire_source {
    const fire_source_ops_t *ops;
    char                    *path;
    int64_t                  count; /* number of records, at least 1 */
};

/* Open the database at `path`. backend: "LMDB" or "LEVELDB", in any case. Fails if the
 * database is empty, is of another kind, or the build lacks this one. */
fire_status_t fire_source_open(const char *backend, const char *path,
                               fire_source_t **source_p);
void          fire_source_close(fire_source_t *s); /* NULL is allowed */

/* Read record i. Its bytes stay valid until the next read with the same buffer, or
 * until the source is closed. */
fire_status_t fire_source_read(fire_source_t *s, int64_t i, fire_buffer_t *b,
                               fire_record_t *record_p);

/* Put "PATH, record KEY: " before the message of the error st; returns st. */
fire_status_t fire_source_error_prefix(const fire_source_t *s, int64_t i,
                                       fire_status_t st);

/* For implementations: copy a key to `text`, cut to fit and with '?' for bytes that
 * cannot be printed. */
void fire_key_text(const void *key, size_t n, char text[FIRE_KEY_TEXT]);
#endif
