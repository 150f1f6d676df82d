/* shape.c - layers that move values without changing them. */
#include <string.h>
#include "base/alloc.h"
#include "onnx/export/put.h"

/* Flatten and Reshape. */
void fire_onnx_put_view(fire_onnx_export_t *x)
{
    fire_onnx_reshape(x, fire_onnx_in(x, 0), fire_onnx_out(x, 0), x->layer->bottom[0],
                      x->layer->top[0]);
}

/* Every reader has a top of its own, of the same value. */
void fire_onnx_put_split(fire_onnx_export_t *x)
{
    for (int i = 0; i < x->layer->ntop; i++)
        fire_onnx_same(x, fire_onnx_in(x, 0), i);
}

void fire_onnx_put_silence(fire_onnx_export_t *x)
{
    (void)x;
}

/* The axis that the shapes of bottom and top differ on. */
static int axis_of(const fire_layer_t *l, int axis, bool has_old, uint32_t old)
{
    if (has_old) axis = (int)old;
    return axis < 0 ? axis + l->bottom[0]->ndim : axis;
}

void fire_onnx_put_concat(fire_onnx_export_t *x)
{
    const fire_layer_t                 *l      = x->layer;
    static const Caffe__ConcatParameter preset = CAFFE__CONCAT_PARAMETER__INIT;
    const Caffe__ConcatParameter       *p      = l->param->concat_param;

    if (p == NULL) p = &preset;
    fire_onnx_op(x, "Concat", fire_onnx_out(x, 0), NULL);
    for (int i = 0; i < l->nbottom; i++)
        fire_onnx_also(x, fire_onnx_in(x, i));
    fire_onnx_int(x, "axis", axis_of(l, p->axis, p->has_concat_dim, p->concat_dim));
}

void fire_onnx_put_slice(fire_onnx_export_t *x)
{
    const fire_layer_t                *l      = x->layer;
    static const Caffe__SliceParameter preset = CAFFE__SLICE_PARAMETER__INIT;
    const Caffe__SliceParameter       *p      = l->param->slice_param;
    int64_t                           *part;
    const char                        *in = fire_onnx_in(x, 0);
    int                                axis;

    if (p == NULL) p = &preset;
    axis = axis_of(l, p->axis, p->has_slice_dim, p->slice_dim);
    fire_onnx_needs_fixed(x, l->bottom[0], axis);
    if (x->st >= 0) x->st = FIRE_NEW(&part, l->ntop);
    if (x->st < 0) return;
    for (int i = 0; i < l->ntop; i++)
        part[i] = l->top[i]->dim[axis];
    fire_onnx_op(x, "Split", fire_onnx_out(x, 0), in,
                 fire_onnx_integers(x, l->ntop, part), NULL);
    for (int i = 1; i < l->ntop; i++)
        fire_onnx_more(x, fire_onnx_out(x, i));
    fire_onnx_int(x, "axis", axis);
    fire_free(part);
}

/* Axes that keep their size are left alone. */
void fire_onnx_put_crop(fire_onnx_export_t *x)
{
    const fire_layer_t         *l = x->layer;
    const fire_blob_t          *b = l->bottom[0], *top = l->top[0];
    const Caffe__CropParameter *p = l->param->crop_param;
    int64_t     begin[FIRE_MAX_DIMS], end[FIRE_MAX_DIMS], axis[FIRE_MAX_DIMS];
    int         n = 0, first = p != NULL ? p->axis : 2;
    const char *from, *to;

    if (first < 0) first += b->ndim;
    for (int i = first; i < b->ndim; i++) {
        if (top->dim[i] == b->dim[i]) continue;
        fire_onnx_needs_fixed(x, b, i);
        begin[n]  = p == NULL || p->n_offset == 0
                        ? 0
                        : p->offset[p->n_offset == 1 ? 0 : i - first];
        end[n]    = begin[n] + top->dim[i];
        axis[n++] = i;
    }
    if (n == 0) {
        fire_onnx_same(x, fire_onnx_in(x, 0), 0);
        return;
    }
    from = fire_onnx_integers(x, n, begin);
    to   = fire_onnx_integers(x, n, end);
    fire_onnx_op(x, "Slice", fire_onnx_out(x, 0), fire_onnx_in(x, 0), from, to,
                 fire_onnx_integers(x, n, axis), NULL);
}

void fire_onnx_put_tile(fire_onnx_export_t *x)
{
    const fire_layer_t *l = x->layer;
    int                 n = l->bottom[0]->ndim, axis = l->param->tile_param->axis;
    int64_t             repeats[FIRE_MAX_DIMS];

    for (int i = 0; i < n; i++)
        repeats[i] =
            i == (axis < 0 ? axis + n : axis) ? l->param->tile_param->tiles : 1;
    fire_onnx_op(x, "Tile", fire_onnx_out(x, 0), fire_onnx_in(x, 0),
                 fire_onnx_integers(x, n, repeats), NULL);
}

/* What comes around from the other end: parts of the value beside it. The operator has a
 * mode for it from version 19 on only. */
static const char *wrap(fire_onnx_export_t *x, const char *in, const char *out,
                        int axis, int64_t begin, int64_t end)
{
    int64_t     n     = x->layer->bottom[0]->dim[axis];
    const char *front = NULL, *back = NULL;

    if (begin < 0 || end < 0 || begin > n || end > n)
        fire_onnx_refuse(x,
                         "mode WRAP adds at most what there is, and cuts nothing off");
    fire_onnx_needs_fixed(x, x->layer->bottom[0], axis);
    if (begin > 0) front = fire_onnx_cut(x, in, NULL, axis, n - begin, n);
    if (end > 0) back = fire_onnx_cut(x, in, NULL, axis, 0, end);
    out = fire_onnx_op(x, "Concat", out, front != NULL ? front : in, NULL);
    if (front != NULL) fire_onnx_also(x, in);
    if (back != NULL) fire_onnx_also(x, back);
    fire_onnx_int(x, "axis", axis);
    return out;
}

void fire_onnx_put_pad(fire_onnx_export_t *x)
{
    static const char *const   mode[] = {"constant", "reflect", "edge"};
    const Caffe__PadParameter *p      = x->layer->param->pad_param;
    int                        n      = x->layer->bottom[0]->ndim, first;
    int64_t                    pads[2 * FIRE_MAX_DIMS] = {0};
    const char                *v                       = fire_onnx_in(x, 0);

    if (p == NULL || p->n_begin == 0) {
        fire_onnx_same(x, v, 0);
        return;
    }
    first = p->axis < 0 ? p->axis + n : p->axis;
    for (int i = 0; i < (int)p->n_begin; i++) {
        pads[first + i]     = p->begin[i];
        pads[n + first + i] = p->end[i];
    }
    if (p->mode == CAFFE__PAD_PARAMETER__MODE__WRAP) {
        for (int i = 0; i < (int)p->n_begin; i++)
            v = wrap(x, v, i + 1 == (int)p->n_begin ? fire_onnx_out(x, 0) : NULL,
                     first + i, p->begin[i], p->end[i]);
        return;
    }
    fire_onnx_op(x, "Pad", fire_onnx_out(x, 0), v, fire_onnx_integers(x, 2 * n, pads),
                 fire_onnx_scalar(x, p->value), NULL);
    fire_onnx_text(x, "mode", mode[p->mode]);
}

/* The axes named, then the others. */
void fire_onnx_put_permute(fire_onnx_export_t *x)
{
    const fire_layer_t            *l = x->layer;
    const Caffe__PermuteParameter *p = l->param->permute_param;
    int                            n = l->bottom[0]->ndim, k = 0;
    int64_t                        order[FIRE_MAX_DIMS];
    bool                           used[FIRE_MAX_DIMS] = {false};

    for (size_t i = 0; p != NULL && i < p->n_order; i++) {
        order[k++]        = p->order[i];
        used[p->order[i]] = true;
    }
    for (int i = 0; i < n; i++)
        if (!used[i]) order[k++] = i;
    fire_onnx_op(x, "Transpose", fire_onnx_out(x, 0), fire_onnx_in(x, 0), NULL);
    fire_onnx_ints(x, "perm", n, order);
}

/* (N, g, C / g, ...) with the two middle axes exchanged */
void fire_onnx_put_shuffle_channel(fire_onnx_export_t *x)
{
    const fire_layer_t                   *l = x->layer;
    const Caffe__ShuffleChannelParameter *p = l->param->shuffle_channel_param;
    const fire_blob_t                    *b = l->bottom[0];
    int64_t group = p != NULL ? p->group : 1, dim[FIRE_MAX_DIMS], order[FIRE_MAX_DIMS];
    bool    varies[FIRE_MAX_DIMS] = {fire_onnx_varies(x, b, 0)};
    int     ndim                  = b->ndim + 1;
    const char *v;

    for (int i = 0; i < ndim; i++) {
        dim[i]   = i == 0   ? b->dim[0]
                   : i == 1 ? group
                   : i == 2 ? b->dim[1] / group
                            : b->dim[i - 1];
        order[i] = i == 1 ? 2 : i == 2 ? 1 : i;
    }
    v = fire_onnx_reshape_to(x, fire_onnx_in(x, 0), NULL, b, ndim, dim, varies);
    v = fire_onnx_op(x, "Transpose", NULL, v, NULL);
    fire_onnx_ints(x, "perm", ndim, order);
    fire_onnx_reshape(x, v, fire_onnx_out(x, 0), b, b);
}

/* Place, in C/s^2 x Hs x Ws, of element i of C x H x W (reorg.c). */
static int64_t spread(const int64_t *dim, int64_t s, int64_t i)
{
    int64_t column = i % dim[3], row = i / dim[3] % dim[2], c = i / dim[3] / dim[2];
    int64_t narrow = dim[1] / (s * s), offset = c / narrow;

    return ((c % narrow) * dim[2] * s + row * s + offset / s) * dim[3] * s +
           column * s + offset % s;
}

/* Darknet's order is no operator: each image is gathered by a table. */
void fire_onnx_put_reorg(fire_onnx_export_t *x)
{
    const fire_layer_t          *l = x->layer;
    const Caffe__ReorgParameter *p = l->param->reorg_param;
    const fire_blob_t           *b = l->bottom[0];
    int64_t     n = fire_blob_count_range(b, 1, 4), s = p != NULL ? p->stride : 2;
    int64_t    *from;
    const char *v = fire_onnx_op(x, "Flatten", NULL, fire_onnx_in(x, 0), NULL);

    if (x->st >= 0) x->st = FIRE_NEW(&from, n);
    if (x->st < 0) return;
    for (int64_t i = 0; i < n; i++)
        if (p != NULL && p->reverse)
            from[spread(b->dim, s, i)] = i;
        else
            from[i] = spread(b->dim, s, i);
    v = fire_onnx_op(x, "Gather", NULL, v, fire_onnx_integers(x, n, from), NULL);
    fire_onnx_int(x, "axis", 1);
    fire_free(from);
    fire_onnx_reshape(x, v, fire_onnx_out(x, 0), b, l->top[0]);
}

/* ---- selections ---- */

static const char *cast(fire_onnx_export_t *x, const char *in, int type)
{
    in = fire_onnx_op(x, "Cast", NULL, in, NULL);
    fire_onnx_int(x, "to", type);
    return in;
}

/* Items of bottom 0 whose numbers bottom 1 holds. */
void fire_onnx_put_batch_reindex(fire_onnx_export_t *x)
{
    const char *index = cast(x, fire_onnx_in(x, 1), FIRE_ONNX(INT64));

    if (x->layer->bottom[1]->ndim != 1) {
        static const int64_t all[1] = {-1};

        index = fire_onnx_op(x, "Reshape", NULL, index, fire_onnx_integers(x, 1, all),
                             NULL);
    }
    fire_onnx_op(x, "Gather", fire_onnx_out(x, 0), fire_onnx_in(x, 0), index, NULL);
}

/* Items whose selector, the last bottom, is not 0. */
void fire_onnx_put_filter(fire_onnx_export_t *x)
{
    static const int64_t all[1] = {-1};
    int                  last   = x->layer->nbottom - 1;
    const char          *mask   = cast(x, fire_onnx_in(x, last), FIRE_ONNX(BOOL));

    mask = fire_onnx_op(x, "Reshape", NULL, mask, fire_onnx_integers(x, 1, all), NULL);
    for (int i = 0; i < last; i++) {
        fire_onnx_op(x, "Compress", fire_onnx_out(x, i), fire_onnx_in(x, i), mask,
                     NULL);
        fire_onnx_int(x, "axis", 0);
    }
}
