/* svg.c - writes a graph as SVG. Each box has the names of its layers in
 * data-layers, so that the page can colour it and show more about them. */
#include <string.h>
#include "report/graph/graph.h"

/* Families of layers for colours, by the beginning or the end of the type's name. */
static const struct {
    const char *family, *begin, *end;
} families[] = {
    {"conv", "Convolution", NULL},  {"conv", "Deconvolution", NULL},
    {"full", "InnerProduct", NULL}, {"full", "Embed", NULL},
    {"full", "LSTM", NULL},         {"full", "RNN", NULL},
    {"pool", "Pooling", NULL},      {"pool", "SPP", NULL},
    {"norm", "LRN", NULL},          {"norm", "BatchNorm", NULL},
    {"norm", "Scale", NULL},        {"norm", "Bias", NULL},
    {"norm", "MVN", NULL},          {"join", "Concat", NULL},
    {"join", "Eltwise", NULL},      {"join", "Slice", NULL},
    {"loss", "Softmax", NULL},      {"loss", "Accuracy", NULL},
    {"loss", NULL, "Loss"},         {"data", NULL, "Data"},
    {"data", "Input", NULL},
};

/* The family of a layer type; "other" if none fits. */
static const char *family_of(const char *type)
{
    size_t n = strlen(type);

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        const char *b = families[i].begin, *e = families[i].end;

        if (b != NULL && strncmp(type, b, strlen(b)) == 0) return families[i].family;
        if (e != NULL && n >= strlen(e) && strcmp(type + n - strlen(e), e) == 0)
            return families[i].family;
    }
    return "other";
}

/* Escape a text for XML. */
static fire_status_t add_text(fire_str_t *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            FIRE_TRY(fire_str_add(out, "&amp;", 5));
            break;
        case '<':
            FIRE_TRY(fire_str_add(out, "&lt;", 4));
            break;
        case '"':
            FIRE_TRY(fire_str_add(out, "&quot;", 6));
            break;
        default:
            FIRE_TRY(fire_str_add(out, text, 1));
        }
    }
    return FIRE_OK;
}

static fire_status_t add_line(fire_str_t *out, const char *kind, double x, double y,
                              const char *text)
{
    FIRE_TRY(
        fire_str_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", kind, x, y));
    FIRE_TRY(add_text(out, text));
    return fire_str_add(out, "</text>", 7);
}

/* Two texts in one: "Convolution · 20 × 24 × 24". */
static fire_status_t add_pair(fire_str_t *out, const char *kind, double x, double y,
                              const char *first, const char *second)
{
    FIRE_TRY(
        fire_str_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", kind, x, y));
    FIRE_TRY(add_text(out, first));
    if (second[0] != '\0') {
        FIRE_TRY(fire_str_printf(out, " · "));
        FIRE_TRY(add_text(out, second));
    }
    return fire_str_add(out, "</text>", 7);
}

/* Open the group of a box; data-layers lists the names of its layers, one per line. */
static fire_status_t open_box(fire_str_t *out, const fire_graph_node_t *n)
{
    FIRE_TRY(
        fire_str_printf(out, "<g class=\"box %s\" data-layers=\"", family_of(n->type)));
    FIRE_TRY(add_text(out, n->name));
    for (int64_t i = 0; i < n->ninside; i++) {
        FIRE_TRY(fire_str_printf(out, "&#10;"));
        FIRE_TRY(add_text(out, n->inside[i]));
    }
    return fire_str_printf(out, "\">");
}

/* Write the tags where no edge is: to the right of the box, or above it if the net
 * flows sideways. */
static fire_status_t add_tags(fire_str_t *out, const fire_graph_node_t *n, bool above)
{
    double x = n->x - n->w / 2, y = n->y - n->h / 2;

    for (int64_t i = 0; i < n->ntag; i++)
        FIRE_TRY(add_line(out, "tag", above ? x + 16 : x + n->w + 6,
                          above ? y - 5 - 14 * (double)i : y + 16 + 14 * (double)i,
                          n->tag[i]));
    return FIRE_OK;
}

/* A card, a layer for the heat of its time, a mark in the family's colour, texts. */
static fire_status_t add_box(fire_str_t *out, const fire_graph_t *g,
                             const fire_graph_node_t *n)
{
    double x = n->x - n->w / 2, y = n->y - n->h / 2;

    FIRE_TRY(open_box(out, n));
    FIRE_TRY(fire_str_printf(
        out,
        "<rect class=\"card\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
        "rx=\"7\"/><rect class=\"heat\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
        "height=\"%.1f\" rx=\"7\"/><rect class=\"mark\" x=\"%.1f\" y=\"%.1f\" "
        "width=\"4\" height=\"%.1f\" rx=\"2\"/>",
        x, y, n->w, n->h, x, y, n->w, n->h, x + 5, y + 7, n->h - 14));
    FIRE_TRY(add_line(out, "name", x + 16, y + 18, n->name));
    FIRE_TRY(add_pair(out, "kind", x + 16, y + 33, n->type, n->shape));
    for (int64_t i = 0; i < n->ninside; i++)
        FIRE_TRY(add_pair(out, "in", x + 16, y + 50 + 17 * (double)i, n->inside[i],
                          n->inside_type[i]));
    FIRE_TRY(add_tags(out, n, g->flow_y == 0));
    return fire_str_add(out, "</g>\n", 5);
}

/* The colours of a file of its own; in the report they come from report/style.css. */
static const char style[] =
    "<style>"
    ".net{--card:#fff;--line:#d9d3ca;--ink:#22201d;--soft:#6d6760;--edge:#b3aca2;"
    "--conv:#1c72c4;--full:#9c36b5;--pool:#2b8a3e;--norm:#0b7a8c;--join:#c98a00;"
    "--loss:#d9480f;--data:#5c6770;background:#faf8f5}"
    "@media(prefers-color-scheme:dark){.net{--card:#1d2024;--line:#3a3f45;"
    "--ink:#ece9e4;--soft:#a7a29b;--edge:#6a665f;--conv:#62b0ff;--full:#d193e3;"
    "--pool:#6bc482;--norm:#54c5d6;--join:#f0bf4f;--loss:#ff8a57;--data:#a9b3bc;"
    "background:#15171a}}"
    ".net text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;"
    "fill:var(--soft)}.net .name{font-weight:600;font-size:13px;fill:var(--ink)}"
    ".net .kind,.net .in,.net .tag{font-size:11px}.net .tag{font-style:italic}"
    ".net .card{fill:var(--card);stroke:var(--line)}.net .heat{fill:none}"
    ".net .edge{fill:none;stroke:var(--edge);stroke-width:1.5}"
    ".net .head{fill:var(--edge)}.net .mark{fill:var(--soft)}"
    ".net .conv .mark{fill:var(--conv)}.net .full .mark{fill:var(--full)}"
    ".net .pool .mark{fill:var(--pool)}.net .norm .mark{fill:var(--norm)}"
    ".net .join .mark{fill:var(--join)}.net .loss .mark{fill:var(--loss)}"
    ".net .data .mark{fill:var(--data)}</style>\n";

/* An arrow head: a triangle with its tip at (x, y). */
static fire_status_t add_head(fire_str_t *out, double x, double y, double flow_x,
                              double flow_y)
{
    return fire_str_printf(
        out, "<path class=\"head\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fz\"/>", x, y,
        -7 * flow_x - 3.5 * flow_y, -7 * flow_y - 3.5 * flow_x, 7 * flow_y, 7 * flow_x);
}

/* Draw an edge. Across the height of a row, a bend is a straight line. */
static fire_status_t add_edge(fire_str_t *out, const fire_graph_t *g,
                              const fire_graph_edge_t *e)
{
    const fire_graph_node_t *from = &g->node[e->from];
    double bend = from->name != NULL ? 0 : g->flow_y != 0 ? from->h : from->w;

    FIRE_TRY(fire_str_printf(
        out,
        "<path class=\"edge\" d=\"M%.1f %.1fL%.1f %.1fC%.1f %.1f %.1f %.1f %.1f "
        "%.1f\"/>",
        e->x[0] - bend * g->flow_x, e->y[0] - bend * g->flow_y, e->x[0], e->y[0],
        e->x[1], e->y[1], e->x[2], e->y[2], e->x[3], e->y[3]));
    if (g->node[e->to].name == NULL) return FIRE_OK;
    return add_head(out, e->x[3], e->y[3], g->flow_x, g->flow_y);
}

fire_status_t fire_graph_svg(const fire_graph_t *g, bool alone, fire_str_t *out)
{
    FIRE_TRY(fire_str_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"net\" width=\"%.0f\" "
        "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
        "aria-label=\"The net as a graph of %lld boxes\">\n",
        g->width, g->height, g->width, g->height, (long long)g->nnode));
    if (alone) FIRE_TRY(fire_str_add(out, style, sizeof(style) - 1));
    for (int64_t i = 0; i < g->nedge; i++)
        FIRE_TRY(add_edge(out, g, &g->edge[i]));
    for (int64_t i = 0; i < g->nnode; i++)
        if (g->node[i].name != NULL) FIRE_TRY(add_box(out, g, &g->node[i]));
    return fire_str_add(out, "</svg>\n", 7);
}
