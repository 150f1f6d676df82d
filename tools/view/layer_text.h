/* layer_text.h - short texts about a layer, for tables and pictures. */
#ifndef FIRE_TOOLS_VIEW_LAYER_TEXT_H
#define FIRE_TOOLS_VIEW_LAYER_TEXT_H
#include "base/text/text.h"
#include "caffe.pb-c.h"

/* The type, or "" if the file gives none: the file is only shown, not built. */
const char *layer_type(const Caffe__LayerParameter *l);

/* Append "5/2+1 20/2": kernel, /stride, +pad, and for convolutions outputs and /groups.
 * Appends nothing for other layers and for windows that are not square. */
fire_status_t layer_print_window(const Caffe__LayerParameter *l, fire_str_t *out);
#endif
