/* draw.h - pictures of nets. */
#ifndef FIRE_TOOLS_VIEW_DRAW_H
#define FIRE_TOOLS_VIEW_DRAW_H
#include "base/text/json.h"
#include "net/net.h"

/* Lay out by Graphviz if its `dot` is there, by our own rules otherwise; append an SVG
 * element. `layers` is what fire_net_describe() writes. */
fire_status_t draw_layers(const fire_json_t *layers, bool alone, fire_str_t *out);

/* A file, by the ending of its name: .svg, .html, .dot, or what Graphviz can make where
 * it is installed. `w` holds an array of layers, rankdir is TB, BT, LR or RL. */
fire_status_t draw_file(const fire_json_writer_t *w, const char *rankdir,
                        const char *path);

/* A file that ends in .svg, or .html to open in a browser. */
fire_status_t draw_net(const fire_net_t *net, const char *path);
#endif
