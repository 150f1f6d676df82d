/* libraries.h - the libraries that this program uses, with their versions. */
#ifndef FIRE_RUNLOG_LIBRARIES_H
#define FIRE_RUNLOG_LIBRARIES_H
#include <stdbool.h>
#include <stddef.h>

/* Write name and version of the i-th one, "LMDB 0.9.24"; false when there are no more.
 * mpi: how the last one, MPI, is called, since this room does not know it; NULL or "":
 * it is not mentioned. */
bool fire_library_at(int i, const char *mpi, char *text, size_t size);
#endif
