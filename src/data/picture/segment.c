/* segment.c - graph-based segmentation: pixels are the nodes, edges join neighbours and
 * weigh their colour difference; edges are looked at in ascending order, as in
 * Kruskal's algorithm. Memory: 48 bytes per pixel for edges, 12 for the forest. */
#include "data/picture/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"

/* ---- smoothing ---- */

enum { RADIUS = 4 };

/* A Gaussian of sigma 0.8, exp(-d * d / (2 * 0.8 * 0.8)): removes JPEG artefacts. */
static const float weight[RADIUS + 1] = {1.0f, 0.45783336f, 0.04393694f, 0.00088383f,
                                         3.7267e-06f};

static int clamp(int i, int n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Convolve along rows (dx = 1) or columns (dy = 1). */
static void smooth(const fire_picture_t *in, int dy, int dx, fire_picture_t *out)
{
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++)
            for (int c = 0; c < in->channels; c++) {
                float sum = 0, total = 0;

                for (int d = -RADIUS; d <= RADIUS; d++) {
                    float w = weight[abs(d)];

                    sum += w * fire_picture_at(in, clamp(y + d * dy, in->height),
                                               clamp(x + d * dx, in->width))[c];
                    total += w;
                }
                fire_picture_at(out, y, x)[c] = sum / total;
            }
}

/* ---- a forest of pixels ---- */

/* A pixel in the forest of regions (union-find). Members but `parent` are valid in
 * roots. */
typedef struct tree {
    int   parent, size;
    float inner; /* largest difference inside + scale / size */
} tree_t;

/* The root of pixel i's region; shortens the path on the way. */
static int root_of(tree_t *t, int i)
{
    while (t[i].parent != i) {
        t[i].parent = t[t[i].parent].parent;
        i           = t[i].parent;
    }
    return i;
}

/* Join two roots; returns the new root, that of the larger region. */
static int join(tree_t *t, int a, int b)
{
    if (t[a].size < t[b].size) {
        int kept = a;

        a = b;
        b = kept;
    }
    t[b].parent = a;
    t[a].size += t[b].size;
    return a;
}

/* ---- steps between neighbours ---- */

/* An edge between the pixels a and b; height: their colour difference, times 255. */
typedef struct step {
    float height;
    int   a, b;
} step_t;

static int by_height(const void *pa, const void *pb)
{
    const step_t *a = pa, *b = pb;

    if (a->height != b->height) return a->height < b->height ? -1 : 1;
    /* equal heights in pixel order, so that all machines agree */
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static float difference(const float *a, const float *b, int channels)
{
    float sum = 0;

    for (int c = 0; c < channels; c++)
        sum += (a[c] - b[c]) * (a[c] - b[c]);
    return 255 * sqrtf(sum);
}

/* All edges to the right and lower neighbours, 4 per pixel; returns their number. */
static int64_t list_steps(const fire_picture_t *p, step_t *step)
{
    static const int dy[] = {0, 1, 1, 1}, dx[] = {1, 0, 1, -1};
    int64_t          n = 0;

    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++)
            for (int k = 0; k < 4; k++) {
                int to_y = y + dy[k], to_x = x + dx[k];

                if (to_y >= p->height || to_x < 0 || to_x >= p->width) continue;
                step[n++] =
                    (step_t){difference(fire_picture_at(p, y, x),
                                        fire_picture_at(p, to_y, to_x), p->channels),
                             y * p->width + x, to_y * p->width + to_x};
            }
    return n;
}

/* ---- regions ---- */

/* Join regions whose difference is not larger than inside of either. */
static void grow_regions(tree_t *t, const step_t *step, int64_t n, float scale)
{
    for (int64_t i = 0; i < n; i++) {
        int a = root_of(t, step[i].a), b = root_of(t, step[i].b);

        if (a == b || step[i].height > t[a].inner || step[i].height > t[b].inner)
            continue;
        a          = join(t, a, b);
        t[a].inner = step[i].height + scale / (float)t[a].size;
    }
}

/* Join regions below min_size to a neighbour, the most similar one first. */
static void absorb_small(tree_t *t, const step_t *step, int64_t n, int min_size)
{
    for (int64_t i = 0; i < n; i++) {
        int a = root_of(t, step[i].a), b = root_of(t, step[i].b);

        if (a != b && (t[a].size < min_size || t[b].size < min_size)) join(t, a, b);
    }
}

/* Number the regions. The sizes are not needed any more: a root's `size` becomes -1 -
 * its number. */
static int number_regions(tree_t *t, int64_t count, int *label)
{
    int n = 0;

    for (int64_t i = 0; i < count; i++) {
        tree_t *root = &t[root_of(t, (int)i)];

        if (root->size > 0) root->size = -1 - n++;
        label[i] = -1 - root->size;
    }
    return n;
}

static fire_status_t segment_smooth(const fire_picture_t *in, float scale, int min_size,
                                    int *label, int *nlabel_p)
{
    int64_t count = (int64_t)in->height * in->width, n;
    step_t *step;
    tree_t *t;

    FIRE_TRY(FIRE_NEW(&step, 4 * count));
    if (FIRE_NEW(&t, count) < 0) {
        fire_free(step);
        return FIRE_ERR_NOMEM;
    }
    for (int64_t i = 0; i < count; i++)
        t[i] = (tree_t){(int)i, 1, scale};
    n = list_steps(in, step);
    qsort(step, (size_t)n, sizeof(*step), by_height);
    grow_regions(t, step, n, scale);
    absorb_small(t, step, n, min_size);
    *nlabel_p = number_regions(t, count, label);
    fire_free(t);
    fire_free(step);
    return FIRE_OK;
}

fire_status_t fire_segment(const fire_picture_t *in, float scale, int min_size,
                           int *label, int *nlabel_p)
{
    fire_picture_t rows, both;
    fire_status_t  st;

    FIRE_TRY(fire_picture_create(in->height, in->width, in->channels, &rows));
    st = fire_picture_create(in->height, in->width, in->channels, &both);
    if (st >= 0) {
        smooth(in, 0, 1, &rows);
        smooth(&rows, 1, 0, &both);
        st = segment_smooth(&both, scale, min_size, label, nlabel_p);
        fire_picture_fini(&both);
    }
    fire_picture_fini(&rows);
    return st;
}
