/* append.h - files that grow while others read them: logs, traces. What is added
 * is collected and leaves in one write() at the end of the file, so that whatever
 * kills the program, a reader finds whole pieces, at most the last one cut off. */
#ifndef FIRE_BASE_TEXT_APPEND_H
#define FIRE_BASE_TEXT_APPEND_H
#include "base/text/json.h"

typedef struct fire_append fire_append_t;

/* Start a new file or, with `keep`, go on with one that is there; a last line that
 * was cut off is ended then, so that the next begins where a line should. */
fire_status_t fire_append_open(const char *path, bool keep, fire_append_t **file_p);
/* Flushes; NULL is allowed. */
fire_status_t fire_append_close(fire_append_t *file);

fire_status_t fire_append_add(fire_append_t *file, const void *bytes, size_t n);
fire_status_t fire_append_flush(fire_append_t *file);

/* Add what the writer holds and `end`; the writer is empty then, also on failure. */
fire_status_t fire_append_json(fire_append_t *file, fire_json_writer_t *w,
                               const char *end);
#endif
