/* convert.h - data sets as they are published, to databases of Datums as Caffe's own
 * tools write them: same keys, same order, same bytes of pixels. */
#ifndef FIRE_DATA_CONVERT_H
#define FIRE_DATA_CONVERT_H
#include "base/error.h"

/* Called now and then (every thousand records or so) and at the end. */
typedef struct fire_progress {
    void (*report)(void *arg, int64_t done, int64_t total);
    void *arg;
} fire_progress_t;

/* MNIST's idx files, gzipped or not. `backend`: "lmdb" or "leveldb". `progress` may be
 * NULL everywhere. */
fire_status_t fire_convert_mnist(const char *images, const char *labels, const char *db,
                                 const char *backend, const fire_progress_t *progress);
#endif
