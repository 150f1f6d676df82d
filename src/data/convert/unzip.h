/* unzip.h - reads files that may be gzipped. */
#ifndef FIRE_DATA_CONVERT_UNZIP_H
#define FIRE_DATA_CONVERT_UNZIP_H
#include "base/error.h"

/* Read the file `path` and unpack it if it begins like a gzip file. End *bytes_p with
 * fire_free(). A gzip file in a build without zlib is an error. */
fire_status_t fire_unzip_file(const char *path, char **bytes_p, size_t *n_p);
#endif
