#include "cmd/caffe/image_net.h"

#include <string.h>
#include "base/alloc.h"
#include "flags/net.h"

image_flags_t       image_flags;
const fire_option_t image_options[] = {
    FIRE_OPTION(image_flags_t, model_def, PATH, "", "FILE",
                "the net, as for deployment (.prototxt); needed"),
    FIRE_OPTION(image_flags_t, pretrained_model, PATH, "", "FILE",
                "its trained weights (.caffemodel); needed"),
    FIRE_OPTION(image_flags_t, gpu, BOOL, "false", NULL, "run on the first GPU"),
    FIRE_OPTION(image_flags_t, mean_file, STRING, "", "FILE",
                "subtract this mean (.npy or .binaryproto); \"\": none"),
    FIRE_OPTION(image_flags_t, input_scale, DOUBLE, "1", "X",
                "multiply by this at the end, behind the mean"),
    FIRE_OPTION(image_flags_t, raw_scale, DOUBLE, "255", "X",
                "multiply images, which are 0 to 1, by this before the mean"),
    FIRE_OPTION(image_flags_t, channel_swap, STRING, "2,1,0", "LIST",
                "order of channels that the net wants; 0 is red"),
    {0},
};

/* ---- opening ---- */

fire_status_t image_net_input(const fire_net_t *net, const char *file,
                              fire_blob_t **input_p)
{
    fire_blob_t *b = fire_net_nblob(net) > 0 ? fire_net_blob(net, 0) : NULL;

    if (b == NULL || fire_blob_ndim(b) != 4 || fire_blob_count(b) == 0 ||
        (fire_blob_dims(b)[1] != 1 && fire_blob_dims(b)[1] != 3))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: the first blob must be an image, 1 x 3 x height x width",
                         file);
    *input_p = b;
    return FIRE_OK;
}

fire_status_t image_net_output(const fire_net_t *net, const char *file,
                               fire_blob_t **output_p)
{
    if (fire_net_noutput(net) == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: the net has no output: some layer takes every blob",
                         file);
    *output_p = fire_net_blob(net, fire_net_output(net, 0));
    return FIRE_OK;
}

static fire_status_t need_files(void)
{
    const char *missing = image_flags.model_def[0] == '\0'          ? "model_def"
                          : image_flags.pretrained_model[0] == '\0' ? "pretrained_model"
                                                                    : NULL;

    if (missing == NULL) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "--%s FILE is needed: there is no models folder to take another "
                     "from, as Caffe's script does",
                     missing);
}

/* "2,1,0": each channel once. A net of one channel has nothing to swap. */
static fire_status_t set_swap(fire_prepare_t *p)
{
    const char *at   = image_flags.channel_swap;
    int         used = 0;

    if (p->input.channels == 1) return FIRE_OK;
    for (int c = 0; c < 3; c++, at += 2) {
        int  from = at[0] - '0';
        char end  = c < 2 ? ',' : '\0';

        if (from < 0 || from > 2 || (used & 1 << from) != 0 || at[1] != end)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "--channel_swap \"%s\": write each of 0, 1 and 2 once, as "
                             "in 2,1,0",
                             image_flags.channel_swap);
        used |= 1 << from;
        p->swap[c] = from;
    }
    return FIRE_OK;
}

static fire_status_t set_mean(fire_prepare_t *p, bool by_channel)
{
    const char   *path = image_flags.mean_file;
    fire_mean_t   mean;
    fire_status_t st;

    if (path[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_mean_load(path, &mean));
    st = fire_prepare_set_mean(p, &mean, by_channel, path);
    fire_mean_fini(&mean);
    return st;
}

static fire_status_t set_up(image_net_t *n, bool mean_by_channel)
{
    fire_prepare_t *p = &n->prepare;
    fire_blob_t    *input;
    const int64_t  *dim;

    FIRE_TRY(image_net_input(n->net, image_flags.model_def, &input));
    dim      = fire_blob_dims(input);
    n->batch = dim[0];
    FIRE_TRY(
        fire_prepare_init(p, (fire_extent_t){(int)dim[1], (int)dim[2], (int)dim[3]}));
    if (image_flags.raw_scale == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--raw_scale must not be 0");
    p->raw_scale   = (float)image_flags.raw_scale;
    p->input_scale = (float)image_flags.input_scale;
    FIRE_TRY(set_swap(p));
    FIRE_TRY(set_mean(p, mean_by_channel));
    return FIRE_NEW(&n->waiting, n->batch * fire_extent_count(p->input));
}

fire_status_t image_net_open(bool mean_by_channel, image_net_t *n_p)
{
    image_net_t   n = {0};
    fire_status_t st;

    FIRE_TRY(need_files());
    net_flags.model   = image_flags.model_def;
    net_flags.weights = image_flags.pretrained_model;
    net_flags.gpu     = image_flags.gpu ? "0" : "none";
    net_flags.lean    = true;
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, NULL, NULL, &n.net));
    st = set_up(&n, mean_by_channel);
    if (st < 0)
        image_net_close(&n);
    else
        *n_p = n;
    return st;
}

void image_net_close(image_net_t *n)
{
    net_flags_close(n->net);
    fire_prepare_fini(&n->prepare);
    fire_free(n->waiting);
    fire_free(n->score);
    *n = (image_net_t){0};
}

/* ---- running ---- */

static fire_status_t keep_scores(image_net_t *n)
{
    fire_blob_t *output;
    int64_t      count, row;
    const float *x;

    FIRE_TRY(image_net_output(n->net, image_flags.model_def, &output));
    count = fire_blob_count(output);
    row   = count / n->nwaiting;
    if (row * n->nwaiting != count || row == 0 ||
        (n->classes != 0 && row != n->classes))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: its first output is not a row of scores for each image",
                         image_flags.model_def);
    FIRE_TRY(fire_blob_read(output, FIRE_DATA, FIRE_CPU, &x));
    FIRE_TRY(fire_grow(&n->score, &n->score_cap, n->nscore * row + count,
                       sizeof(*n->score)));
    memcpy(n->score + n->nscore * row, x, (size_t)count * sizeof(*x));
    n->classes = row;
    n->nscore += n->nwaiting;
    n->nwaiting = 0;
    return FIRE_OK;
}

fire_status_t image_net_finish(image_net_t *n)
{
    fire_extent_t e = n->prepare.input;
    fire_blob_t  *input;
    float        *x;

    if (n->nwaiting == 0) return FIRE_OK;
    FIRE_TRY(image_net_input(n->net, image_flags.model_def, &input));
    FIRE_TRY(fire_blob_reshape(
        input, 4, (int64_t[]){n->nwaiting, e.channels, e.height, e.width}));
    FIRE_TRY(fire_blob_write(input, FIRE_DATA, FIRE_CPU, &x));
    memcpy(x, n->waiting, (size_t)fire_blob_count(input) * sizeof(*x));
    FIRE_TRY(fire_net_forward(n->net, 0, -1, NULL));
    return keep_scores(n);
}

fire_status_t image_net_add(image_net_t *n, const fire_picture_t *picture)
{
    int64_t size = fire_extent_count(n->prepare.input);

    FIRE_TRY(fire_prepare_run(&n->prepare, picture, n->waiting + n->nwaiting * size));
    n->nwaiting++;
    return n->nwaiting == n->batch ? image_net_finish(n) : FIRE_OK;
}
