/* convert.h - data sets as they are published, to databases of Datums as Caffe's own
 * tools write them: same keys, same order, same bytes of pixels. */
#ifndef FIRE_DATA_CONVERT_CONVERT_H
#define FIRE_DATA_CONVERT_CONVERT_H
#include "base/error.h"

/* Called now and then (every hundred records or so) and at the end; an error that it
 * returns ends the work. */
typedef struct fire_progress {
    fire_status_t (*report)(void *arg, int64_t done, int64_t total);
    void *arg;
} fire_progress_t;

/* MNIST's idx files, gzipped or not. `backend`: "lmdb" or "leveldb". `progress` may be
 * NULL everywhere. */
fire_status_t fire_convert_mnist(const char *images, const char *labels, const char *db,
                                 const char *backend, const fire_progress_t *progress);

/* Pairs of random MNIST images in two channels, label 1 if they show the same digit. */
fire_status_t fire_convert_mnist_siamese(const char *images, const char *labels,
                                         uint64_t seed, const char *db,
                                         const char            *backend,
                                         const fire_progress_t *progress);

/* CIFAR-10's data_batch_1 ... 5.bin and test_batch.bin, found in `folder`, to
 * out/cifar10_train_BACKEND and out/cifar10_test_BACKEND. */
fire_status_t fire_convert_cifar10(const char *folder, const char *out,
                                   const char            *backend,
                                   const fire_progress_t *progress);

typedef struct fire_imageset_options {
    const char *root;          /* put before every path, as it is; "" */
    int         height, width; /* resize to; 0: not */
    bool        gray;
    bool        shuffle;
    uint64_t    seed;
    bool        check_size;  /* all records must have as many bytes as the first */
    bool        encoded;     /* keep files compressed */
    const char *encode_type; /* "png", "jpg"...: store as this; "": as they are */
} fire_imageset_options_t;

#define FIRE_IMAGESET_OPTIONS_INIT \
    ((fire_imageset_options_t){.root = "", .encode_type = "", .seed = 1})

/* `list`: see data/image_list.h. Keys are %08d_path. */
fire_status_t fire_convert_imageset(const fire_imageset_options_t *options,
                                    const char *list, const char *db,
                                    const char            *backend,
                                    const fire_progress_t *progress);
#endif
