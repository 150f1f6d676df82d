/* join.cu - copies between parts and the whole, many parts in one launch. */
#include "layers/shape/join.h"

#include "device/cuda/kernel/map.h"

enum { MOST = 32 }; /* parts of one launch */

/* Rows of the whole, and where each part lies in them; counted in units of U. */
typedef struct joint {
    int64_t outer, row;
    int     n;
    int64_t first[MOST + 1];
    void   *part[MOST];
} joint_t;

template <typename U, bool JOIN>
__global__ static void move(int64_t total, const joint_t j, U *whole)
{
    int64_t width = j.first[j.n] - j.first[0];

    FIRE_GRID_STRIDE (i, total) {
        int64_t o, r;
        int     k = 0;

        if (total <= 0xffffffff) { /* much faster */
            o = (unsigned)i / (unsigned)width;
            r = (unsigned)i % (unsigned)width;
        } else {
            o = i / width;
            r = i % width;
        }
        r += j.first[0];
        while (r >= j.first[k + 1])
            k++;
        if (j.part[k] == NULL) continue;
        U *at = (U *)j.part[k] + o * (j.first[k + 1] - j.first[k]) + r - j.first[k];

        if (JOIN)
            whole[o * j.row + r] = *at;
        else
            *at = whole[o * j.row + r];
    }
}

template <typename U, bool JOIN>
static fire_status_t launch(fire_stream_t *s, const joint_t &j, void *whole)
{
    int64_t n = j.outer * (j.first[j.n] - j.first[0]);

    return FIRE_LAUNCH(s, n, (move<U, JOIN>), n, j, (U *)whole);
}

/* Bytes that divide all parts, and where they begin. */
static int64_t unit_of(const joint_t &j, const void *whole)
{
    int64_t all = j.row | (int64_t)(uintptr_t)whole;

    for (int i = 0; i < j.n; i++)
        all |= j.first[i] | j.first[i + 1] | (int64_t)(uintptr_t)j.part[i];
    return all % 16 == 0 ? 16 : all % 4 == 0 ? 4 : 2;
}

/* j in bytes */
template <bool JOIN> static fire_status_t run(fire_stream_t *s, joint_t j, void *whole)
{
    int64_t unit = unit_of(j, whole);

    j.row /= unit;
    for (int i = 0; i <= j.n; i++)
        j.first[i] /= unit;
    if (unit == 16) return launch<uint4, JOIN>(s, j, whole);
    return unit == 4 ? launch<uint32_t, JOIN>(s, j, whole)
                     : launch<uint16_t, JOIN>(s, j, whole);
}

/* Elements before and behind an axis, as they lie. */
static void around(const fire_blob_t *b, int axis, const fire_format_t *f,
                   int64_t *outer, int64_t *inner)
{
    *outer = fire_blob_count_range(b, 0, axis);
    *inner = fire_blob_count_range(b, axis + 1, b->ndim);
    if (f->layout != FIRE_NHWC || axis == 0) return;
    *outer = b->dim[0];
    *inner = b->dim[1];
    if (axis == 1) {
        *outer *= b->dim[2] * b->dim[3];
        *inner = 1;
    } else if (axis == 2) {
        *inner *= b->dim[3];
    } else {
        *outer *= b->dim[2];
    }
}

template <bool JOIN>
static fire_status_t go(fire_layer_t *l, int axis, fire_part_t part, int n,
                        fire_blob_t *const *parts, const bool *wanted,
                        fire_blob_t *whole)
{
    fire_format_t f    = fire_gpu_format(l, whole);
    int64_t       size = (int64_t)fire_dtype_size(f.dtype), inner;
    joint_t       j    = {};
    void         *all;

    around(whole, axis, &f, &j.outer, &inner);
    j.row = whole->dim[axis] * inner * size;
    FIRE_TRY(fire_blob_access(whole, part, JOIN ? FIRE_WRITE : FIRE_READ, &f, &all));
    for (int i = 0; i < n; i++) {
        int k = j.n++;

        j.part[k]      = NULL;
        j.first[k + 1] = j.first[k] + parts[i]->dim[axis] * inner * size;
        if (wanted == NULL || wanted[i])
            FIRE_TRY(fire_blob_access(parts[i], part, JOIN ? FIRE_READ : FIRE_WRITE, &f,
                                      &j.part[k]));
        if (j.n < MOST && i + 1 < n) continue;
        FIRE_TRY(run<JOIN>(l->ctx->stream, j, all));
        j.first[0] = j.first[j.n];
        j.n        = 0;
    }
    return FIRE_OK;
}

fire_status_t fire_gpu_join(fire_layer_t *l, int axis, fire_part_t part, int n,
                            fire_blob_t *const *parts, fire_blob_t *whole)
{
    return go<true>(l, axis, part, n, parts, NULL, whole);
}

fire_status_t fire_gpu_cut(fire_layer_t *l, int axis, fire_part_t part, int n,
                           fire_blob_t *const *parts, const bool *wanted,
                           fire_blob_t *whole)
{
    return go<false>(l, axis, part, n, parts, wanted, whole);
}
