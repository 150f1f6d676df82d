/* firecaffe mean - computes the mean image of a database, as compute_image_mean does.
 * */
#include "base/log.h"
#include "command.h"
#include "view/console.h"
#include "data/picture/mean.h"

typedef struct flags {
    const char *backend;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION_OF(flags_t, backend, STRING, "lmdb", "NAME", "lmdb leveldb",
                   "kind of database: lmdb or leveldb"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

static fire_status_t show(void *arg, int64_t done, int64_t total)
{
    (void)arg;
    console_progress("Adding", done, total, "");
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    const fire_progress_t progress = {show, NULL};
    fire_mean_t           mean;
    fire_status_t         st = FIRE_OK;

    FIRE_TRY(fire_mean_compute(arg[0], flags.backend, &progress, &mean));
    console_progress_end();
    if (narg > 1) {
        FIRE_LOG(INFO, "Write to %s", arg[1]);
        st = fire_mean_save(&mean, arg[1]);
    }
    FIRE_LOG(INFO, "Number of channels: %d", mean.extent.channels);
    for (int c = 0; c < mean.extent.channels; c++)
        FIRE_LOG(INFO, "mean_value channel [%d]: %g", c, (double)mean.channel[c]);
    fire_mean_fini(&mean);
    return st;
}

const command_t command_mean = {
    .name      = "mean",
    .arguments = "DB [OUT]",
    .summary   = "compute the mean image of a database",
    .help   = "Logs the mean of every channel (for transform_param's mean_value) and\n"
              "writes the mean image to OUT (for its mean_file).\n"
              "\n"
              "Example:\n"
              "  firecaffe mean train_lmdb mean.binaryproto\n",
    .groups = groups,
    .min_args = 1,
    .max_args = 2,
    .run      = run,
};
