/* page.c - the result of a check as text and as a page. */
#include <math.h>

#include "data/check/check.h"
#include "data/check/picture.h"

/* "3 x 32 x 32", or a range of sizes. */
static fire_status_t put_extent(const fire_check_t *c, fire_str_t *s)
{
    const fire_extent_t *a = &c->least, *b = &c->most;

    if (fire_extent_equal(*a, *b))
        return fire_str_printf(s, "%d x %d x %d", a->channels, a->height, a->width);
    return fire_str_printf(s, "%d x %d x %d to %d x %d x %d", a->channels, a->height,
                           a->width, b->channels, b->height, b->width);
}

/* Numbers of channels, separated by spaces. */
static fire_status_t put_channels(const fire_check_t *c, const double *value,
                                  fire_str_t *s)
{
    for (int k = 0; k < c->channels && k < 4; k++)
        FIRE_TRY(fire_str_printf(s, "%s%.6g", k > 0 ? " " : "", value[k]));
    return FIRE_OK;
}

fire_status_t fire_check_print(const fire_check_t *c, fire_str_t *s)
{
    FIRE_TRY(fire_str_printf(s, "%s, %lld records\n", c->kind, (long long)c->records));
    FIRE_TRY(fire_str_printf(s, "images: "));
    FIRE_TRY(put_extent(c, s));
    FIRE_TRY(fire_str_printf(s, "\nmean of channels: "));
    FIRE_TRY(put_channels(c, c->mean, s));
    FIRE_TRY(fire_str_printf(s, "\nstandard deviation: "));
    FIRE_TRY(put_channels(c, c->deviation, s));
    FIRE_TRY(fire_str_printf(s, "\n"));
    if (c->vectors > 0)
        FIRE_TRY(fire_str_printf(s, "labels of several numbers: %lld\n",
                                 (long long)c->vectors));
    FIRE_TRY(fire_str_printf(s, "classes: %lld\n", (long long)c->nclass));
    for (int64_t i = 0; i < c->nclass && i < FIRE_CHECK_KEEP; i++)
        FIRE_TRY(fire_str_printf(s, "  %-8g %lld\n", c->klass[i].label,
                                 (long long)c->klass[i].count));
    if (c->nclass > FIRE_CHECK_KEEP)
        FIRE_TRY(fire_str_printf(s, "  and %lld more\n",
                                 (long long)(c->nclass - FIRE_CHECK_KEEP)));
    FIRE_TRY(fire_str_printf(s, "broken records: %lld\n", (long long)c->broken));
    for (int i = 0; i < c->nfault; i++)
        FIRE_TRY(
            fire_str_printf(s, "  %s: %s\n", c->fault[i].key, c->fault[i].message));
    FIRE_TRY(fire_str_printf(s, "duplicates: %lld, %lld of them with another label\n",
                             (long long)c->twins, (long long)c->contradictions));
    for (int i = 0; i < c->ntwin; i++)
        FIRE_TRY(fire_str_printf(s, "  %s (%g) is %s (%g)\n", c->twin[i].second,
                                 c->twin[i].label[1], c->twin[i].first,
                                 c->twin[i].label[0]));
    return FIRE_OK;
}

/* ---- the page ---- */

static const char style[] =
    "body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 "
    "1em;"
    "color:#222;background:#fff}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:1."
    "6em}"
    "td,th{padding:.15em .8em .15em 0;text-align:left;vertical-align:middle}"
    ".number{text-align:right;font-variant-numeric:tabular-nums}"
    ".bar{display:inline-block;height:.8em;background:#4a7fb5}"
    "img{margin:2px;background:#ccc;image-rendering:auto}.bad{color:#b00020}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    ".bar{background:#6aa0d8}.bad{color:#ff8080}}";

static fire_status_t put_summary(const fire_check_t *c, fire_str_t *s)
{
    FIRE_TRY(fire_str_printf(s,
                             "<table><tr><th>kind</th><td>%s</td></tr>\n<tr><th>records"
                             "</th><td>%lld</td></tr>\n<tr><th>images</th><td>",
                             c->kind, (long long)c->records));
    FIRE_TRY(put_extent(c, s));
    FIRE_TRY(fire_str_printf(s, "</td></tr>\n<tr><th>mean of channels</th><td>"));
    FIRE_TRY(put_channels(c, c->mean, s));
    FIRE_TRY(fire_str_printf(s, "</td></tr>\n<tr><th>standard deviation</th><td>"));
    FIRE_TRY(put_channels(c, c->deviation, s));
    return fire_str_printf(
        s,
        "</td></tr>\n<tr><th>broken records</th><td%s>%lld</td></tr>\n"
        "<tr><th>duplicates</th><td%s>%lld, %lld of them with another label</td></tr>"
        "</table>\n",
        c->broken > 0 ? " class='bad'" : "", (long long)c->broken,
        c->contradictions > 0 ? " class='bad'" : "", (long long)c->twins,
        (long long)c->contradictions);
}

static fire_status_t put_classes(const fire_check_t *c, fire_str_t *s)
{
    int64_t most = 1;

    for (int64_t i = 0; i < c->nclass; i++)
        if (c->klass[i].count > most) most = c->klass[i].count;
    FIRE_TRY(
        fire_str_printf(s, "<h2>%lld classes</h2>\n<table>\n", (long long)c->nclass));
    for (int64_t i = 0; i < c->nclass && i < FIRE_CHECK_KEEP; i++) {
        const fire_check_class_t *k = &c->klass[i];

        FIRE_TRY(fire_str_printf(
            s,
            "<tr><th class='number'>%g</th><td class='number'>%lld</td><td>"
            "<span class='bar' style='width:%.1fem'></span></td><td>%s</td></tr>\n",
            k->label, (long long)k->count, 12.0 * (double)k->count / (double)most,
            k->pictures.text != NULL ? k->pictures.text : ""));
    }
    FIRE_TRY(fire_str_printf(s, "</table>\n"));
    if (c->nclass <= FIRE_CHECK_KEEP) return FIRE_OK;
    return fire_str_printf(s, "<p>and %lld more</p>\n",
                           (long long)(c->nclass - FIRE_CHECK_KEEP));
}

static fire_status_t put_faults(const fire_check_t *c, fire_str_t *s)
{
    if (c->nfault == 0) return FIRE_OK;
    FIRE_TRY(fire_str_printf(s, "<h2>Broken records</h2>\n<table>\n"));
    for (int i = 0; i < c->nfault; i++) {
        FIRE_TRY(fire_str_printf(s, "<tr><th>"));
        FIRE_TRY(fire_html_text(s, c->fault[i].key));
        FIRE_TRY(fire_str_printf(s, "</th><td>"));
        FIRE_TRY(fire_html_text(s, c->fault[i].message));
        FIRE_TRY(fire_str_printf(s, "</td></tr>\n"));
    }
    return fire_str_printf(s, "</table>\n");
}

static fire_status_t put_twins(const fire_check_t *c, fire_str_t *s)
{
    if (c->ntwin == 0) return FIRE_OK;
    FIRE_TRY(fire_str_printf(s,
                             "<h2>Duplicates</h2>\n<table><tr><th>record</th><th>label"
                             "</th><th>is like</th><th>label</th></tr>\n"));
    for (int i = 0; i < c->ntwin; i++) {
        const fire_check_twin_t *t = &c->twin[i];

        FIRE_TRY(fire_str_printf(s, "<tr%s><td>",
                                 t->label[0] != t->label[1] ? " class='bad'" : ""));
        FIRE_TRY(fire_html_text(s, t->second));
        FIRE_TRY(fire_str_printf(s, "</td><td>%g</td><td>", t->label[1]));
        FIRE_TRY(fire_html_text(s, t->first));
        FIRE_TRY(fire_str_printf(s, "</td><td>%g</td></tr>\n", t->label[0]));
    }
    return fire_str_printf(s, "</table>\n");
}

fire_status_t fire_check_page(const fire_check_t *c, const char *title, fire_str_t *s)
{
    FIRE_TRY(fire_str_printf(
        s, "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>\n"
           "<meta name='viewport' content='width=device-width'><title>Data: "));
    FIRE_TRY(fire_html_text(s, title));
    FIRE_TRY(fire_str_printf(s, "</title><style>%s</style></head><body>\n<h1>", style));
    FIRE_TRY(fire_html_text(s, title));
    FIRE_TRY(fire_str_printf(s, "</h1>\n"));
    FIRE_TRY(put_summary(c, s));
    FIRE_TRY(put_classes(c, s));
    FIRE_TRY(put_faults(c, s));
    FIRE_TRY(put_twins(c, s));
    return fire_str_printf(s, "</body></html>\n");
}
