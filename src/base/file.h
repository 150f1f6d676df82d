/* file.h - whole files in, whole files out. A file is replaced in one instant or
 * not at all: whoever looks finds the old contents or the new, never a part. */
#ifndef FIRE_BASE_FILE_H
#define FIRE_BASE_FILE_H
#include <glob.h>
#include "base/error.h"

/* The contents of a file, with a zero byte behind them that n does not count.
 * End *bytes_p with fire_free(). Pipes work too; a directory is an error. */
fire_status_t fire_file_read(const char *path, char **bytes_p, size_t *n_p);

/* The same for text. A zero byte in it, where it would seem to end, is an error. */
fire_status_t fire_file_read_text(const char *path, char **text_p);

/* Can it be read, and is it no directory? For libraries that open files themselves
 * and say less about what is wrong. */
fire_status_t fire_file_check(const char *path);

/* Write to PATH.tmp.PID, then commit() puts it in place of PATH. What is there
 * already and is no regular file (a pipe, /dev/stdout) is written to directly.
 * commit() and abort() both end the writer; after a failed commit nothing of
 * the new contents is left. */
typedef struct fire_file_writer fire_file_writer_t;

fire_status_t fire_file_writer_open(const char *path, fire_file_writer_t **writer_p);
fire_status_t fire_file_writer_write(fire_file_writer_t *w, const void *data, size_t n);
fire_status_t fire_file_writer_commit(fire_file_writer_t *w);
void          fire_file_writer_abort(fire_file_writer_t *w); /* NULL is allowed */

/* The three steps in one, for contents that lie in memory. */
fire_status_t fire_file_write(const char *path, const void *data, size_t n);

/* For libraries that insist on opening files themselves: a name to write to,
 * and the last step of a commit: sync it, rename it to PATH. If that fails, the
 * temporary file is removed. */
fire_status_t fire_file_temp_name(const char *path, char **temp_p);
fire_status_t fire_file_replace(const char *temp, const char *path);

/* Make a directory and those above it, where they are missing. */
fire_status_t fire_dir_make(const char *path);
/* Those above a file that is to be written. */
fire_status_t fire_dir_make_for(const char *path);

/* Files whose names begin with this text, as it is, and go on as glob()'s pattern says;
 * none is no failure. End with globfree(). */
fire_status_t fire_path_glob(const char *begin, const char *pattern, glob_t *found_p);

bool fire_path_has_suffix(const char *path, const char *suffix);
#endif
