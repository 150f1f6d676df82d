/* net_look.c - methods of _Net that tell what there is. */
#include "net.h"

PyObject *net_blob(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    int           i;

    if (n == NULL || !PyArg_ParseTuple(args, "i", &i)) return NULL;
    if (i < 0 || i >= fire_net_nblob(n->net))
        return PyErr_Format(PyExc_IndexError, "blob %d of %d", i,
                            fire_net_nblob(n->net));
    return caffe_blob_create(fire_net_blob(n->net, i), n->gate);
}

/* _layer_blobs(layer) -> list of Blobs */
PyObject *net_layer_blobs(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    PyObject     *list;
    int           layer, count;

    if (n == NULL || !PyArg_ParseTuple(args, "i", &layer)) return NULL;
    if (layer < 0 || layer >= fire_net_nlayer(n->net))
        return PyErr_Format(PyExc_IndexError, "layer %d of %d", layer,
                            fire_net_nlayer(n->net));
    count = fire_net_layer_nparam(n->net, layer);
    list  = PyList_New(count);
    for (int i = 0; list != NULL && i < count; i++) {
        PyObject *blob =
            caffe_blob_create(fire_net_layer_param(n->net, layer, i), n->gate);

        if (blob == NULL || PyList_SetItem(list, i, blob) < 0) Py_CLEAR(list);
    }
    return list;
}

/* Numbers of the blobs that a layer reads or writes. */
static PyObject *ids_of(const fire_net_t *net, int layer,
                        int (*count)(const fire_net_t *, int),
                        int (*id)(const fire_net_t *, int, int))
{
    int       n    = count(net, layer);
    PyObject *list = PyList_New(n);

    for (int i = 0; list != NULL && i < n; i++) {
        PyObject *number = PyLong_FromLong(id(net, layer, i));

        if (number == NULL || PyList_SetItem(list, i, number) < 0) Py_CLEAR(list);
    }
    return list;
}

/* (name, type, bottoms, tops) of a layer */
static PyObject *layer_tuple(const fire_net_t *net, int layer)
{
    return Py_BuildValue(
        "(ssNN)", fire_net_layer_name(net, layer), fire_net_layer_type(net, layer),
        ids_of(net, layer, fire_net_layer_nbottom, fire_net_layer_bottom),
        ids_of(net, layer, fire_net_layer_ntop, fire_net_layer_top));
}

/* A list of n items; make(net, i) creates each. */
static PyObject *list_of(const fire_net_t *net, int n,
                         PyObject *(*make)(const fire_net_t *, int))
{
    PyObject *list = PyList_New(n);

    for (int i = 0; list != NULL && i < n; i++) {
        PyObject *item = make(net, i);

        if (item == NULL || PyList_SetItem(list, i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *blob_name(const fire_net_t *net, int i)
{
    return PyUnicode_FromString(fire_net_blob_name(net, i));
}

static PyObject *input_number(const fire_net_t *net, int i)
{
    return PyLong_FromLong(fire_net_input(net, i));
}

static PyObject *loss_weight(const fire_net_t *net, int i)
{
    return PyFloat_FromDouble((double)fire_net_loss_weight(net, i));
}

static PyObject *output_number(const fire_net_t *net, int i)
{
    return PyLong_FromLong(fire_net_output(net, i));
}

/* _describe() -> (name, layers, names of blobs, their loss weights, numbers of inputs, of
 * outputs) */
PyObject *net_describe(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);

    (void)args;
    if (n == NULL) return NULL;
    return Py_BuildValue("(sNNNNN)", fire_net_name(n->net),
                         list_of(n->net, fire_net_nlayer(n->net), layer_tuple),
                         list_of(n->net, fire_net_nblob(n->net), blob_name),
                         list_of(n->net, fire_net_nblob(n->net), loss_weight),
                         list_of(n->net, fire_net_ninput(n->net), input_number),
                         list_of(n->net, fire_net_noutput(n->net), output_number));
}

/* _python_layer(layer) -> the object of a Python layer, or None */
PyObject *net_python_layer(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    int           layer;

    if (n == NULL || !PyArg_ParseTuple(args, "i", &layer)) return NULL;
    if (layer < 0 || layer >= fire_net_nlayer(n->net))
        return PyErr_Format(PyExc_IndexError, "layer %d of %d", layer,
                            fire_net_nlayer(n->net));
    return caffe_host_object(n->net, layer);
}
