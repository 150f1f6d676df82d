/* source.c - samples that Python brings: for MemoryData layers by a function, for Python
 * layers by telling them which. */
#include "net.h"

/* The type _Source: what a net calls for its samples. Python keeps it as long as the
 * net. */
typedef struct source_object {
    PyObject_HEAD PyObject *fetch; /* (samples) -> (address of data, of labels) */
    caffe_gate_t           *gate;
} source_object_t;

static PyTypeObject *source_type;

/* [(first, stride, n), ...] */
static PyObject *list_of(const fire_samples_t *samples, int n)
{
    PyObject *list = PyList_New(n);

    for (int i = 0; list != NULL && i < n; i++) {
        const fire_samples_t *s    = &samples[i];
        PyObject             *item = Py_BuildValue("(LLL)", (long long)s->first,
                                                   (long long)s->stride, (long long)s->n);

        if (item == NULL || PyList_SetItem(list, i, item) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *call(const source_object_t *s, const fire_samples_t *samples, int n)
{
    PyObject *list = list_of(samples, n), *result;

    if (list == NULL) return NULL;
    result = PyObject_CallFunctionObjArgs(s->fetch, list, NULL);
    Py_DECREF(list);
    return result;
}

/* A net wants samples; no GIL. */
static fire_status_t fetch(void *arg, const fire_samples_t *samples, int n,
                           const float **data_p, const float **labels_p)
{
    source_object_t   *s = arg;
    caffe_callback_t   state;
    PyObject          *result;
    unsigned long long data, labels;
    fire_status_t      st = FIRE_OK;

    caffe_callback_begin(s->gate, &state);
    result = call(s, samples, n);
    if (result == NULL || !PyArg_ParseTuple(result, "KK", &data, &labels)) {
        st = caffe_fail();
    } else {
        *data_p   = (const float *)(uintptr_t)data;
        *labels_p = (const float *)(uintptr_t)labels;
    }
    Py_XDECREF(result);
    caffe_callback_end(&state);
    return st;
}

/* _set_source(layer, function) -> _Source */
PyObject *net_set_source(PyObject *self, PyObject *args)
{
    net_object_t    *n = net_open_of(self);
    source_object_t *s;
    PyObject        *function;
    fire_status_t    st;
    int              layer;

    if (n == NULL || !PyArg_ParseTuple(args, "iO", &layer, &function)) return NULL;
    if (layer < 0 || layer >= fire_net_nlayer(n->net))
        return PyErr_Format(PyExc_IndexError, "layer %d of %d", layer,
                            fire_net_nlayer(n->net));
    s = PyObject_New(source_object_t, source_type);
    if (s == NULL) return NULL;
    Py_INCREF(function);
    s->fetch = function;
    s->gate  = caffe_gate_retain(n->gate);
    st       = fire_net_set_source(n->net, layer, fetch, s);
    if (st >= 0) return (PyObject *)s;
    Py_DECREF(s);
    return caffe_raise(st);
}

enum { MOST = 1024 }; /* passes that a layer asks for at once */

/* _samples(batch, n) -> [(first, stride, n), ...] of this pass of the Python layer whose
 * method runs, and of the next passes */
PyObject *caffe_samples(PyObject *module, PyObject *args)
{
    const fire_layer_t *l = caffe_running_layer();
    fire_samples_t      samples[MOST];
    long long           batch;
    int                 n;

    (void)module;
    if (!PyArg_ParseTuple(args, "Li", &batch, &n)) return NULL;
    if (l == NULL) {
        PyErr_SetString(
            PyExc_RuntimeError,
            "only a Python layer whose reshape() or forward() runs has samples");
        return NULL;
    }
    if (batch < 1 || n < 1 || n > MOST)
        return PyErr_Format(PyExc_ValueError, "%d passes of %lld samples", n, batch);
    fire_python_samples(l, batch, n, samples);
    return list_of(samples, n);
}

static void source_dealloc(PyObject *self)
{
    source_object_t *s = (source_object_t *)self;

    Py_XDECREF(s->fetch);
    caffe_gate_release(s->gate);
    caffe_free(self);
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, source_dealloc},
    {Py_tp_doc, "What a net calls for its samples."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name      = "caffe._caffe._Source",
    .basicsize = sizeof(source_object_t),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots     = slots,
};

int caffe_add_source(PyObject *module)
{
    return caffe_add_type(module, &spec, &source_type);
}
