/* python.h - a layer's four functions, done by a Python object. The interpreter is
 * started with the first one and shared by all; any thread may call. */
#ifndef FIRE_LAYERS_COMMON_PYTHON_H
#define FIRE_LAYERS_COMMON_PYTHON_H
#include "layers/layer.h"

typedef struct fire_python fire_python_t;

/* Import the module of python_param and make an object of its class for this layer.
 * End it with fire_python_destroy(). */
fire_status_t fire_python_create(fire_layer_t *l, fire_python_t **python_p);
void          fire_python_destroy(fire_python_t *python); /* NULL is allowed */

/* Run "setup", "reshape", "forward" or "backward". An exception becomes an error that
 * names it and its place. */
fire_status_t fire_python_call(fire_python_t *python, fire_layer_t *l,
                               const char *method);
#endif
