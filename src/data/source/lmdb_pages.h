/* lmdb_pages.h - is the tree of pages in an LMDB file whole? LMDB itself believes what it
 * reads: a wrong number in a damaged file ends the program. */
#ifndef FIRE_DATA_SOURCE_LMDB_PAGES_H
#define FIRE_DATA_SOURCE_LMDB_PAGES_H
#include "base/error.h"

/* Look at all pages that LMDB will read when it walks through the records of `path`, a
 * directory or a file. Pages that hold nothing but one long value are not looked at. Says
 * which record cannot be read. A file that cannot be opened, or that LMDB will see is
 * none of its own, passes: LMDB says so. */
fire_status_t fire_lmdb_check(const char *path);
#endif
