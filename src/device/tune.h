/* tune.h - which of a library's plans was the fastest, kept on disk: measured once, the
 * same on every run after that. A text file for each GPU and version of the library lies
 * in firecaffe/tune of the user's cache (XDG_CACHE_HOME, or ~/.cache). */
#ifndef FIRE_DEVICE_TUNE_H
#define FIRE_DEVICE_TUNE_H
#include "base/error.h"

FIRE_BEGIN_C
typedef struct fire_tune fire_tune_t;

/* Read what is there. A file that is damaged is not used, with a warning, and replaced
 * when there is something to write. */
fire_status_t fire_tune_open(const char *gpu, const char *library,
                             fire_tune_t **tune_p);
void          fire_tune_close(fire_tune_t *t); /* NULL is allowed */

/* key: a word that describes the problem. */
bool fire_tune_find(const fire_tune_t *t, const char *key, int *choice_p);
/* Keep a choice and write it down, beside what others wrote meanwhile. Where that cannot
 * be, a warning: it will be measured again. */
fire_status_t fire_tune_keep(fire_tune_t *t, const char *key, int choice, double ms);
FIRE_END_C
#endif
