/* layer_text.h - what tables and pictures tell of a layer, in a few letters. */
#ifndef FIRE_TOOLS_VIEW_LAYER_TEXT_H
#define FIRE_TOOLS_VIEW_LAYER_TEXT_H
#include "base/text/text.h"
#include "caffe.pb-c.h"

/* "" where it is missing, which a file that is only looked at may leave so. */
const char *layer_type(const Caffe__LayerParameter *l);

/* "5/2+1 20/2": kernel, /stride, +pad; of convolutions then outputs and /groups. Nothing
 * for other layers, and for windows that are not square. */
fire_status_t layer_print_window(const Caffe__LayerParameter *l, fire_str_t *out);
#endif
