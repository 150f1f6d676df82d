/* firecaffe resize - cuts squares from the middle of images, as Caffe's
 * resize_and_crop_images.py does with OpenCV. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "command.h"
#include "data/decode.h"

enum { MAX_SIDE = 8192 };

typedef struct flags {
    const char *input, *input_folder, *output_folder, *image_lib;
    int64_t     output_side_length, num_clients;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, input, PATH, "", "FILE",
                "list of images: on each line a path below the input folder"),
    FIRE_OPTION(flags_t, input_folder, PATH, "", "DIR", "folder of the images"),
    FIRE_OPTION(flags_t, output_folder, PATH, "", "DIR",
                "folder to write to, with the same paths"),
    FIRE_OPTION(flags_t, output_side_length, INT, "256", "N",
                "side of the squares in pixels"),
    FIRE_OPTION(flags_t, num_clients, INT, "0", "N", "threads; 0: one for each core"),
    FIRE_OPTION_OF(flags_t, image_lib, STRING, "opencv", "NAME", "opencv",
                   "accepted for scripts; always opencv"),
    {0},
};
static const fire_option_group_t groups[] = {{"Flags", options, &flags}, {0}};

typedef struct job {
    char            *text; /* of the list */
    char           **path;
    int64_t          n, cap;
    bool            *failed;
    fire_workspace_t scratch[FIRE_MAX_PARALLEL];
} job_t;

/* ---- one image ---- */

/* The shorter side becomes `side`, the other follows, rounded down. */
static fire_status_t fit(const fire_pixels_t *in, int side, fire_workspace_t *s,
                         fire_pixels_t *out_p)
{
    int64_t h = in->extent.height, w = in->extent.width;
    int64_t height = h > w ? side * h / w : side, width = h > w ? side : side * w / h;

    if (height > 64 * MAX_SIDE || width > 64 * MAX_SIDE)
        return FIRE_FAIL(FIRE_ERR_INVALID, "%lld x %lld pixels are too narrow",
                         (long long)h, (long long)w);
    return fire_image_resize(in, (int)height, (int)width, &s->resized, out_p);
}

static fire_status_t cut_middle(const fire_pixels_t *in, int side, fire_buffer_t *b,
                                fire_pixels_t *out_p)
{
    int     channels = in->extent.channels;
    int64_t y = (in->extent.height - side) / 2, x = (in->extent.width - side) / 2;
    size_t  line = (size_t)side * (size_t)channels;

    FIRE_TRY(fire_image_reserve(b, channels, side, side));
    for (int row = 0; row < side; row++)
        memcpy(b->bytes + (size_t)row * line,
               in->bytes + (y + row) * in->step_y + x * in->step_x, line);
    *out_p = fire_pixels_interleaved(b->bytes, (fire_extent_t){channels, side, side});
    return FIRE_OK;
}

static fire_status_t save(const fire_pixels_t *p, const char *path)
{
    const char   *dot = strrchr(strrchr(path, '/'), '.');
    fire_str_t    out = {0};
    fire_status_t st;

    FIRE_TRY(fire_dir_make_for(path));
    st = fire_image_encode(p, dot != NULL ? dot + 1 : "", &out);
    if (st >= 0) st = fire_file_write(path, out.text, (size_t)out.n);
    fire_str_fini(&out);
    return st;
}

static fire_status_t resize(const char *from, const char *to, fire_workspace_t *s)
{
    int           side = (int)flags.output_side_length;
    fire_pixels_t p;

    FIRE_TRY(fire_image_file_decode(from, FIRE_COLOR_BGR, 0, 0, s, &p));
    FIRE_TRY(fit(&p, side, s, &p));
    FIRE_TRY(cut_middle(&p, side, &s->cropped, &p));
    return save(&p, to);
}

/* An image that cannot be read is logged and skipped, as in Caffe. */
static fire_status_t resize_one(void *arg, int worker, int64_t i)
{
    job_t        *j = arg;
    char         *from, *to = NULL;
    fire_status_t st;

    FIRE_TRY(fire_asprintf(&from, "%s/%s", flags.input_folder, j->path[i]));
    st = fire_asprintf(&to, "%s/%s", flags.output_folder, j->path[i]);
    if (st >= 0 && resize(from, to, &j->scratch[worker]) < 0) {
        FIRE_LOG(WARNING, "skipped: %s", fire_last_error());
        j->failed[i] = true;
    }
    fire_free(from);
    fire_free(to);
    return st;
}

/* ---- all of them ---- */

/* Only the path of a line is read; a label may follow it. */
static fire_status_t read_list(job_t *j)
{
    size_t folder = strlen(flags.input_folder);
    char  *rest;

    FIRE_TRY(fire_file_read_text(flags.input, &j->text));
    for (char *line = strtok_r(j->text, "\r\n", &rest); line != NULL;
         line       = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        if (strncmp(line, flags.input_folder, folder) == 0 && line[folder] == '/')
            line += folder;
        line += strspn(line, "/");
        line[strcspn(line, " \t")] = '\0';
        if (line[0] == '\0') continue;
        FIRE_TRY(fire_grow(&j->path, &j->cap, j->n + 1, sizeof(*j->path)));
        j->path[j->n++] = line;
    }
    return FIRE_NEW(&j->failed, j->n);
}

static fire_status_t check_flags(void)
{
    const char *missing = flags.input[0] == '\0'           ? "input"
                          : flags.input_folder[0] == '\0'  ? "input_folder"
                          : flags.output_folder[0] == '\0' ? "output_folder"
                                                           : NULL;

    if (missing != NULL) return FIRE_FAIL(FIRE_ERR_INVALID, "--%s is needed", missing);
    if (flags.output_side_length < 1 || flags.output_side_length > MAX_SIDE)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--output_side_length must be 1 to %d",
                         MAX_SIDE);
    if (flags.num_clients < 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--num_clients must not be negative");
    if (strcasecmp(flags.image_lib, "opencv") != 0)
        FIRE_LOG(WARNING, "--image_lib %s: images are resized as OpenCV does it",
                 flags.image_lib);
    return FIRE_OK;
}

static fire_status_t resize_all(job_t *j)
{
    int64_t failed  = 0;
    int     threads = flags.num_clients < FIRE_MAX_PARALLEL ? (int)flags.num_clients
                                                            : FIRE_MAX_PARALLEL;

    FIRE_TRY(read_list(j));
    FIRE_TRY(fire_parallel(j->n, threads, resize_one, j));
    for (int64_t i = 0; i < j->n; i++)
        failed += j->failed[i];
    printf("%lld images written to %s, %lld skipped\n", (long long)(j->n - failed),
           flags.output_folder, (long long)failed);
    if (failed == j->n)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: none of its %lld images could be written", flags.input,
                         (long long)j->n);
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    static job_t  j;
    fire_status_t st;

    (void)narg, (void)arg;
    FIRE_TRY(check_flags());
    st = resize_all(&j);
    for (int i = 0; i < FIRE_MAX_PARALLEL; i++)
        fire_workspace_fini(&j.scratch[i]);
    fire_free(j.failed);
    fire_free(j.path);
    fire_free(j.text);
    return st;
}

const command_t command_resize = {
    .name      = "resize",
    .arguments = "",
    .summary   = "cut images to squares, as resize_and_crop_images.py",
    .help      = "Resizes each image of the list so that its shorter side has the\n"
                 "wanted length, cuts out the square in the middle and writes it to\n"
                 "the same path below the output folder (.jpg, .jpeg or .png). Images\n"
                 "that cannot be read are reported and skipped.\n"
                 "\n"
                 "Example:\n"
                 "  firecaffe resize --input train.txt --input_folder photos \\\n"
                 "      --output_folder squares --output_side_length 256\n",
    .groups    = groups,
    .run       = run,
};
