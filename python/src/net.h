/* net.h - the object of the type _Net, and its methods, for the files net*.c */
#ifndef CAFFE_NET_H
#define CAFFE_NET_H
#include "module.h"

typedef struct net_object {
    PyObject_HEAD fire_net_t *net; /* NULL before _open() */
    PyObject     *owner; /* the trainer that the net belongs to; NULL: it is ours */
    caffe_gate_t *gate;
} net_object_t;

/* The object if its net was created; NULL: ValueError is set. */
net_object_t *net_open_of(PyObject *self);

/* Methods: net_run.c, net_weights.c, net_look.c, net_onnx.c,
 * net_hooks.c and source.c. */
PyObject *net_forward(PyObject *self, PyObject *args);
PyObject *net_backward(PyObject *self, PyObject *args);
PyObject *net_reshape(PyObject *self, PyObject *args);
PyObject *net_clear(PyObject *self, PyObject *args);
PyObject *net_load(PyObject *self, PyObject *args);
PyObject *net_save(PyObject *self, PyObject *args);
PyObject *net_load_hdf5(PyObject *self, PyObject *args);
PyObject *net_save_hdf5(PyObject *self, PyObject *args);
PyObject *net_load_message(PyObject *self, PyObject *args);
PyObject *net_save_message(PyObject *self, PyObject *args);
PyObject *net_draw(PyObject *self, PyObject *args);
PyObject *net_text(PyObject *self, PyObject *args);
PyObject *net_set_arrays(PyObject *self, PyObject *args);
PyObject *net_set_source(PyObject *self, PyObject *args);
PyObject *net_onnx(PyObject *self, PyObject *args);
PyObject *net_share(PyObject *self, PyObject *other);
PyObject *net_python_layer(PyObject *self, PyObject *args);
PyObject *net_blob(PyObject *self, PyObject *args);
PyObject *net_layer_blobs(PyObject *self, PyObject *args);
PyObject *net_describe(PyObject *self, PyObject *args);
PyObject *net_watch(PyObject *self, PyObject *args);
#endif
