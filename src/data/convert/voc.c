/* voc.c - an XML reader that knows no more of XML than annotations use: elements, text,
 * comments, declarations. An element is known by its path, "annotation/object/name". */
#include "data/convert/voc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { MOST_PATH = 256 };

typedef struct reader {
    const char *at, *end, *source;
    char        path[MOST_PATH]; /* of the element around `at` */
    const char *text;            /* behind the last tag */
    fire_voc_t *voc;
} reader_t;

static fire_status_t fail(const reader_t *r, const char *what)
{
    return FIRE_FAIL(FIRE_ERR_PARSE, "%s: %s%s%s", r->source, what,
                     r->path[0] != '\0' ? " in " : "", r->path);
}

/* ---- values ---- */

static bool is_at(const reader_t *r, const char *path)
{
    return strcmp(r->path, path) == 0;
}

/* The text of the element that ends at `to`, without the space around it. */
static void copy_text(const reader_t *r, const char *to, char *out, size_t size)
{
    const char *from = r->text;

    while (from < to && strchr(" \t\r\n", *from) != NULL)
        from++;
    while (to > from && strchr(" \t\r\n", to[-1]) != NULL)
        to--;
    snprintf(out, size, "%.*s", (int)(to - from), from);
}

static fire_status_t number(const reader_t *r, const char *text, double *value_p)
{
    char *rest;

    *value_p = strtod(text, &rest);
    if (rest != text && *rest == '\0' && *value_p >= -1e6 && *value_p <= 1e6)
        return FIRE_OK;
    return fail(r, "a number is missing");
}

static fire_status_t take_corner(const reader_t *r, fire_voc_object_t *o,
                                 const char *text)
{
    static const char *const names[]  = {"xmin", "ymin", "xmax", "ymax"};
    float                   *corner[] = {&o->xmin, &o->ymin, &o->xmax, &o->ymax};
    const char              *name     = strrchr(r->path, '/') + 1;
    double                   value;

    for (int i = 0; i < 4; i++) {
        if (strcmp(name, names[i]) != 0) continue;
        FIRE_TRY(number(r, text, &value));
        *corner[i] = (float)value;
        o->corners |= 1 << i;
    }
    return FIRE_OK;
}

/* An element ends: keep what it says. */
static fire_status_t take(reader_t *r, const char *to)
{
    static const char  box[] = "annotation/object/bndbox/";
    fire_voc_t        *v     = r->voc;
    fire_voc_object_t *o     = v->nobject > 0 ? &v->object[v->nobject - 1] : NULL;
    char               text[FIRE_VOC_NAME];
    double             value;

    copy_text(r, to, text, sizeof(text));
    if (is_at(r, "annotation/size/width") || is_at(r, "annotation/size/height")) {
        FIRE_TRY(number(r, text, &value));
        *(strcmp(r->path, "annotation/size/width") == 0 ? &v->width : &v->height) =
            (int)value;
    } else if (o != NULL && is_at(r, "annotation/object/name")) {
        memcpy(o->name, text, sizeof(text));
    } else if (o != NULL && is_at(r, "annotation/object/difficult")) {
        o->difficult = strcmp(text, "1") == 0;
    } else if (o != NULL && strncmp(r->path, box, sizeof(box) - 1) == 0) {
        return take_corner(r, o, text);
    } else if (o != NULL && is_at(r, "annotation/object") &&
               (o->name[0] == '\0' || o->corners != 15)) {
        return fail(r, "an object has no name, or no bndbox with four corners");
    }
    return FIRE_OK;
}

/* ---- elements ---- */

static fire_status_t open_element(reader_t *r, const char *name, size_t n)
{
    size_t      used = strlen(r->path);
    fire_voc_t *v    = r->voc;

    if (used + n + 2 > sizeof(r->path))
        return fail(r, "too many elements inside others");
    snprintf(r->path + used, sizeof(r->path) - used, "%s%.*s", used > 0 ? "/" : "",
             (int)n, name);
    if (!is_at(r, "annotation/object")) return FIRE_OK;
    FIRE_TRY(fire_grow(&v->object, &v->cap, v->nobject + 1, sizeof(*v->object)));
    v->object[v->nobject++] = (fire_voc_object_t){.difficult = false};
    return FIRE_OK;
}

static fire_status_t close_element(reader_t *r, const char *name, size_t n,
                                   const char *tag)
{
    char       *slash = strrchr(r->path, '/');
    const char *last  = slash != NULL ? slash + 1 : r->path;

    if (strlen(last) != n || strncmp(last, name, n) != 0)
        return fail(r, "an element ends that did not begin");
    FIRE_TRY(take(r, tag));
    *(slash != NULL ? slash : r->path) = '\0';
    return FIRE_OK;
}

static const char *find(const reader_t *r, const char *text)
{
    size_t n = strlen(text);

    for (const char *c = r->at; (size_t)(r->end - c) >= n; c++)
        if (memcmp(c, text, n) == 0) return c;
    return NULL;
}

/* r->at is behind a <. */
static fire_status_t read_tag(reader_t *r)
{
    const char *tag     = r->at - 1;
    bool        comment = r->end - r->at >= 3 && memcmp(r->at, "!--", 3) == 0;
    const char *close   = find(r, comment ? "-->" : ">");
    bool        ends    = r->at < r->end && *r->at == '/';
    const char *name    = r->at + ends;
    size_t      n       = 0;

    if (close == NULL) return fail(r, "a tag has no end");
    r->at = close + (comment ? 3 : 1);
    if (comment || *name == '?' || *name == '!') return FIRE_OK;
    while (name + n < close && strchr(" \t\r\n/", name[n]) == NULL)
        n++;
    if (n == 0) return fail(r, "a tag has no name");
    FIRE_TRY(ends ? close_element(r, name, n, tag) : open_element(r, name, n));
    if (!ends && close[-1] == '/') FIRE_TRY(close_element(r, name, n, tag));
    r->text = r->at;
    return FIRE_OK;
}

static fire_status_t read_all(reader_t *r)
{
    while ((r->at = memchr(r->at, '<', (size_t)(r->end - r->at))) != NULL) {
        r->at++;
        FIRE_TRY(read_tag(r));
    }
    return r->path[0] == '\0' ? FIRE_OK : fail(r, "the file ends");
}

fire_status_t fire_voc_parse(const char *text, size_t n, const char *source,
                             fire_voc_t *voc_p)
{
    fire_voc_t voc = {0};
    reader_t   r   = {
            .at = text, .end = text + n, .source = source, .text = text, .voc = &voc};
    fire_status_t st = read_all(&r);

    if (st < 0)
        fire_voc_fini(&voc);
    else
        *voc_p = voc;
    return st;
}

void fire_voc_fini(fire_voc_t *v)
{
    fire_free(v->object);
    *v = (fire_voc_t){0};
}
