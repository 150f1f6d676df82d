/* unzip.h - files that may be compressed. */
#ifndef FIRE_DATA_CONVERT_UNZIP_H
#define FIRE_DATA_CONVERT_UNZIP_H
#include "base/error.h"

/* The contents of a file, unpacked if it is a gzip file. End *bytes_p with
 * fire_free(). */
fire_status_t fire_unzip_file(const char *path, char **bytes_p, size_t *n_p);
#endif
