/* convert.h - turns data sets as they are published into LMDB or LevelDB databases of
 * Datums. Keys, order and bytes of pixels are those of Caffe's own tools
 * (convert_mnist_data, convert_cifar_data, convert_imageset).
 *
 * A database appears under its name only when it is complete; after an error nothing is
 * left. */
#ifndef FIRE_DATA_CONVERT_CONVERT_H
#define FIRE_DATA_CONVERT_CONVERT_H
#include "base/error.h"

/* Progress reports. report(arg, done, total) is called after every hundred records or
 * so and at the end; an error that it returns ends the work and is returned. */
typedef struct fire_progress {
    fire_status_t (*report)(void *arg, int64_t done, int64_t total);
    void *arg;
} fire_progress_t;

/* Convert MNIST's idx files `images` and `labels`, gzipped or not, to the database
 * `db`. `backend`: "lmdb" or "leveldb". `progress` may be NULL here and below. */
fire_status_t fire_convert_mnist(const char *images, const char *labels, const char *db,
                                 const char *backend, const fire_progress_t *progress);

/* Write as many pairs of random MNIST images as there are images, one image per
 * channel; the label is 1 if both show the same digit, else 0. For siamese nets. */
fire_status_t fire_convert_mnist_siamese(const char *images, const char *labels,
                                         uint64_t seed, const char *db,
                                         const char            *backend,
                                         const fire_progress_t *progress);

/* Convert CIFAR-10's data_batch_1 ... 5.bin and test_batch.bin in `folder` to the
 * databases out/cifar10_train_BACKEND and out/cifar10_test_BACKEND. */
fire_status_t fire_convert_cifar10(const char *folder, const char *out,
                                   const char            *backend,
                                   const fire_progress_t *progress);

/* The options of convert_imageset. Initialise with FIRE_IMAGESET_OPTIONS_INIT. */
typedef struct fire_imageset_options {
    const char *root;          /* put before every path without a separator; "" */
    int         height, width; /* resize to this size; 0: keep it */
    bool        gray;          /* decode to one channel instead of BGR */
    bool        shuffle;       /* write the lines in random order */
    uint64_t    seed;          /* of that order */
    bool        check_size;    /* fail unless all have as many bytes as the first */
    bool        encoded;       /* store compressed files, not raw pixels */
    const char *encode_type;   /* "png", "jpg": re-encode; "": as the file */
} fire_imageset_options_t;

#define FIRE_IMAGESET_OPTIONS_INIT \
    ((fire_imageset_options_t){.root = "", .encode_type = "", .seed = 1})

/* Convert the images of a list file (image_list.h) to the database `db`. Keys are
 * LINE_PATH with LINE of 8 digits. An image that cannot be read is skipped with a
 * warning. */
fire_status_t fire_convert_imageset(const fire_imageset_options_t *options,
                                    const char *list, const char *db,
                                    const char            *backend,
                                    const fire_progress_t *progress);

/* The options of convert_annoset. */
typedef struct fire_annoset_options {
    const char *root;          /* put before every path, with a / */
    const char *label_map;     /* file with the classes' names and numbers */
    bool        check_label;   /* fail if two of them have one name or number */
    int         height, width; /* resize to this size; 0: keep it */
    bool        shuffle;       /* write the lines in random order */
    uint64_t    seed;          /* of that order */
    const char *encode_type;   /* "png", "jpg": re-encode; "": as the file */
} fire_annoset_options_t;

#define FIRE_ANNOSET_OPTIONS_INIT \
    ((fire_annoset_options_t){.root = "", .encode_type = "", .seed = 1})

/* Convert images with annotations in VOC's XML to the database `db` for AnnotatedData.
 * A line of `list` names an image and its annotation. Images are stored compressed.
 * Keys are LINE_PATH with LINE of 8 digits. */
fire_status_t fire_convert_annoset(const fire_annoset_options_t *options,
                                   const char *list, const char *db,
                                   const char            *backend,
                                   const fire_progress_t *progress);
/* Write a line "NAME HEIGHT WIDTH" per image of such a list to `file`. */
fire_status_t fire_convert_image_sizes(const char *root, const char *list,
                                       const char *file);
#endif
