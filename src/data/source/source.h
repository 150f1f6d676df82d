/* source.h - records by number. A data set is opened once; then any number of
 * threads read any records in any order, so that a worker touches its own only.
 *
 * Records are counted in the order of their keys, which is Caffe's order. */
#ifndef FIRE_DATA_SOURCE_SOURCE_H
#define FIRE_DATA_SOURCE_SOURCE_H
#include "base/error.h"

enum { FIRE_KEY_TEXT = 96 }; /* room for a key in a message */

typedef struct fire_record {
    const uint8_t *bytes;
    size_t         n;
} fire_record_t;

/* Memory that a reading thread brings along and keeps: it grows to the largest record
 * and is then used again and again. All zero is an empty one. */
typedef struct fire_buffer {
    uint8_t *bytes;
    int64_t  cap;
} fire_buffer_t;

void fire_buffer_fini(fire_buffer_t *b);

typedef struct fire_source fire_source_t;

typedef struct fire_source_ops {
    const char *name; /* as data_param.backend spells it */
    const char *mark; /* file that tells such a data set from others */
    fire_status_t (*open)(const char *path, fire_source_t **source_p);
    void (*close)(fire_source_t *s);
    fire_status_t (*read)(fire_source_t *s, int64_t i, fire_buffer_t *b,
                          fire_record_t *record_p);
    void (*key)(const fire_source_t *s, int64_t i, char text[FIRE_KEY_TEXT]);
} fire_source_ops_t;

struct fire_source {
    const fire_source_ops_t *ops;
    char                    *path;
    int64_t                  count; /* at least 1 */
};

/* backend: "LMDB" or "LEVELDB". An empty data set is an error. */
fire_status_t fire_source_open(const char *backend, const char *path,
                               fire_source_t **source_p);
void          fire_source_close(fire_source_t *s); /* NULL is allowed */

/* Record i; its bytes stay valid until the next read with the same buffer. */
fire_status_t fire_source_read(fire_source_t *s, int64_t i, fire_buffer_t *b,
                               fire_record_t *record_p);

/* Put "file, record KEY: " before the recorded cause. */
fire_status_t fire_source_error_prefix(const fire_source_t *s, int64_t i,
                                       fire_status_t st);

/* For implementations: a key as text that fits into a message. */
void fire_key_text(const void *key, size_t n, char text[FIRE_KEY_TEXT]);
#endif
