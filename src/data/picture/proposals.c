/* proposals.c - selective search. Memory: a region of about 400 bytes per segment,
 * twice; a pair of 12 bytes per two regions that touch. */
#include "data/picture/proposals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "data/picture/segment.h"

enum {
    COLOUR_BINS = 25, /* of a histogram, per channel */
    DIRECTIONS  = 8,  /* of the gradient, per channel */
    CHANNELS    = 3,
    COLOURS     = CHANNELS * COLOUR_BINS,
    TEXTURES    = CHANNELS * DIRECTIONS,
    WORK_SIDE   = 500, /* longest side in pixels; larger pictures shrink */
};

/* of the first regions: fire_segment()'s scale */
static const float scales[] = {50, 100, 150, 300};

/* A region; its shape is not kept, only what the similarity needs. */
typedef struct region {
    float       size; /* number of pixels */
    fire_rect_t rect;
    float       colour[COLOURS], texture[TEXTURES]; /* histograms, each of sum 1 */
} region_t;

/* Two regions that touch. */
typedef struct pair {
    int   a, b;
    float likeness;
} pair_t;

typedef struct search {
    const fire_picture_t *in;
    bool                  by_colour; /* colour is part of the likeness */
    int                  *label;     /* [height x width] first region of each pixel */
    region_t             *region;    /* first regions, then merged ones */
    int                   nregion;
    pair_t               *pair; /* all pairs of regions that are not merged yet */
    int64_t               npair, pair_cap;
} search_t;

/* ---- the first regions ---- */

/* The bin of a value of 0 ... 1. */
static int bin_of(float value, int bins)
{
    int bin = (int)(value * (float)bins);

    return bin < 0 ? 0 : bin < bins ? bin : bins - 1;
}

/* The gradient's length at (y, x) in channel c, and its direction's bin. */
static float gradient(const fire_picture_t *p, int y, int x, int c, int *direction_p)
{
    static const float pi = 3.14159265f;
    int                up = y > 0 ? y - 1 : y, down = y + 1 < p->height ? y + 1 : y;
    int                left = x > 0 ? x - 1 : x, right = x + 1 < p->width ? x + 1 : x;
    float dy = fire_picture_at(p, down, x)[c] - fire_picture_at(p, up, x)[c];
    float dx = fire_picture_at(p, y, right)[c] - fire_picture_at(p, y, left)[c];

    *direction_p = bin_of((atan2f(dy, dx) + pi) / (2 * pi), DIRECTIONS);
    return sqrtf(dx * dx + dy * dy);
}

/* Add a pixel to box and histograms of its region; pixels come in row order. */
static void add_pixel(const fire_picture_t *p, int y, int x, region_t *r)
{
    fire_rect_t *t = &r->rect;

    if (r->size == 0) *t = (fire_rect_t){y, x, y + 1, x + 1};
    if (x < t->xmin) t->xmin = x;
    if (x >= t->xmax) t->xmax = x + 1;
    t->ymax = y + 1;
    r->size++;
    for (int c = 0; c < p->channels; c++) {
        int   direction;
        float slope = gradient(p, y, x, c, &direction);

        r->colour[c * COLOUR_BINS + bin_of(fire_picture_at(p, y, x)[c], COLOUR_BINS)]++;
        r->texture[c * DIRECTIONS + direction] += slope;
    }
}

static void normalize(float *bin, int n)
{
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += bin[i];
    for (int i = 0; i < n && sum > 0; i++)
        bin[i] /= sum;
}

static fire_status_t first_regions(search_t *s, float scale)
{
    const fire_picture_t *p = s->in;

    FIRE_TRY(fire_segment(p, scale, (int)scale, s->label, &s->nregion));
    FIRE_TRY(
        FIRE_NEW(&s->region, 2 * s->nregion - 1)); /* n regions merge n - 1 times */
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++)
            add_pixel(p, y, x, &s->region[s->label[y * p->width + x]]);
    for (int i = 0; i < s->nregion; i++) {
        normalize(s->region[i].colour, COLOURS);
        normalize(s->region[i].texture, TEXTURES);
    }
    return FIRE_OK;
}

/* ---- likeness ---- */

/* Histogram intersection: 1 for equal histograms. */
static float common(const float *a, const float *b, int n)
{
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += fminf(a[i], b[i]);
    return sum;
}

static fire_rect_t around(fire_rect_t a, fire_rect_t b)
{
    return (fire_rect_t){
        a.ymin < b.ymin ? a.ymin : b.ymin, a.xmin < b.xmin ? a.xmin : b.xmin,
        a.ymax > b.ymax ? a.ymax : b.ymax, a.xmax > b.xmax ? a.xmax : b.xmax};
}

/* Colour and texture alike, both small, and the box around both well filled. */
static float likeness(const search_t *s, const region_t *a, const region_t *b)
{
    float       whole = (float)s->in->height * (float)s->in->width;
    float       both  = a->size + b->size;
    fire_rect_t box   = around(a->rect, b->rect);
    float       area  = (float)(box.ymax - box.ymin) * (float)(box.xmax - box.xmin);

    return (s->by_colour ? common(a->colour, b->colour, COLOURS) : 0) +
           common(a->texture, b->texture, TEXTURES) + (1 - both / whole) +
           (1 - (area - both) / whole);
}

static fire_status_t add_pair(search_t *s, int a, int b)
{
    FIRE_TRY(fire_grow(&s->pair, &s->pair_cap, s->npair + 1, sizeof(*s->pair)));
    s->pair[s->npair++] = (pair_t){a, b, likeness(s, &s->region[a], &s->region[b])};
    return FIRE_OK;
}

static int by_regions(const void *pa, const void *pb)
{
    const pair_t *a = pa, *b = pb;

    return a->a != b->a ? a->a - b->a : a->b - b->b;
}

/* Note that regions a and b touch. */
static fire_status_t touch(search_t *s, int a, int b)
{
    if (a == b) return FIRE_OK;
    FIRE_TRY(fire_grow(&s->pair, &s->pair_cap, s->npair + 1, sizeof(*s->pair)));
    s->pair[s->npair++] = (pair_t){.a = a < b ? a : b, .b = a < b ? b : a};
    return FIRE_OK;
}

/* List all pairs of first regions with a pixel side in common, each once. */
static fire_status_t first_pairs(search_t *s)
{
    int     width = s->in->width, height = s->in->height;
    int64_t n = 0;

    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            int at = y * width + x;

            if (x + 1 < width) FIRE_TRY(touch(s, s->label[at], s->label[at + 1]));
            if (y + 1 < height) FIRE_TRY(touch(s, s->label[at], s->label[at + width]));
        }
    if (s->npair > 0) qsort(s->pair, (size_t)s->npair, sizeof(*s->pair), by_regions);
    for (int64_t i = 0; i < s->npair; i++) {
        pair_t p = s->pair[i];

        if (n > 0 && by_regions(&s->pair[n - 1], &p) == 0) continue;
        p.likeness   = likeness(s, &s->region[p.a], &s->region[p.b]);
        s->pair[n++] = p;
    }
    s->npair = n;
    return FIRE_OK;
}

/* ---- merging ---- */

/* Histograms of the union: the mean, weighted by size. */
static void merge_bins(const region_t *a, const region_t *b, region_t *to)
{
    float share = a->size / (a->size + b->size);

    for (int i = 0; i < COLOURS; i++)
        to->colour[i] = share * a->colour[i] + (1 - share) * b->colour[i];
    for (int i = 0; i < TEXTURES; i++)
        to->texture[i] = share * a->texture[i] + (1 - share) * b->texture[i];
}

/* Merge regions a and b into a new one, which touches whatever touched either. seen[r]
 * = the new region for which region r was added to the pairs last. */
static fire_status_t merge(search_t *s, int a, int b, int *seen)
{
    int       id = s->nregion++;
    region_t *r  = &s->region[id];
    int64_t   n = 0, old = s->npair;

    merge_bins(&s->region[a], &s->region[b], r);
    r->size = s->region[a].size + s->region[b].size;
    r->rect = around(s->region[a].rect, s->region[b].rect);
    for (int64_t i = 0; i < old; i++) {
        pair_t p     = s->pair[i];
        bool   first = p.a == a || p.a == b, second = p.b == a || p.b == b;
        int    other = first ? p.b : p.a;

        if (first != second && seen[other] != id) {
            seen[other] = id;
            FIRE_TRY(add_pair(s, other, id));
        }
        if (!first && !second) s->pair[n++] = p;
    }
    memmove(&s->pair[n], &s->pair[old], (size_t)(s->npair - old) * sizeof(*s->pair));
    s->npair = n + s->npair - old;
    return FIRE_OK;
}

/* Merge the most similar pair until no pair is left. */
static fire_status_t merge_all(search_t *s)
{
    int          *seen;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&seen, 2 * s->nregion));
    st = first_pairs(s);
    while (s->npair > 0 && st >= 0) {
        const pair_t *best = &s->pair[0];

        for (int64_t i = 1; i < s->npair; i++)
            if (s->pair[i].likeness > best->likeness) best = &s->pair[i];
        st = merge(s, best->a, best->b, seen);
    }
    fire_free(seen);
    return st;
}

/* ---- windows ---- */

/* A window and its position in the list. */
typedef struct window {
    fire_rect_t rect;
    int64_t     order;
} window_t;

typedef struct windows {
    window_t *item;
    int64_t   n, cap;
} windows_t;

static int by_place(const void *pa, const void *pb)
{
    const window_t *a = pa, *b = pb;
    int             d = memcmp(&a->rect, &b->rect, sizeof(a->rect));

    return d != 0 ? d : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *pa, const void *pb)
{
    const window_t *a = pa, *b = pb;

    return (a->order > b->order) - (a->order < b->order);
}

/* Keep the first of equal windows, in the old order. */
static void drop_repeated(windows_t *w)
{
    int64_t n = 0;

    if (w->n == 0) return;
    qsort(w->item, (size_t)w->n, sizeof(*w->item), by_place);
    for (int64_t i = 0; i < w->n; i++)
        if (n == 0 ||
            memcmp(&w->item[n - 1].rect, &w->item[i].rect, sizeof(fire_rect_t)) != 0)
            w->item[n++] = w->item[i];
    w->n = n;
    qsort(w->item, (size_t)n, sizeof(*w->item), by_order);
}

/* Scale a box from the searched picture to the original one, rounded outwards. */
static fire_rect_t enlarge(fire_rect_t r, const fire_picture_t *from,
                           const fire_picture_t *to)
{
    double v = (double)to->height / from->height, h = (double)to->width / from->width;

    return (fire_rect_t){(int)floor(r.ymin * v), (int)floor(r.xmin * h),
                         (int)fmin(ceil(r.ymax * v), to->height),
                         (int)fmin(ceil(r.xmax * h), to->width)};
}

static fire_status_t collect(const search_t *s, const fire_picture_t *in, int min_side,
                             windows_t *w)
{
    for (int i = s->nregion - 1; i >= 0; i--) { /* the last one is the whole picture */
        fire_rect_t r = enlarge(s->region[i].rect, s->in, in);

        if (r.ymax - r.ymin < min_side || r.xmax - r.xmin < min_side) continue;
        FIRE_TRY(fire_grow(&w->item, &w->cap, w->n + 1, sizeof(*w->item)));
        w->item[w->n] = (window_t){r, w->n};
        w->n++;
    }
    return FIRE_OK;
}

/* Search with one size of first regions: with colour, then without. */
static fire_status_t search_scale(const fire_picture_t *small, float scale,
                                  const fire_picture_t *in, int min_side, windows_t *w)
{
    search_t      s = {.in = small};
    int           n = 0;
    fire_status_t st;

    FIRE_TRY(FIRE_NEW(&s.label, (int64_t)small->height * small->width));
    st = first_regions(&s, scale);
    n  = s.nregion;
    for (int pass = 0; pass < 2 && st >= 0; pass++) {
        s.by_colour = pass == 0;
        s.nregion   = n;
        st          = merge_all(&s);
        if (st >= 0) st = collect(&s, in, min_side, w);
    }
    fire_free(s.label);
    fire_free(s.region);
    fire_free(s.pair);
    return st;
}

static fire_status_t search_all(const fire_picture_t *in, int min_side, windows_t *w)
{
    int            longer = in->height > in->width ? in->height : in->width;
    double         shrink = longer > WORK_SIDE ? (double)WORK_SIDE / longer : 1;
    int            height = (int)fmax(1, rint(in->height * shrink));
    int            width  = (int)fmax(1, rint(in->width * shrink));
    fire_picture_t small;
    fire_status_t  st = FIRE_OK;

    FIRE_TRY(fire_picture_resize(in, height, width, &small));
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]) && st >= 0; i++)
        st = search_scale(&small, scales[i], in, min_side, w);
    fire_picture_fini(&small);
    return st;
}

fire_status_t fire_proposals_find(const fire_picture_t *in, int min_side,
                                  fire_rect_t **rect_p, int64_t *n_p)
{
    windows_t     w    = {0};
    fire_rect_t  *rect = NULL;
    fire_status_t st   = search_all(in, min_side, &w);

    if (st >= 0) {
        drop_repeated(&w);
        st = FIRE_NEW(&rect, w.n);
    }
    for (int64_t i = 0; i < w.n && st >= 0; i++)
        rect[i] = w.item[i].rect;
    if (st >= 0) {
        *rect_p = rect;
        *n_p    = w.n;
    }
    fire_free(w.item);
    return st;
}
