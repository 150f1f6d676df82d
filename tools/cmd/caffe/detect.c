/* firecaffe detect - scores of a net for windows of images, as Caffe's detect.py. */
#include <stdio.h>
#include <string.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "command.h"
#include "data/picture/detections.h"
#include "data/picture/proposals.h"
#include "flags/image.h"
#include "flags/net.h"

enum { MIN_SIDE = 16, MAX_PAD = 1024 };

typedef struct flags {
    const char *crop_mode;
    int64_t     context_pad;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION_OF(
        flags_t, crop_mode, STRING, "selective_search", "MODE", "list selective_search",
        "where windows come from: list (INPUT is a .csv) or selective_search "
        "(INPUT is a .txt)"),
    FIRE_OPTION(flags_t, context_pad, INT, "16", "N",
                "pixels of the net's input that show the surroundings of a window"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net and images", image_options, &image_flags},
    {"How it runs", how_options, &net_flags},
    {0},
};

/* ---- windows ---- */

static fire_status_t propose(const char *path, fire_detections_t *d)
{
    fire_picture_t picture;
    fire_rect_t   *rect;
    int64_t        n;
    fire_status_t  st;

    FIRE_TRY(fire_picture_load(path, 3, &picture));
    st = fire_proposals_find(&picture, MIN_SIDE, &rect, &n);
    fire_picture_fini(&picture);
    FIRE_TRY(st);
    st = fire_grow(&d->row, &d->cap, d->n + n, sizeof(*d->row));
    for (int64_t i = 0; i < n && st >= 0; i++)
        d->row[d->n++] = (fire_detection_t){path, rect[i]};
    fire_free(rect);
    return st;
}

/* A line of the list is the path of an image. */
static fire_status_t search(const char *list, fire_detections_t *d)
{
    char *line, *rest;

    FIRE_TRY(fire_file_read_text(list, &d->text));
    for (line = strtok_r(d->text, "\r\n", &rest); line != NULL;
         line = strtok_r(NULL, "\r\n", &rest)) {
        char *end = line + strlen(line);

        line += strspn(line, " \t");
        while (end > line && strchr(" \t", end[-1]) != NULL)
            *--end = '\0';
        if (line[0] != '\0') FIRE_TRY(propose(line, d));
    }
    return FIRE_OK;
}

static fire_status_t find_windows(const char *input, fire_detections_t *d)
{
    bool list = strcmp(flags.crop_mode, "list") == 0;

    if (!list && strcmp(flags.crop_mode, "selective_search") != 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--crop_mode is list or selective_search, not \"%s\"",
                         flags.crop_mode);
    if (list && fire_path_has_suffix(input, ".csv"))
        return fire_detections_load(input, d);
    if (!list && fire_path_has_suffix(input, ".txt")) return search(input, d);
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "%s: --crop_mode %s needs a %s; windows in a .csv go with "
                     "--crop_mode list, images in a .txt with selective_search",
                     input, flags.crop_mode, list ? ".csv" : ".txt");
}

/* ---- scores ---- */

static fire_status_t score_window(fire_image_net_t *n, const fire_picture_t *picture,
                                  const fire_detection_t *row)
{
    fire_picture_t crop;
    fire_status_t  st = fire_prepare_window(&n->prepare, picture, row->window,
                                            (int)flags.context_pad, &crop);

    if (st < 0) return fire_error_prefix(st, "%s", row->file);
    st = fire_image_net_add(n, &crop);
    fire_picture_fini(&crop);
    return st;
}

static fire_status_t score_all(fire_image_net_t *n, const fire_detections_t *d)
{
    fire_picture_t picture = {0};
    fire_status_t  st      = FIRE_OK;

    for (int64_t i = 0; i < d->n && st >= 0; i++) {
        if (i == 0 || strcmp(d->row[i].file, d->row[i - 1].file) != 0) {
            fire_picture_fini(&picture);
            st = fire_picture_load(d->row[i].file, n->prepare.input.channels, &picture);
        }
        if (st >= 0) st = score_window(n, &picture, &d->row[i]);
    }
    fire_picture_fini(&picture);
    return st >= 0 ? fire_image_net_finish(n) : st;
}

static fire_status_t detect(const char *input, fire_image_net_t *n,
                            fire_detections_t *d)
{
    double began = fire_clock_now();

    FIRE_TRY(find_windows(input, d));
    if (d->n == 0) return FIRE_FAIL(FIRE_ERR_INVALID, "%s: holds no windows", input);
    FIRE_TRY(score_all(n, d));
    printf("Processed %lld windows in %.3f s.\n", (long long)d->n,
           fire_clock_now() - began);
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_detections_t d = {0};
    fire_image_net_t  n;
    fire_status_t     st;

    (void)narg;
    if (flags.context_pad < 0 || flags.context_pad > MAX_PAD)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--context_pad must be 0 to %d", MAX_PAD);
    FIRE_TRY(image_flags_open(true, &n));
    st = detect(arg[0], &n, &d);
    if (st >= 0) st = fire_detections_save(arg[1], &d, n.classes, n.score);
    if (st >= 0) printf("Saved to %s\n", arg[1]);
    fire_detections_fini(&d);
    image_flags_close(&n);
    return st;
}

const command_t command_detect = {
    .name      = "detect",
    .arguments = "INPUT OUTPUT",
    .summary   = "score windows of images, as Caffe's detect.py",
    .help     = "Cuts windows out of images, each with some of its surroundings, runs\n"
                "the net on them and writes a line per window: filename, ymin, xmin,\n"
                "ymax, xmax, then class0, class1 and so on, the net's first output.\n"
                "ymax and xmax are one past the last row and column. INPUT is a .csv\n"
                "whose first line names the columns filename, ymin, xmin, ymax and\n"
                "xmax, or with selective_search a .txt with the path of an image per\n"
                "line, in which windows are searched. OUTPUT ends in .csv, or in .h5\n"
                "for the datasets filename, window and prediction.\n"
                "\n"
                "Examples:\n"
                "  firecaffe detect --crop_mode list --model_def deploy.prototxt \\\n"
                "      --pretrained_model rcnn.caffemodel --mean_file mean.npy \\\n"
                "      windows.csv scores.csv\n"
                "  firecaffe detect --model_def deploy.prototxt \\\n"
                "      --pretrained_model rcnn.caffemodel photos.txt scores.h5\n",
    .groups   = groups,
    .min_args = 2,
    .max_args = 2,
    .run      = run,
};
