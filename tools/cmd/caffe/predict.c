/* firecaffe predict - scores of a net for images, as Caffe's classify.py. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "command.h"
#include "flags/image.h"
#include "model/npy.h"
#include "flags/net.h"

enum { CROPS = 10 };

typedef struct flags {
    bool        center_only;
    const char *images_dim, *ext;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, center_only, BOOL, "false", NULL,
                "score the center crop only, not the mean of ten crops"),
    FIRE_OPTION(flags_t, images_dim, STRING, "256,256", "H,W",
                "resize images to this before they are cropped"),
    FIRE_OPTION(flags_t, ext, STRING, "jpg", "NAME",
                "ending of the names of images in a directory"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net and images", image_options, &image_flags},
    {"How it runs", how_options, &net_flags},
    {0},
};

typedef struct job {
    fire_image_net_t net;
    int              height, width; /* --images_dim */
    int64_t          nimage;
} job_t;

/* ---- one image ---- */

static fire_status_t add_part(job_t *j, const fire_picture_t *whole, int y, int x,
                              bool mirror)
{
    fire_extent_t  e = j->net.prepare.input;
    fire_picture_t part;
    fire_status_t  st;

    FIRE_TRY(fire_picture_crop(whole, (fire_rect_t){y, x, y + e.height, x + e.width},
                               &part));
    if (mirror) fire_picture_mirror(&part);
    st = fire_image_net_add(&j->net, &part);
    fire_picture_fini(&part);
    return st;
}

/* Ten crops: the four corners and the center, and each of them mirrored. */
static fire_status_t add_parts(job_t *j, const fire_picture_t *whole)
{
    int bottom = j->height - j->net.prepare.input.height;
    int right  = j->width - j->net.prepare.input.width;
    int y[]    = {0, 0, bottom, bottom, bottom / 2};
    int x[]    = {0, right, 0, right, right / 2};

    for (int k = 0; k < CROPS; k++)
        FIRE_TRY(add_part(j, whole, y[k % 5], x[k % 5], k >= 5));
    return FIRE_OK;
}

static fire_status_t add_image(job_t *j, const fire_picture_t *image)
{
    fire_picture_t whole;
    fire_status_t  st;

    FIRE_TRY(fire_picture_resize(image, j->height, j->width, &whole));
    if (flags.center_only)
        st = add_part(j, &whole, (j->height - j->net.prepare.input.height) / 2,
                      (j->width - j->net.prepare.input.width) / 2, false);
    else
        st = add_parts(j, &whole);
    fire_picture_fini(&whole);
    j->nimage++;
    return st;
}

/* ---- where images come from ---- */

static fire_status_t add_file(job_t *j, const char *path)
{
    fire_picture_t image;
    fire_status_t  st;

    FIRE_TRY(fire_picture_load(path, j->net.prepare.input.channels, &image));
    st = add_image(j, &image);
    fire_picture_fini(&image);
    return st;
}

static fire_status_t add_directory(job_t *j, const char *path)
{
    glob_t        found;
    char         *pattern;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&pattern, "/*.%s", flags.ext));
    st = fire_path_glob(path, pattern, &found);
    fire_free(pattern);
    if (st >= 0 && found.gl_pathc == 0)
        st = FIRE_FAIL(FIRE_ERR_IO, "%s/*.%s: no image; for other endings use --ext",
                       path, flags.ext);
    for (size_t i = 0; i < found.gl_pathc && st >= 0; i++)
        st = add_file(j, found.gl_pathv[i]);
    globfree(&found);
    return st;
}

/* (images, height, width, channels), with values as image files give them */
static fire_status_t add_array(job_t *j, const char *path)
{
    fire_npy_t    a;
    fire_status_t st;

    FIRE_TRY(fire_npy_load(path, &a));
    st = FIRE_OK;
    if (a.ndim != 4 || a.count == 0 || a.dim[1] > INT16_MAX || a.dim[2] > INT16_MAX ||
        a.dim[3] != j->net.prepare.input.channels)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "%s: must be images x height x width x %d",
                       path, j->net.prepare.input.channels);
    for (int64_t i = 0; st >= 0 && i < a.dim[0]; i++) {
        fire_picture_t image = {(int)a.dim[1], (int)a.dim[2], (int)a.dim[3],
                                a.data + i * (a.count / a.dim[0])};

        st = add_image(j, &image);
    }
    fire_npy_fini(&a);
    return st;
}

static fire_status_t add_input(job_t *j, const char *path)
{
    struct stat info;

    if (fire_path_has_suffix(path, ".npy")) return add_array(j, path);
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return add_directory(j, path);
    return add_file(j, path);
}

/* ---- the run ---- */

static fire_status_t read_size(job_t *j)
{
    fire_extent_t e   = j->net.prepare.input;
    int           end = -1;

    sscanf(flags.images_dim, "%5d,%5d%n", &j->height, &j->width, &end);
    if (end < 0 || flags.images_dim[end] != '\0' || j->height < 1 || j->width < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--images_dim \"%s\": write HEIGHT,WIDTH, as in 256,256",
                         flags.images_dim);
    if (j->height < e.height || j->width < e.width)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--images_dim %s is less than the net's input, %d,%d",
                         flags.images_dim, e.height, e.width);
    return FIRE_OK;
}

/* A row per image: the mean over its crops. */
static fire_status_t save(const job_t *j, const char *path)
{
    const fire_image_net_t *n = &j->net;
    int64_t       parts = n->nscore / j->nimage, dim[] = {j->nimage, n->classes};
    float        *mean;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&mean, dim[0] * dim[1]));
    for (int64_t i = 0; i < dim[0]; i++)
        for (int64_t c = 0; c < dim[1]; c++) {
            double sum = 0;

            for (int64_t k = 0; k < parts; k++)
                sum += (double)n->score[(i * parts + k) * n->classes + c];
            mean[i * n->classes + c] = (float)(sum / (double)parts);
        }
    st = fire_npy_save(path, 2, dim, mean);
    fire_free(mean);
    return st;
}

static fire_status_t predict(job_t *j, const char *input, const char *output)
{
    double began = fire_clock_now();

    FIRE_TRY(read_size(j));
    FIRE_TRY(add_input(j, input));
    FIRE_TRY(fire_image_net_finish(&j->net));
    printf("Classified %lld images in %.2f s.\n", (long long)j->nimage,
           fire_clock_now() - began);
    FIRE_TRY(save(j, output));
    printf("Saved to %s\n", output);
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    job_t         j = {0};
    fire_status_t st;

    (void)narg;
    FIRE_TRY(image_flags_open(false, &j.net));
    st = predict(&j, arg[0], arg[1]);
    image_flags_close(&j.net);
    return st;
}

const command_t command_predict = {
    .name      = "predict",
    .arguments = "INPUT OUTPUT",
    .summary   = "write scores of images to a .npy, as Caffe's classify.py",
    .help      = "INPUT is an image, a directory (its images in the order of their\n"
                 "names) or a .npy of images x height x width x channels. OUTPUT, a\n"
                 ".npy, gets a row per image: the net's first output, averaged over\n"
                 "ten crops (four corners, the center and their mirror images), or\n"
                 "with --center_only of the center crop.\n"
                 "\n"
                 "Examples:\n"
                 "  firecaffe predict --model_def deploy.prototxt \\\n"
                 "      --pretrained_model net.caffemodel --mean_file mean.npy \\\n"
                 "      cat.jpg cat.npy\n"
                 "  firecaffe predict --model_def deploy.prototxt \\\n"
                 "      --pretrained_model net.caffemodel --center_only \\\n"
                 "      --images_dim 320,480 --ext png photos/ scores.npy\n",
    .groups    = groups,
    .min_args  = 2,
    .max_args  = 2,
    .run       = run,
};
