/* firecaffe classify - the five most probable labels of an image, as Caffe's
 * classification example prints them. */
#include <stdio.h>
#include <string.h>
#include "base/file.h"
#include "command.h"
#include "base/alloc.h"
#include "data/decode.h"
#include "data/picture/mean.h"
#include "flags/image.h"
#include "flags/net.h"

enum { TOP = 5 };

/* The image resized to the input, minus the mean. */
static fire_status_t set_input(fire_blob_t *input, const char *path, const float *mean,
                               fire_workspace_t *scratch)
{
    const int64_t *dim   = fire_blob_dims(input);
    fire_color_t   color = dim[1] == 1 ? FIRE_COLOR_GRAY : FIRE_COLOR_BGR;
    fire_pixels_t  p;
    float         *x;

    FIRE_TRY(
        fire_image_file_decode(path, color, (int)dim[2], (int)dim[3], scratch, &p));
    FIRE_TRY(fire_blob_write(input, FIRE_DATA, FIRE_CPU, &x));
    for (int c = 0; c < p.extent.channels; c++)
        for (int row = 0; row < p.extent.height; row++)
            for (int col = 0; col < p.extent.width; col++)
                *x++ = (float)p.bytes[c * p.step_c + row * p.step_y + col * p.step_x] -
                       mean[c];
    return FIRE_OK;
}

/* ---- labels ---- */

typedef struct labels {
    const char *path;
    char       *text;
    char      **line;
    int64_t     n, cap;
} labels_t;

static fire_status_t load_labels(labels_t *l)
{
    FIRE_TRY(fire_file_read_text(l->path, &l->text));
    for (char *c = l->text; *c != '\0';) {
        char *end  = c + strcspn(c, "\n");
        bool  last = *end == '\0';

        FIRE_TRY(fire_grow(&l->line, &l->cap, l->n + 1, sizeof(*l->line)));
        l->line[l->n++] = c;
        *end            = '\0';
        c               = last ? end : end + 1;
    }
    return FIRE_OK;
}

static void print_top(const float *score, const labels_t *l)
{
    int64_t best[TOP];

    for (int k = 0; k < TOP && k < l->n; k++) {
        best[k] = -1;
        for (int64_t i = 0; i < l->n; i++) {
            bool used = false;

            for (int j = 0; j < k; j++)
                used |= best[j] == i;
            if (!used && (best[k] < 0 || score[i] > score[best[k]])) best[k] = i;
        }
        printf("%.4f - \"%s\"\n", (double)score[best[k]], l->line[best[k]]);
    }
}

/* ---- the run ---- */

/* Reshape the net's input to one image and fill it. */
static fire_status_t load_input(fire_net_t *net, const char *mean_file,
                                const char *image)
{
    fire_workspace_t scratch = {0};
    fire_blob_t     *input;
    fire_mean_t      mean;
    int64_t          dim[4];
    fire_status_t    st;

    FIRE_TRY(fire_image_net_input(net, net_flags.model, &input));
    memcpy(dim, fire_blob_dims(input), sizeof(dim));
    dim[0] = 1;
    FIRE_TRY(fire_blob_reshape(input, 4, dim));
    FIRE_TRY(fire_mean_load(mean_file, &mean));
    if (mean.extent.channels == dim[1])
        st = set_input(input, image, mean.channel, &scratch);
    else
        st = FIRE_FAIL(FIRE_ERR_INVALID,
                       "%s does not have the %lld channels of the net's input",
                       mean_file, (long long)dim[1]);
    fire_mean_fini(&mean);
    fire_workspace_fini(&scratch);
    return st;
}

static fire_status_t predict(fire_net_t *net, const char *mean_file, const char *image,
                             const labels_t *l)
{
    fire_blob_t *output;
    const float *score;

    FIRE_TRY(fire_image_net_output(net, net_flags.model, &output));
    FIRE_TRY(load_input(net, mean_file, image));
    FIRE_TRY(fire_net_forward(net, 0, -1, NULL));
    if (fire_blob_count(output) != l->n)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: %lld labels for %lld outputs of the net", l->path,
                         (long long)l->n, (long long)fire_blob_count(output));
    FIRE_TRY(fire_blob_read(output, FIRE_DATA, FIRE_CPU, &score));
    printf("---------- Prediction for %s ----------\n", image);
    print_top(score, l);
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    labels_t      l   = {.path = arg[3]};
    fire_net_t   *net = NULL;
    fire_status_t st;

    (void)narg;
    net_flags.model   = arg[0];
    net_flags.weights = arg[1];
    FIRE_TRY_GOTO(st, load_labels(&l), done);
    FIRE_TRY_GOTO(st, net_flags_open(CAFFE__PHASE__TEST, NULL, NULL, &net), done);
    st = predict(net, arg[2], arg[4], &l);
done:
    net_flags_close(net);
    fire_free(l.line);
    fire_free(l.text);
    return st;
}

static const fire_option_group_t groups[] = {{"Net", place_options, &net_flags}, {0}};

const command_t command_classify = {
    .name      = "classify",
    .arguments = "MODEL WEIGHTS MEAN LABELS IMAGE",
    .summary   = "print the five most likely labels of an image",
    .help      = "Resizes the image to the net's input, subtracts the mean of each\n"
                 "channel of MEAN (.binaryproto or .npy) and prints the five outputs\n"
                 "with the highest values, each with its line of LABELS.\n"
                 "\n"
                 "Example:\n"
                 "  firecaffe classify deploy.prototxt net.caffemodel \\\n"
                 "      mean.binaryproto labels.txt cat.jpg\n",
    .groups    = groups,
    .min_args  = 5,
    .max_args  = 5,
    .run       = run,
};
