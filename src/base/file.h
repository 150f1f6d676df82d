/* file.h - whole files in, whole files out. A file is replaced atomically: readers find
 * the old contents or the new, never a part, even after a power failure. */
#ifndef FIRE_BASE_FILE_H
#define FIRE_BASE_FILE_H
#include <glob.h>
#include "base/error.h"

/* Read a file. *bytes_p gets its *n_p bytes and a zero byte after them; free it with
 * fire_free(). Pipes work too; a directory is an error. Where a relative path names
 * nothing, a file of that path in share/firecaffe of the installation is read instead
 * (base/installed.h): "models/lenet/train_val.prototxt" works from any directory. */
fire_status_t fire_file_read(const char *path, char **bytes_p, size_t *n_p);

/* Read a text. A zero byte in it is an error. */
fire_status_t fire_file_read_text(const char *path, char **text_p);

/* Fail, with a good message, if it cannot be read or is a directory: for files that
 * other libraries open, whose messages say less. */
fire_status_t fire_file_check(const char *path);
/* The same for a file that fire_file_read() will read, which may be an installed one. */
fire_status_t fire_file_check_or_installed(const char *path);

/* Writes to PATH.tmp.PID; commit() syncs that file and renames it to PATH. If PATH
 * exists and is no regular file (a pipe, /dev/stdout), writes go there directly.
 * commit() and abort() both free the writer; after a failed commit PATH has its old
 * contents. */
typedef struct fire_file_writer fire_file_writer_t;

fire_status_t fire_file_writer_open(const char *path, fire_file_writer_t **writer_p);
fire_status_t fire_file_writer_write(fire_file_writer_t *w, const void *data, size_t n);
/* Call before anything is written: commit() adds a checksum of everything
 * (base/seal.h). */
void          fire_file_writer_seal(fire_file_writer_t *w);
fire_status_t fire_file_writer_commit(fire_file_writer_t *w);
void          fire_file_writer_abort(fire_file_writer_t *w); /* NULL is allowed */

/* open, write, commit: for contents that are in memory. */
fire_status_t fire_file_write(const char *path, const void *data, size_t n);
fire_status_t fire_file_write_sealed(const char *path, const void *data, size_t n);

/* For libraries that open files themselves: a name to write to, and the last step of a
 * commit: sync `temp` and rename it to `path`. If that fails, `temp` is removed. */
fire_status_t fire_file_temp_name(const char *path, char **temp_p);
fire_status_t fire_file_replace(const char *temp, const char *path);

/* Make an empty file and remove it: fails if files cannot be written there. *now_p: the
 * time by the clock of that file system, which may be another machine's. What was at
 * `path` before is removed. */
fire_status_t fire_file_probe(const char *path, double *now_p);

/* Make a directory, and its parents where they are missing, as mkdir -p. */
fire_status_t fire_dir_make(const char *path);
/* Make the directory of a file that will be written. */
fire_status_t fire_dir_make_for(const char *path);

/* Find files whose paths begin with the text `begin`, taken literally, and continue
 * with the glob() pattern; finding none is no failure. Free with globfree(). */
fire_status_t fire_path_glob(const char *begin, const char *pattern, glob_t *found_p);

bool fire_path_has_suffix(const char *path, const char *suffix);
#endif
