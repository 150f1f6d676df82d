/* host.c - Python layers as objects of this interpreter: nets call their methods. */
#include "module.h"

/* A Python layer of a net. */
typedef struct host_layer {
    PyObject     *object;       /* the user's */
    PyObject     *bottom, *top; /* caffe._layer.BlobVec */
    caffe_gate_t *gate;         /* of the net */
} host_layer_t;

static PyObject *maker; /* Python's half: _layer._make, set at import */

/* The layer whose method runs in this thread. */
typedef struct running {
    fire_layer_t *layer;
    caffe_gate_t *gate;
    bool          in_setup;
} running_t;

static _Thread_local running_t running;

const fire_layer_t *caffe_running_layer(void)
{
    return running.layer;
}

PyObject *caffe_set_layer_maker(PyObject *module, PyObject *function)
{
    (void)module;
    Py_INCREF(function);
    Py_XDECREF(maker);
    maker = function;
    Py_RETURN_NONE;
}

fire_status_t caffe_fail(void)
{
    PyObject     *type, *value, *trace, *text, *bytes;
    fire_status_t st;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    text  = value != NULL ? PyObject_Repr(value) : NULL;
    bytes = text != NULL ? PyUnicode_AsUTF8String(text) : NULL;
    st    = fire_fail(FIRE_ERR_INVALID, "Python: %s",
                   bytes != NULL ? PyBytes_AsString(bytes) : "an exception");
    Py_XDECREF(bytes);
    Py_XDECREF(text);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    caffe_keep_exception();
    return st;
}

/* ---- blobs of a layer ---- */

static int append(PyObject *list, fire_blob_t *blob, caffe_gate_t *gate)
{
    PyObject *b  = caffe_blob_create(blob, gate);
    int       rc = b != NULL ? PyList_Append(list, b) : -1;

    Py_XDECREF(b);
    return rc;
}

/* Fill the lists that the object's methods get, and its parameters. */
static int fill(host_layer_t *h, const fire_layer_t *l)
{
    PyObject *params = PyObject_GetAttrString(h->object, "blobs");
    int       rc     = params != NULL ? 0 : -1;

    for (int i = 0; rc == 0 && i < fire_layer_nbottom(l); i++)
        rc = append(h->bottom, fire_layer_bottom(l, i), h->gate);
    for (int i = 0; rc == 0 && i < fire_layer_ntop(l); i++)
        rc = append(h->top, fire_layer_top(l, i), h->gate);
    for (int i = 0; rc == 0 && i < fire_layer_nparam(l); i++)
        rc = append(params, fire_layer_param(l, i), h->gate);
    Py_XDECREF(params);
    return rc;
}

PyObject *caffe_add_param(PyObject *module, PyObject *dims)
{
    int64_t       dim[FIRE_MAX_DIMS];
    int           ndim;
    fire_status_t st;

    (void)module;
    if (running.layer == NULL || !running.in_setup) {
        PyErr_SetString(PyExc_TypeError, "a layer adds blobs in setup() only");
        return NULL;
    }
    if (caffe_read_dims(dims, &ndim, dim) < 0) return NULL;
    st = fire_python_add_param(running.layer, ndim, dim);
    if (st < 0) return caffe_raise(st);
    return caffe_blob_create(
        fire_layer_param(running.layer, fire_layer_nparam(running.layer) - 1),
        running.gate);
}

/* ---- what nets call ---- */

static void destroy_locked(host_layer_t *h)
{
    Py_XDECREF(h->object);
    Py_XDECREF(h->bottom);
    Py_XDECREF(h->top);
    caffe_gate_release(h->gate);
    PyMem_Free(h);
}

static void host_destroy(void *arg, void *object)
{
    PyGILState_STATE gil = PyGILState_Ensure();

    (void)arg;
    destroy_locked(object);
    PyGILState_Release(gil);
}

static fire_status_t host_create(void *arg, fire_layer_t *l, const char *module,
                                 const char *name, const char *param_str,
                                 void **object_p)
{
    caffe_gate_t    *gate = caffe_gate_current();
    caffe_callback_t state;
    host_layer_t    *h;
    PyObject        *made = NULL;
    fire_status_t    st   = FIRE_OK;

    (void)arg;
    caffe_callback_begin(gate, &state);
    h = PyMem_Calloc(1, sizeof(*h));
    if (h == NULL)
        PyErr_NoMemory();
    else
        made = PyObject_CallFunction(maker, "sssis", module, name, param_str,
                                     (int)fire_layer_phase(l), fire_layer_name(l));
    if (made != NULL) h->gate = caffe_gate_retain(gate);
    if (made == NULL ||
        !PyArg_ParseTuple(made, "OOO", &h->object, &h->bottom, &h->top)) {
        st = caffe_fail();
        PyMem_Free(h);
    } else {
        Py_INCREF(h->object);
        Py_INCREF(h->bottom);
        Py_INCREF(h->top);
        *object_p = h;
        if (fill(h, l) < 0) st = caffe_fail();
    }
    Py_XDECREF(made);
    caffe_callback_end(&state);
    return st;
}

/* Call a method of the object; arrays that it has kept are live. */
static fire_status_t call(host_layer_t *h, const char *method, PyObject *down)
{
    PyObject     *result = NULL;
    fire_status_t st     = FIRE_OK;

    if (caffe_views_refresh(h->gate) < 0)
        caffe_raise(FIRE_ERR_INVALID);
    else if (down != NULL)
        result = PyObject_CallMethod(h->object, method, "OOO", h->top, down, h->bottom);
    else
        result = PyObject_CallMethod(h->object, method, "OO", h->bottom, h->top);
    if (result == NULL)
        st = caffe_fail();
    else
        caffe_views_absorb(h->gate);
    Py_XDECREF(result);
    return st;
}

static fire_status_t run(host_layer_t *h, fire_layer_t *l, const char *method,
                         bool in_setup)
{
    running_t        outer = running; /* a method may run another net */
    caffe_callback_t state;
    fire_status_t    st;

    running = (running_t){l, h->gate, in_setup};
    caffe_callback_begin(h->gate, &state);
    st = call(h, method, NULL);
    caffe_callback_end(&state);
    running = outer;
    return st;
}

static fire_status_t host_setup(void *arg, void *object, fire_layer_t *l)
{
    (void)arg;
    return run(object, l, "setup", true);
}

static fire_status_t host_reshape(void *arg, void *object, fire_layer_t *l)
{
    (void)arg;
    return run(object, l, "reshape", false);
}

static fire_status_t host_forward(void *arg, void *object, fire_layer_t *l)
{
    (void)arg;
    return run(object, l, "forward", false);
}

static fire_status_t host_backward(void *arg, void *object, fire_layer_t *l)
{
    host_layer_t    *h = object;
    int              n = fire_layer_nbottom(l);
    caffe_callback_t state;
    PyObject        *down;
    fire_status_t    st;

    (void)arg;
    caffe_callback_begin(h->gate, &state);
    down = PyList_New(n);
    for (int i = 0; down != NULL && i < n; i++)
        PyList_SetItem(down, i, PyBool_FromLong(fire_layer_wants_bottom(l, i)));
    st = down != NULL ? call(h, "backward", down) : caffe_fail();
    Py_XDECREF(down);
    caffe_callback_end(&state);
    return st;
}

const fire_python_host_t caffe_host = {
    .size     = sizeof(fire_python_host_t),
    .create   = host_create,
    .setup    = host_setup,
    .reshape  = host_reshape,
    .forward  = host_forward,
    .backward = host_backward,
    .destroy  = host_destroy,
};

PyObject *caffe_host_object(const fire_net_t *net, int layer)
{
    const host_layer_t *h      = fire_net_python_object(net, layer);
    PyObject           *object = h != NULL ? h->object : Py_None;

    Py_INCREF(object);
    return object;
}
