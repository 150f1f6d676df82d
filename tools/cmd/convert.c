/* firecaffe convert - converts published data sets to databases that Data layers read.
 * */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "command.h"
#include "view/console.h"
#include "data/convert/convert.h"
#include "stop.h"

typedef struct flags {
    const char *backend, *encode_type;
    bool        gray, shuffle, check_size, encoded, check_label;
    const char *label_map_file, *anno_type, *label_type;
    int64_t     resize_width, resize_height, seed;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION_OF(flags_t, backend, STRING, "lmdb", "NAME", "lmdb leveldb",
                   "kind of database: lmdb or leveldb"),
    {0},
};
static const fire_option_t imageset_options[] = {
    FIRE_OPTION_OF(flags_t, backend, STRING, "lmdb", "NAME", "lmdb leveldb",
                   "kind of database: lmdb or leveldb"),
    FIRE_OPTION(flags_t, gray, BOOL, "false", NULL, "read images as grayscale"),
    FIRE_OPTION(flags_t, shuffle, BOOL, "false", NULL, "store images in random order"),
    FIRE_OPTION(flags_t, seed, INT, "1", "N", "seed of the random order"),
    FIRE_OPTION(flags_t, resize_width, INT, "0", "N",
                "resize to N pixels; 0: keep the width"),
    FIRE_OPTION(flags_t, resize_height, INT, "0", "N",
                "resize to N pixels; 0: keep the height"),
    FIRE_OPTION(flags_t, check_size, BOOL, "false", NULL,
                "fail if an image differs in size from the first"),
    FIRE_OPTION(flags_t, encoded, BOOL, "false", NULL, "store the compressed files"),
    FIRE_OPTION_OF(flags_t, encode_type, STRING, "", "TYPE", "png jpg",
                   "store images compressed as png or jpg"),
    {0},
};
static const fire_option_t annoset_options[] = {
    FIRE_OPTION_OF(flags_t, backend, STRING, "lmdb", "NAME", "lmdb leveldb",
                   "kind of database: lmdb or leveldb"),
    FIRE_OPTION(flags_t, label_map_file, PATH, "", "FILE",
                "names and numbers of the classes, as labelmap_voc.prototxt"),
    FIRE_OPTION(flags_t, check_label, BOOL, "false", NULL,
                "fail if two classes have one name or number"),
    FIRE_OPTION_OF(flags_t, anno_type, STRING, "detection", "TYPE", "detection",
                   "what is annotated: detection, boxes around objects"),
    FIRE_OPTION_OF(flags_t, label_type, STRING, "xml", "TYPE", "xml",
                   "form of the annotations: xml, that of PASCAL VOC"),
    FIRE_OPTION(flags_t, shuffle, BOOL, "false", NULL, "store images in random order"),
    FIRE_OPTION(flags_t, seed, INT, "1", "N", "seed of the random order"),
    FIRE_OPTION(flags_t, resize_width, INT, "0", "N",
                "resize to N pixels; 0: keep the width"),
    FIRE_OPTION(flags_t, resize_height, INT, "0", "N",
                "resize to N pixels; 0: keep the height"),
    FIRE_OPTION(flags_t, encoded, BOOL, "true", NULL,
                "store the compressed files, as is always done"),
    FIRE_OPTION_OF(flags_t, encode_type, STRING, "", "TYPE", "png jpg",
                   "store images compressed as png or jpg"),
    {0},
};
static const fire_option_group_t annoset_groups[] = {{"Flags", annoset_options, &flags},
                                                     {0}};
static const fire_option_group_t groups[]         = {{"Flags", options, &flags}, {0}};
static const fire_option_group_t imageset_groups[] = {
    {"Flags", imageset_options, &flags}, {0}};

static fire_status_t show(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    console_progress("Converting", done, total, "");
    if (stop_asked)
        return FIRE_FAIL(FIRE_ERR_STOPPED,
                         "stopped on request after %lld of %lld records; the "
                         "incomplete database is removed",
                         (long long)done, (long long)total);
    return FIRE_OK;
}

/* A database that is not complete can be many gigabytes and is of no use: after a
 * signal it is removed. A second signal ends the program immediately. */
static const fire_progress_t *progress(void)
{
    static const fire_progress_t shown = {show, NULL};

    stop_on(SIGINT, SA_RESTART | (int)SA_RESETHAND);
    stop_on(SIGTERM, SA_RESTART | (int)SA_RESETHAND);
    return &shown;
}

static fire_status_t wrote(fire_status_t st, const char *path)
{
    console_progress_end();
    if (st >= 0) printf("wrote %s\n", path);
    return st;
}

static fire_status_t mnist(int narg, const char *const *arg)
{
    (void)narg;
    return wrote(fire_convert_mnist(arg[0], arg[1], arg[2], flags.backend, progress()),
                 arg[2]);
}

const command_t command_convert_mnist = {
    .name      = "convert mnist",
    .arguments = "IMAGES LABELS DB",
    .summary   = "convert MNIST's files to a database",
    .help = "Reads the two files of MNIST's training or test set, gzipped or not, and\n"
            "writes a new database. DB must not exist yet.\n"
            "\n"
            "Example:\n"
            "  firecaffe convert mnist data/mnist/train-images-idx3-ubyte.gz \\\n"
            "      data/mnist/train-labels-idx1-ubyte.gz mnist_train_lmdb\n",
    .groups   = groups,
    .min_args = 3,
    .max_args = 3,
    .run      = mnist,
};

static fire_status_t siamese(int narg, const char *const *arg)
{
    (void)narg;
    return wrote(fire_convert_mnist_siamese(arg[0], arg[1], 1, arg[2], flags.backend,
                                            progress()),
                 arg[2]);
}

const command_t command_convert_siamese = {
    .name      = "convert siamese",
    .arguments = "IMAGES LABELS DB",
    .summary   = "convert pairs of MNIST images to a database",
    .help      = "Reads the same files as `convert mnist`. Each record has two random\n"
                 "images, and the label 1 if they show the same digit, 0 if not.\n"
                 "\n"
                 "Example:\n"
                 "  firecaffe convert siamese data/mnist/train-images-idx3-ubyte.gz \\\n"
                 "      data/mnist/train-labels-idx1-ubyte.gz siamese_train_lmdb\n",
    .groups    = groups,
    .min_args  = 3,
    .max_args  = 3,
    .run       = siamese,
};

static fire_status_t cifar10(int narg, const char *const *arg)
{
    const char *backend = narg > 2 ? arg[2] : flags.backend;

    return wrote(fire_convert_cifar10(arg[0], arg[1], backend, progress()), arg[1]);
}

const command_t command_convert_cifar10 = {
    .name      = "convert cifar10",
    .arguments = "FOLDER OUT [BACKEND]",
    .summary   = "convert CIFAR-10's files to two databases",
    .help = "Reads data_batch_1.bin ... 5.bin and test_batch.bin in FOLDER and writes\n"
            "OUT/cifar10_train_lmdb and OUT/cifar10_test_lmdb.\n"
            "\n"
            "Example:\n"
            "  firecaffe convert cifar10 data/cifar10 examples/cifar10\n",
    .groups   = groups,
    .min_args = 2,
    .max_args = 3,
    .run      = cifar10,
};

static fire_status_t imageset(int narg, const char *const *arg)
{
    fire_imageset_options_t o = FIRE_IMAGESET_OPTIONS_INIT;

    (void)narg;
    o.root        = arg[0];
    o.height      = (int)flags.resize_height;
    o.width       = (int)flags.resize_width;
    o.gray        = flags.gray;
    o.shuffle     = flags.shuffle;
    o.seed        = (uint64_t)flags.seed;
    o.check_size  = flags.check_size;
    o.encoded     = flags.encoded;
    o.encode_type = flags.encode_type;
    return wrote(fire_convert_imageset(&o, arg[1], arg[2], flags.backend, progress()),
                 arg[2]);
}

const command_t command_convert_imageset = {
    .name      = "convert imageset",
    .arguments = "ROOT/ LIST DB",
    .summary   = "convert image files to a database",
    .help     = "LIST has a line per image: its path below ROOT/, a space, its label.\n"
                "Images that cannot be read are skipped with a warning. Channels are\n"
                "stored as blue, green, red, as Caffe does.\n"
                "\n"
                "Examples:\n"
                "  firecaffe convert imageset photos/ train.txt train_lmdb --shuffle \\\n"
                "      --resize_height=256 --resize_width=256\n"
                "  firecaffe convert imageset photos/ val.txt val_lmdb --encoded\n",
    .groups   = imageset_groups,
    .min_args = 3,
    .max_args = 3,
    .run      = imageset,
};

static fire_status_t annoset(int narg, const char *const *arg)
{
    fire_annoset_options_t o = FIRE_ANNOSET_OPTIONS_INIT;

    (void)narg;
    if (flags.label_map_file[0] == '\0')
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "convert annoset needs --label_map_file FILE, the names of the "
            "classes");
    if (strcmp(flags.anno_type, "detection") != 0 ||
        strcmp(flags.label_type, "xml") != 0)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "--anno_type is detection and --label_type xml; `convert "
                         "imageset` takes images with one label each");
    o.root        = arg[0];
    o.label_map   = flags.label_map_file;
    o.check_label = flags.check_label;
    o.height      = (int)flags.resize_height;
    o.width       = (int)flags.resize_width;
    o.shuffle     = flags.shuffle;
    o.seed        = (uint64_t)flags.seed;
    o.encode_type = flags.encode_type;
    return wrote(fire_convert_annoset(&o, arg[1], arg[2], flags.backend, progress()),
                 arg[2]);
}

const command_t command_convert_annoset = {
    .name      = "convert annoset",
    .arguments = "ROOT LIST DB",
    .summary   = "convert images with boxes to a database",
    .help     = "For AnnotatedData. LIST has a line per image: its path below ROOT, a\n"
                "space, the path of its annotation in PASCAL VOC's XML. The label map\n"
                "gives each class its number; 0 is the background.\n"
                "\n"
                "Example:\n"
                "  firecaffe convert annoset VOCdevkit trainval.txt voc_lmdb \\\n"
                "      --label_map_file labelmap_voc.prototxt --check_label\n",
    .groups   = annoset_groups,
    .min_args = 3,
    .max_args = 3,
    .run      = annoset,
};

static fire_status_t image_sizes(int narg, const char *const *arg)
{
    (void)narg;
    return wrote(fire_convert_image_sizes(arg[0], arg[1], arg[2]), arg[2]);
}

const command_t command_image_sizes = {
    .name      = "image-sizes",
    .arguments = "ROOT LIST FILE",
    .summary   = "write the sizes of images to a file",
    .help = "LIST is that of `convert annoset`. FILE gets a line per image: its name\n"
            "without folder and ending, its height, its width, as DetectionOutput's\n"
            "name_size_file and DetectionEvaluate want it.\n"
            "\n"
            "Example:\n"
            "  firecaffe image-sizes VOCdevkit test.txt test_name_size.txt\n",
    .min_args = 3,
    .max_args = 3,
    .run      = image_sizes,
};
