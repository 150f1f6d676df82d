/* check.c - goes through a data set once. */
#include "data/check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sha256.h"
#include "data/check/picture.h"

/* The fingerprint of a record's pixels. */
typedef struct print {
    uint8_t digest[16];
    int64_t record;
    double  label;
} print_t;

/* Sums over all pixels of a channel. */
typedef struct sums {
    double n, value, square;
} sums_t;

/* What is only needed while the check runs. */
typedef struct run {
    const fire_check_options_t *options;
    fire_items_t                items;
    fire_workspace_t            scratch;
    print_t                    *print;
    int64_t                     nprint;
    sums_t                      sums[4];
} run_t;

/* ---- classes ---- */

/* The class of a label, made if it is new. Classes are kept in order. */
static fire_status_t find_class(fire_check_t *c, double label,
                                fire_check_class_t **class_p)
{
    int64_t low = 0, high = c->nclass;

    while (low < high) {
        int64_t mid = (low + high) / 2;

        if (c->klass[mid].label < label)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == c->nclass || c->klass[low].label != label) {
        FIRE_TRY(fire_grow(&c->klass, &c->class_cap, c->nclass + 1, sizeof(*c->klass)));
        memmove(c->klass + low + 1, c->klass + low,
                (size_t)(c->nclass - low) * sizeof(*c->klass));
        c->klass[low] = (fire_check_class_t){.label = label};
        c->nclass++;
    }
    *class_p = &c->klass[low];
    return FIRE_OK;
}

/* ---- one record ---- */

static double value_at(const fire_pixels_t *p, int64_t at)
{
    return p->bytes != NULL ? p->bytes[at] : (double)p->floats[at];
}

/* Add an image to the sums of its channels and to the sizes. */
static void measure(fire_check_t *c, run_t *r, const fire_pixels_t *p)
{
    fire_extent_t e = p->extent;

    if (c->channels == 0) {
        c->channels = e.channels;
        c->least = c->most = e;
    }
    if (e.height < c->least.height) c->least.height = e.height;
    if (e.width < c->least.width) c->least.width = e.width;
    if (e.channels < c->least.channels) c->least.channels = e.channels;
    if (e.height > c->most.height) c->most.height = e.height;
    if (e.width > c->most.width) c->most.width = e.width;
    if (e.channels > c->most.channels) c->most.channels = e.channels;
    for (int k = 0; k < e.channels && k < 4 && e.channels == c->channels; k++) {
        sums_t *s = &r->sums[k];

        for (int y = 0; y < e.height; y++)
            for (int x = 0; x < e.width; x++) {
                double v = value_at(p, k * p->step_c + y * p->step_y + x * p->step_x);

                s->value += v;
                s->square += v * v;
            }
        s->n += (double)e.height * e.width;
    }
}

/* The fingerprint of size and values; an image has the same one however its values are
 * arranged in memory only if they are arranged alike, as they are in one data set. */
static void fingerprint(const fire_pixels_t *p, print_t *print)
{
    uint8_t       digest[FIRE_SHA256_SIZE];
    fire_sha256_t sha;
    size_t        n = (size_t)fire_extent_count(p->extent);

    fire_sha256_init(&sha);
    fire_sha256_add(&sha, &p->extent, sizeof(p->extent));
    if (p->bytes != NULL)
        fire_sha256_add(&sha, p->bytes, n);
    else
        fire_sha256_add(&sha, p->floats, n * sizeof(float));
    fire_sha256_final(&sha, digest);
    memcpy(print->digest, digest, sizeof(print->digest));
}

static void note_fault(fire_check_t *c, const char *key)
{
    c->broken++;
    if (c->nfault == FIRE_CHECK_KEEP) return;
    snprintf(c->fault[c->nfault].key, sizeof(c->fault[0].key), "%s", key);
    snprintf(c->fault[c->nfault].message, sizeof(c->fault[0].message), "%s",
             fire_last_error());
    c->nfault++;
}

static fire_status_t look_at(fire_check_t *c, run_t *r, int64_t i)
{
    char                key[FIRE_KEY_TEXT] = "";
    fire_item_t         item;
    fire_check_class_t *klass;
    fire_status_t       st = fire_items_load(&r->items, i, &r->scratch, key, &item);

    c->records++;
    if (st == FIRE_ERR_NOMEM) return st;
    if (st < 0) {
        note_fault(c, key);
        return FIRE_OK;
    }
    r->print[r->nprint] = (print_t){.record = i, .label = item.label};
    fingerprint(&item.pixels, &r->print[r->nprint++]);
    measure(c, r, &item.pixels);
    c->vectors += item.nlabel != 1;
    if (item.nlabel != 1) return FIRE_OK;
    FIRE_TRY(find_class(c, item.label, &klass));
    klass->count++;
    if (klass->npicture >= r->options->pictures || c->nclass > FIRE_CHECK_KEEP)
        return FIRE_OK;
    klass->npicture++;
    return fire_check_picture(&item.pixels, key, &r->scratch, &klass->pictures);
}

/* ---- duplicates ---- */

static int compare_prints(const void *a, const void *b)
{
    const print_t *u = a, *v = b;
    int            order = memcmp(u->digest, v->digest, sizeof(u->digest));

    return order != 0 ? order : u->record < v->record ? -1 : 1;
}

static int compare_records(const void *a, const void *b)
{
    const print_t *const *u = a, *const *v = b;

    return (*u)->record < (*v)->record ? -1 : 1;
}

static void key_of(run_t *r, int64_t record, char key[FIRE_KEY_TEXT])
{
    fire_item_t item;

    (void)(fire_items_load(&r->items, record, &r->scratch, key, &item) < 0);
}

/* After sorting, equal pixels are neighbours, the first record first. Twins are told in
 * the order of the records. */
static fire_status_t find_twins(fire_check_t *c, run_t *r)
{
    print_t **twin;
    int64_t   first = 0;

    qsort(r->print, (size_t)r->nprint, sizeof(*r->print), compare_prints);
    FIRE_TRY(FIRE_NEW(&twin, r->nprint + 1));
    for (int64_t i = 1; i < r->nprint; i++) {
        if (memcmp(r->print[i].digest, r->print[first].digest,
                   sizeof(r->print[i].digest)) != 0) {
            first = i;
            continue;
        }
        c->contradictions += r->print[i].label != r->print[first].label;
        twin[c->twins++] = &r->print[i];
    }
    qsort(twin, (size_t)c->twins, sizeof(*twin), compare_records);
    for (; c->ntwin < c->twins && c->ntwin < FIRE_CHECK_KEEP; c->ntwin++) {
        fire_check_twin_t *t = &c->twin[c->ntwin];
        const print_t     *p = twin[c->ntwin], *q = p;

        while (q > r->print && memcmp(q[-1].digest, p->digest, sizeof(p->digest)) == 0)
            q--;
        key_of(r, q->record, t->first);
        key_of(r, p->record, t->second);
        t->label[0] = q->label;
        t->label[1] = p->label;
    }
    fire_free(twin);
    return FIRE_OK;
}

/* ---- all records ---- */

static fire_status_t look_at_all(fire_check_t *c, run_t *r)
{
    const fire_check_options_t *o = r->options;
    int64_t n = o->limit > 0 && o->limit < r->items.count ? o->limit : r->items.count;

    FIRE_TRY(FIRE_NEW(&r->print, n));
    for (int64_t i = 0; i < n; i++) {
        if (o->progress != NULL && i % 256 == 0) FIRE_TRY(o->progress(o->arg, i, n));
        FIRE_TRY(look_at(c, r, i));
    }
    FIRE_TRY(find_twins(c, r));
    for (int k = 0; k < 4; k++) {
        const sums_t *s = &r->sums[k];

        if (s->n == 0) continue;
        c->mean[k]      = s->value / s->n;
        c->deviation[k] = sqrt(fmax(0, s->square / s->n - c->mean[k] * c->mean[k]));
    }
    return FIRE_OK;
}

fire_status_t fire_check_run(const char *path, const fire_check_options_t *options,
                             fire_check_t *check_p)
{
    run_t         r = {.options = options};
    fire_status_t st;

    *check_p = (fire_check_t){0};
    FIRE_TRY(fire_items_open(path, &options->items, &r.items));
    check_p->kind = r.items.kind;
    st            = look_at_all(check_p, &r);
    fire_items_close(&r.items);
    fire_workspace_fini(&r.scratch);
    fire_free(r.print);
    if (st < 0) fire_check_fini(check_p);
    return st;
}

void fire_check_fini(fire_check_t *c)
{
    for (int64_t i = 0; i < c->nclass; i++)
        fire_str_fini(&c->klass[i].pictures);
    fire_free(c->klass);
    c->klass  = NULL;
    c->nclass = 0;
}
