/* lr_page.c - the curve of lr_find.h as a page: an SVG drawing with a logarithmic axis of
 * rates, and the numbers below it. */
#include <math.h>

#include "sweep/lr_find.h"

enum { WIDTH = 720, HEIGHT = 400, LEFT = 60, RIGHT = 20, TOP = 20, BOTTOM = 45 };

typedef struct frame {
    double x0, x1, y0, y1; /* log10 of rates; losses */
} frame_t;

/* Losses beyond twice the first are cut off: they would press the rest flat. */
static frame_t frame_of(const fire_lr_find_t *f)
{
    frame_t r = {log10(f->point[0].rate), log10(f->point[f->npoint - 1].rate), INFINITY,
                 0};

    for (int64_t i = 0; i < f->npoint; i++) {
        if (!isfinite(f->point[i].smooth)) continue;
        r.y0 = fmin(r.y0, fmin(f->point[i].smooth, f->point[i].loss));
        r.y1 = fmax(r.y1, f->point[i].smooth);
    }
    r.y1 = fmin(r.y1, 2 * f->point[0].smooth);
    if (r.x1 <= r.x0) r.x1 = r.x0 + 1;
    if (!(r.y1 > r.y0)) r.y1 = r.y0 + 1;
    return r;
}

static double x_of(const frame_t *r, double rate)
{
    return LEFT + (log10(rate) - r->x0) / (r->x1 - r->x0) * (WIDTH - LEFT - RIGHT);
}

static double y_of(const frame_t *r, double loss)
{
    double part = (fmin(loss, r->y1) - r->y0) / (r->y1 - r->y0);

    return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
}

static fire_status_t draw_axes(const frame_t *r, fire_str_t *s)
{
    for (int k = (int)ceil(r->x0); k <= (int)floor(r->x1); k++) {
        double x = x_of(r, pow(10, k));

        FIRE_TRY(
            fire_str_printf(s,
                            "<line class='grid' x1='%.1f' x2='%.1f' y1='%d' y2='%d'/>"
                            "<text x='%.1f' y='%d' text-anchor='middle'>1e%d</text>\n",
                            x, x, TOP, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18, k));
    }
    for (int k = 0; k <= 4; k++) {
        double loss = r->y0 + (r->y1 - r->y0) * k / 4, y = y_of(r, loss);

        FIRE_TRY(
            fire_str_printf(s,
                            "<line class='grid' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/>"
                            "<text x='%d' y='%.1f' text-anchor='end'>%.3g</text>\n",
                            LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, loss));
    }
    return fire_str_printf(
        s,
        "<text x='%d' y='%d' text-anchor='middle'>learning rate</text>"
        "<text x='14' y='%d'>loss</text>\n",
        (LEFT + WIDTH) / 2, HEIGHT - 8, TOP - 6);
}

static fire_status_t draw_line(const fire_lr_find_t *f, const frame_t *r, bool smooth,
                               fire_str_t *s)
{
    FIRE_TRY(
        fire_str_printf(s, "<polyline class='%s' points='", smooth ? "mean" : "loss"));
    for (int64_t i = 0; i < f->npoint; i++) {
        double y = smooth ? f->point[i].smooth : f->point[i].loss;

        if (isfinite(y))
            FIRE_TRY(fire_str_printf(s, "%.1f,%.1f ", x_of(r, f->point[i].rate),
                                     y_of(r, y)));
    }
    return fire_str_printf(s, "'/>\n");
}

static fire_status_t draw_suggestion(const fire_lr_find_t *f, const frame_t *r,
                                     fire_str_t *s)
{
    const fire_lr_point_t *p;

    if (f->steepest < 0) return FIRE_OK;
    p = &f->point[f->steepest];
    return fire_str_printf(
        s,
        "<circle cx='%.1f' cy='%.1f' r='5'/><text class='mark' x='%.1f' "
        "y='%.1f'>%.2g</text>\n",
        x_of(r, p->rate), y_of(r, p->smooth), x_of(r, p->rate) + 9,
        y_of(r, p->smooth) - 7, p->rate);
}

static fire_status_t put_escaped(fire_str_t *s, const char *text)
{
    for (; *text != '\0'; text++) {
        const char *code = *text == '<' ? "&lt;" : *text == '&' ? "&amp;" : NULL;

        FIRE_TRY(code != NULL ? fire_str_printf(s, "%s", code)
                              : fire_str_printf(s, "%c", *text));
    }
    return FIRE_OK;
}

static fire_status_t put_table(const fire_lr_find_t *f, fire_str_t *s)
{
    FIRE_TRY(fire_str_printf(s, "<table><tr><th>learning rate<th>loss<th>mean\n"));
    for (int64_t i = 0; i < f->npoint; i++)
        FIRE_TRY(fire_str_printf(s, "<tr><td>%.4g<td>%.5g<td>%.5g\n", f->point[i].rate,
                                 f->point[i].loss, f->point[i].smooth));
    return fire_str_printf(s, "</table>\n");
}

static const char style[] =
    "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:46em;margin:2em auto;"
    "padding:0 1em;color:#222;background:#fff}svg{width:100%;font-size:12px;fill:#555}"
    ".grid{stroke:#ddd}polyline{fill:none}.loss{stroke:#bcd;stroke-width:1}"
    ".mean{stroke:#15c;stroke-width:2}circle{fill:#c41}.mark{fill:#c41;font-size:14px}"
    "td,th{padding:0 1em 0 0;text-align:right}</style>\n";

fire_status_t fire_lr_find_page(const fire_lr_find_t *f, const char *title,
                                fire_str_t *s)
{
    frame_t r = frame_of(f);

    FIRE_TRY(fire_str_printf(
        s,
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>learning rate "
        "</title>%s<h1>Learning rates of ",
        style));
    FIRE_TRY(put_escaped(s, title));
    FIRE_TRY(fire_str_printf(s, "</h1>\n<svg viewBox='0 0 %d %d'>\n", WIDTH, HEIGHT));
    FIRE_TRY(draw_axes(&r, s));
    FIRE_TRY(draw_line(f, &r, false, s));
    FIRE_TRY(draw_line(f, &r, true, s));
    FIRE_TRY(draw_suggestion(f, &r, s));
    FIRE_TRY(
        fire_str_printf(s, "</svg>\n<p>One iteration with each rate; the dark line is "
                           "a decaying mean of the losses. The dot is where it falls "
                           "fastest: a good base_lr.</p>\n"));
    FIRE_TRY(put_table(f, s));
    return fire_str_printf(s, "</html>\n");
}
