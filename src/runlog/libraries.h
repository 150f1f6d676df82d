/* libraries.h - the libraries that this program uses, with their versions. */
#ifndef FIRE_RUNLOG_LIBRARIES_H
#define FIRE_RUNLOG_LIBRARIES_H
#include <stdbool.h>
#include <stddef.h>

/* Name and version of the i-th, "LMDB 0.9.24"; false when there are no more. */
bool fire_library_at(int i, char *text, size_t size);
#endif
