/* draw.h - draws nets to files. Graphviz places the boxes if its program `dot` is
 * installed, layout.c otherwise. Starting `dot` ignores SIGPIPE for the whole process
 * meanwhile, so call these functions from one thread at a time. */
#ifndef FIRE_REPORT_GRAPH_DRAW_H
#define FIRE_REPORT_GRAPH_DRAW_H
#include "base/text/json.h"
#include "net/net.h"

/* Append an SVG element. `layers` is the array that fire_net_describe() writes; alone: the
 * element is a file by itself, not part of a page. */
fire_status_t fire_draw_layers(const fire_json_t *layers, bool alone, fire_str_t *out);

/* Write a file in the format that its name ends in: .svg, .html, .dot, or one that only
 * Graphviz makes, as .png. `w` holds the array of layers; rankdir, as in Graphviz, is the
 * direction of the flow: TB (down), BT, LR or RL. */
fire_status_t fire_draw_file(const fire_json_writer_t *w, const char *rankdir,
                             const char *path);

/* Write a picture of a net that is built, to a file that ends in .svg or .html. */
fire_status_t fire_draw_net(const fire_net_t *net, const char *path);
#endif
