/* python.h (internal) - calls setup, reshape, forward and backward of a Python object in
 * an interpreter of the library's own, for nets without a host (<fire/python.h>). One
 * interpreter serves the process; it is opened for the first Python layer. Any thread
 * may call. */
#ifndef FIRE_LAYERS_PYTHON_PYTHON_H
#define FIRE_LAYERS_PYTHON_PYTHON_H
#include "layers/layer.h"

/* Is libpython there? Starts the interpreter if so. */
bool fire_python_is_here(void);

/* Import the module of python_param and make an object of its class for this layer;
 * *id_p > 0 names it from now on. End it with fire_python_destroy(). Without an
 * interpreter, FIRE_ERR_UNSUPPORTED. */
fire_status_t fire_python_create(fire_layer_t *l, int *id_p);
void          fire_python_destroy(int id); /* 0 is allowed */

/* Run "setup", "reshape", "forward" or "backward". An exception becomes an error that
 * names it and its place. */
fire_status_t fire_python_call(int id, fire_layer_t *l, const char *method);

/* The object that the net's host has made for this layer, or NULL. */
void *fire_python_object(const fire_layer_t *l);
#endif
