/* arrange.c - Transpose, DepthToSpace, SpaceToDepth, Tile, Expand, Pad. */
#include <string.h>
#include "onnx/import/chain.h"

fire_status_t fire_onnx_take_transpose(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    int64_t           perm[FIRE_MAX_DIMS];
    uint64_t          set = 0;
    int               n, order[FIRE_MAX_DIMS];

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_get_ints(x, "perm", -1, &n, perm));
    if (n != 0 && n != c.ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE, "an order of %d for %d axes", n, c.ndim);
    for (int i = 0; i < c.ndim; i++) {
        FIRE_TRY(fire_onnx_axis(n == 0 ? c.ndim - 1 - i : perm[i], c.ndim, &order[i]));
        if (set >> order[i] & 1)
            return FIRE_FAIL(FIRE_ERR_PARSE, "axis %d twice", order[i]);
        set |= UINT64_C(1) << order[i];
    }
    FIRE_TRY(fire_onnx_chain_permute(x, &c, order));
    return fire_onnx_chain_end(x, 0, &c);
}

/* ---- space and depth ---- */

/* The side of a block; channels, height and width must be multiples of what is asked. */
static fire_status_t read_block(const fire_onnx_import_t *x, const fire_onnx_chain_t *c,
                                bool to_space, int64_t *b_p)
{
    int64_t b = fire_onnx_get_int(x, "blocksize", 0);

    if (c->ndim != 4 || b < 1 || b > 1 << 15 ||
        (to_space ? c->dim[1] % (b * b) != 0
                  : c->dim[2] % b != 0 || c->dim[3] % b != 0))
        return FIRE_FAIL(FIRE_ERR_PARSE, "blocks of %lld in %d axes", (long long)b,
                         c->ndim);
    *b_p = b;
    return FIRE_OK;
}

/* (N, b b C, H, W) to (N, C, b H, b W); in mode CRD the blocks come behind C. */
fire_status_t fire_onnx_take_depth_to_space(fire_onnx_import_t *x)
{
    static const int  dcr[6] = {0, 3, 4, 1, 5, 2}, crd[6] = {0, 1, 4, 2, 5, 3};
    bool              behind = fire_onnx_text_is(x, "mode", "CRD", false);
    fire_onnx_chain_t c;
    int64_t           b, n[4], channels;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(read_block(x, &c, true, &b));
    memcpy(n, c.dim, sizeof(n));
    channels = n[1] / (b * b);
    FIRE_TRY(fire_onnx_chain_reshape(
        x, &c, 6,
        behind ? (int64_t[]){n[0], channels, b, b, n[2], n[3]}
               : (int64_t[]){n[0], b, b, channels, n[2], n[3]}));
    FIRE_TRY(fire_onnx_chain_permute(x, &c, behind ? crd : dcr));
    FIRE_TRY(fire_onnx_chain_reshape(x, &c, 4,
                                     (int64_t[]){n[0], channels, n[2] * b, n[3] * b}));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_space_to_depth(fire_onnx_import_t *x)
{
    static const int  order[6] = {0, 3, 5, 1, 2, 4};
    fire_onnx_chain_t c;
    int64_t           b, n[4];

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(read_block(x, &c, false, &b));
    memcpy(n, c.dim, sizeof(n));
    FIRE_TRY(fire_onnx_chain_reshape(
        x, &c, 6, (int64_t[]){n[0], n[1], n[2] / b, b, n[3] / b, b}));
    FIRE_TRY(fire_onnx_chain_permute(x, &c, order));
    FIRE_TRY(fire_onnx_chain_reshape(
        x, &c, 4, (int64_t[]){n[0], n[1] * b * b, n[2] / b, n[3] / b}));
    return fire_onnx_chain_end(x, 0, &c);
}

/* ---- copies ---- */

fire_status_t fire_onnx_take_tile(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    int64_t           times[FIRE_MAX_DIMS];
    int               n;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_get_ints(x, "", 1, &n, times));
    if (n != c.ndim)
        return FIRE_FAIL(FIRE_ERR_PARSE, "%d repeats for %d axes", n, c.ndim);
    for (int i = n - 1; i >= 0; i--)
        FIRE_TRY(fire_onnx_chain_tile(x, &c, i, times[i]));
    return fire_onnx_chain_end(x, 0, &c);
}

fire_status_t fire_onnx_take_expand(fire_onnx_import_t *x)
{
    fire_onnx_chain_t c;
    int64_t           dim[FIRE_MAX_DIMS];
    int               n;

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(fire_onnx_get_ints(x, "", 1, &n, dim));
    FIRE_TRY(fire_onnx_chain_spread(x, &c, n, dim));
    return fire_onnx_chain_end(x, 0, &c);
}

/* ---- Pad ---- */

static fire_status_t read_mode(const fire_onnx_import_t  *x,
                               Caffe__PadParameter__Mode *mode_p)
{
    static const struct {
        const char               *name;
        Caffe__PadParameter__Mode mode;
    } rows[] = {{"constant", CAFFE__PAD_PARAMETER__MODE__CONSTANT},
                {"reflect", CAFFE__PAD_PARAMETER__MODE__REFLECT},
                {"edge", CAFFE__PAD_PARAMETER__MODE__EDGE},
                {"wrap", CAFFE__PAD_PARAMETER__MODE__WRAP}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (fire_onnx_text_is(x, "mode", rows[i].name, i == 0)) {
            *mode_p = rows[i].mode;
            return FIRE_OK;
        }
    return FIRE_ONNX_LACKS("its mode is not constant, reflect, edge or wrap");
}

static fire_status_t read_pads(const fire_onnx_import_t *x, int ndim, int64_t *begin,
                               int64_t *end)
{
    int64_t pads[2 * FIRE_MAX_DIMS], axes[FIRE_MAX_DIMS];
    int     n, naxis, axis;

    FIRE_TRY(fire_onnx_get_ints(x, x->m->opset < 2 ? "paddings" : "pads", 1, &n, pads));
    FIRE_TRY(fire_onnx_get_ints(x, "axes", 3, &naxis, axes));
    if (n != 2 * (naxis != 0 ? naxis : ndim))
        return FIRE_FAIL(FIRE_ERR_PARSE, "%d pads for %d axes", n, ndim);
    for (int i = 0; i < n / 2; i++) {
        FIRE_TRY(fire_onnx_axis(naxis != 0 ? axes[i] : i, ndim, &axis));
        begin[axis] = pads[i];
        end[axis]   = pads[n / 2 + i];
    }
    return FIRE_OK;
}

fire_status_t fire_onnx_take_pad(fire_onnx_import_t *x)
{
    int64_t                   begin[FIRE_MAX_DIMS] = {0}, end[FIRE_MAX_DIMS] = {0};
    const fire_onnx_tensor_t *t = NULL;
    fire_onnx_chain_t         c;
    Caffe__PadParameter__Mode mode;
    float                     value = fire_onnx_get_float(x, "value", 0);

    FIRE_TRY(fire_onnx_chain_begin(x, 0, &c));
    FIRE_TRY(read_mode(x, &mode));
    FIRE_TRY(read_pads(x, c.ndim, begin, end));
    if (fire_onnx_input(x, 2) != NULL) FIRE_TRY(fire_onnx_constant(x, 2, &t));
    if (t != NULL && t->count == 1) value = (float)fire_onnx_tensor_number(t, 0);
    FIRE_TRY(fire_onnx_chain_pad(x, &c, mode, value, begin, end));
    return fire_onnx_chain_end(x, 0, &c);
}
