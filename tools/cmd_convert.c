/* firecaffe convert - published data sets to databases that Data layers read. */
#include <stdio.h>
#include "command.h"
#include "console.h"
#include "data/convert.h"

typedef struct flags {
    const char *backend;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, backend, STRING, "lmdb", "NAME", "lmdb or leveldb"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

static void show(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    console_progress("Converting", done, total, "");
}

static const fire_progress_t progress = {show, NULL};

static fire_status_t mnist(int narg, const char *const *arg)
{
    (void)narg;
    FIRE_TRY(fire_convert_mnist(arg[0], arg[1], arg[2], flags.backend, &progress));
    console_progress_end();
    printf("wrote %s\n", arg[2]);
    return FIRE_OK;
}

const command_t command_convert_mnist = {
    .name      = "convert mnist",
    .arguments = "IMAGES LABELS DB",
    .summary   = "MNIST's files to a database",
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
