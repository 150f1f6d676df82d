/* append.h - files that grow while others read them: logs, traces. Added text is
 * collected and written with one write() at the end of the file. Whenever the program
 * is killed, a reader finds whole pieces, of which at most the last is cut off. One
 * thread at a time. */
#ifndef FIRE_BASE_TEXT_APPEND_H
#define FIRE_BASE_TEXT_APPEND_H
#include "base/text/json.h"

typedef struct fire_append fire_append_t;

/* Start a new file or, with `keep`, append to one that exists. If its last line was cut
 * off, a line break is added first. */
fire_status_t fire_append_open(const char *path, bool keep, fire_append_t **file_p);
/* Flushes and frees; NULL is allowed. */
fire_status_t fire_append_close(fire_append_t *file);

fire_status_t fire_append_add(fire_append_t *file, const void *bytes, size_t n);
fire_status_t fire_append_flush(fire_append_t *file);

/* Add the writer's text and then `end`. Empties the writer, even on failure. */
fire_status_t fire_append_json(fire_append_t *file, fire_json_writer_t *w,
                               const char *end);
#endif
