/* image_net.c - fills a batch with prepared pictures, runs it, keeps the scores. */
#include "net/image_net.h"

#include <string.h>

#include "base/alloc.h"

/* ---- opening ---- */

fire_status_t fire_image_net_input(const fire_net_t *net, const char *file,
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

fire_status_t fire_image_net_output(const fire_net_t *net, const char *file,
                                    fire_blob_t **output_p)
{
    if (fire_net_noutput(net) == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: the net has no output: some layer takes every blob",
                         file);
    *output_p = fire_net_blob(net, fire_net_output(net, 0));
    return FIRE_OK;
}

/* "2,1,0": each channel once. A net of one channel has nothing to swap. */
static fire_status_t set_swap(const char *order, fire_prepare_t *p)
{
    const char *at   = order;
    int         used = 0;

    if (p->input.channels == 1) return FIRE_OK;
    for (int c = 0; c < 3; c++, at += 2) {
        int  from = at[0] - '0';
        char end  = c < 2 ? ',' : '\0';

        if (from < 0 || from > 2 || (used & 1 << from) != 0 || at[1] != end)
            return FIRE_FAIL(FIRE_ERR_INVALID,
                             "--channel_swap \"%s\": write each of 0, 1 and 2 once, as "
                             "in 2,1,0",
                             order);
        used |= 1 << from;
        p->swap[c] = from;
    }
    return FIRE_OK;
}

/* Read the mean file, if one is given. */
static fire_status_t set_mean(const char *path, bool by_channel, fire_prepare_t *p)
{
    fire_mean_t   mean;
    fire_status_t st;

    if (path[0] == '\0') return FIRE_OK;
    FIRE_TRY(fire_mean_load(path, &mean));
    st = fire_prepare_set_mean(p, &mean, by_channel, path);
    fire_mean_fini(&mean);
    return st;
}

/* Fill *n from the net's input and the options. */
static fire_status_t set_up(fire_image_net_t *n, const fire_image_options_t *o)
{
    fire_prepare_t *p = &n->prepare;
    fire_blob_t    *input;
    const int64_t  *dim;

    FIRE_TRY(fire_image_net_input(n->net, n->file, &input));
    dim      = fire_blob_dims(input);
    n->batch = dim[0];
    FIRE_TRY(
        fire_prepare_init(p, (fire_extent_t){(int)dim[1], (int)dim[2], (int)dim[3]}));
    if (o->raw_scale == 0)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--raw_scale must not be 0");
    p->raw_scale   = (float)o->raw_scale;
    p->input_scale = (float)o->input_scale;
    FIRE_TRY(set_swap(o->channel_swap, p));
    FIRE_TRY(set_mean(o->mean_file, o->mean_by_channel, p));
    return FIRE_NEW(&n->waiting, n->batch * fire_extent_count(p->input));
}

fire_status_t fire_image_net_open(fire_net_t *net, const char *file,
                                  const fire_image_options_t *options,
                                  fire_image_net_t           *n_p)
{
    fire_image_net_t n  = {.net = net, .file = file};
    fire_status_t    st = set_up(&n, options);

    if (st < 0)
        fire_image_net_close(&n);
    else
        *n_p = n;
    return st;
}

void fire_image_net_close(fire_image_net_t *n)
{
    fire_prepare_fini(&n->prepare);
    fire_free(n->waiting);
    fire_free(n->score);
    *n = (fire_image_net_t){0};
}

/* ---- running ---- */

/* Append the first output, (pictures, classes), to the scores. */
static fire_status_t keep_scores(fire_image_net_t *n)
{
    fire_blob_t *output;
    int64_t      count, row;
    const float *x;

    FIRE_TRY(fire_image_net_output(n->net, n->file, &output));
    count = fire_blob_count(output);
    row   = count / n->nwaiting;
    if (row * n->nwaiting != count || row == 0 ||
        (n->classes != 0 && row != n->classes))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "%s: its first output is not a row of scores for each image",
                         n->file);
    FIRE_TRY(fire_blob_read(output, FIRE_DATA, FIRE_CPU, &x));
    FIRE_TRY(fire_grow(&n->score, &n->score_cap, n->nscore * row + count,
                       sizeof(*n->score)));
    memcpy(n->score + n->nscore * row, x, (size_t)count * sizeof(*x));
    n->classes = row;
    n->nscore += n->nwaiting;
    n->nwaiting = 0;
    return FIRE_OK;
}

fire_status_t fire_image_net_finish(fire_image_net_t *n)
{
    fire_extent_t e = n->prepare.input;
    fire_blob_t  *input;
    float        *x;

    if (n->nwaiting == 0) return FIRE_OK;
    FIRE_TRY(fire_image_net_input(n->net, n->file, &input));
    FIRE_TRY(fire_blob_reshape(
        input, 4, (int64_t[]){n->nwaiting, e.channels, e.height, e.width}));
    FIRE_TRY(fire_blob_write(input, FIRE_DATA, FIRE_CPU, &x));
    memcpy(x, n->waiting, (size_t)fire_blob_count(input) * sizeof(*x));
    FIRE_TRY(fire_net_run_forward(n->net, 0, -1, NULL));
    return keep_scores(n);
}

fire_status_t fire_image_net_add(fire_image_net_t *n, const fire_picture_t *picture)
{
    int64_t size = fire_extent_count(n->prepare.input);

    FIRE_TRY(fire_prepare_run(&n->prepare, picture, n->waiting + n->nwaiting * size));
    n->nwaiting++;
    return n->nwaiting == n->batch ? fire_image_net_finish(n) : FIRE_OK;
}
