/* tune.h - a cache on disk of which of a library's algorithms was the fastest for a
 * problem: measured once, the same on every later run. One text file per GPU model and
 * library version, in $XDG_CACHE_HOME/firecaffe/tune or ~/.cache/firecaffe/tune:
 *
 *     firecaffe tune 1
 *     KEY CHOICE MILLISECONDS
 *
 * A cache that cannot be read or written costs a warning and time, never the run. */
#ifndef FIRE_DEVICE_TUNE_H
#define FIRE_DEVICE_TUNE_H
#include "base/error.h"

FIRE_BEGIN_C
typedef struct fire_tune fire_tune_t;

/* Read the file, if there is one. A damaged file is ignored with a warning, and
 * replaced by the next fire_tune_keep(). gpu, library: words that name the file */
fire_status_t fire_tune_open(const char *gpu, const char *library,
                             fire_tune_t **tune_p);
void          fire_tune_close(fire_tune_t *t); /* NULL is allowed */

/* Is there a choice for this problem? key: one word that describes it completely */
bool fire_tune_find(const fire_tune_t *t, const char *key, int *choice_p);
/* Remember a choice and write the file again, merged with what other processes have
 * added meanwhile. ms: what the choice took, for readers of the file */
fire_status_t fire_tune_keep(fire_tune_t *t, const char *key, int choice, double ms);
FIRE_END_C
#endif
