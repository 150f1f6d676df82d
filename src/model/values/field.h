/* field.h - settings of plug-in layers in a prototxt: plugin_param { ... }, and any
 * xyz_param { ... } that Caffe's schema does not have. They are kept as text in
 * PluginParameter messages, as no schema knows their keys. */
#ifndef FIRE_MODEL_VALUES_FIELD_H
#define FIRE_MODEL_VALUES_FIELD_H
#include "caffe.pb-c.h"
#include "model/lexer.h"
#include "model/message.h"

/* May a field of this name, which the message has not, hold such settings? */
bool fire_plugin_field_is_possible(const ProtobufCMessageDescriptor *desc,
                                   const char                       *name);

/* Is it rather a misspelt field of Caffe? Not plugin_param, nor one that is far from all
 * of Caffe's, nor one named like the layer's type (type MyScale, my_scale_param). */
bool fire_plugin_field_is_doubtful(const Caffe__LayerParameter *layer,
                                   const char                  *name);

/* Read { ... } behind such a name, whose token was read, and append it to the layer. */
fire_status_t fire_plugin_field_read(fire_lexer_t *lx, const char *name,
                                     Caffe__LayerParameter *layer);

/* Print one as it is written in a prototxt. *done_p is false if reading that would not
 * give the same message; then nothing was printed. */
fire_status_t fire_plugin_field_print(const Caffe__LayerParameter  *layer,
                                      const Caffe__PluginParameter *p, int indent,
                                      fire_str_t *out, bool *done_p);
#endif
