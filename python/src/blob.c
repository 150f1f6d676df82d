/* blob.c - the type Blob: values and gradients as live arrays of numpy's. */
#include "dlpack.h"
#include "module.h"

typedef struct blob_object {
    PyObject_HEAD fire_blob_t *blob; /* retained: it outlives its net */
    caffe_gate_t              *gate; /* retained */
} blob_object_t;

static PyTypeObject *blob_type;
static PyObject     *asarray; /* numpy.asarray, from the first use on */

static fire_blob_t *blob_of(PyObject *self)
{
    return ((blob_object_t *)self)->blob;
}

static caffe_gate_t *gate_of(PyObject *self)
{
    return ((blob_object_t *)self)->gate;
}

PyObject *caffe_blob_create(fire_blob_t *blob, caffe_gate_t *gate)
{
    blob_object_t *b = PyObject_New(blob_object_t, blob_type);

    if (b == NULL) return NULL;
    b->blob = fire_blob_retain(blob);
    b->gate = caffe_gate_retain(gate);
    return (PyObject *)b;
}

static void blob_dealloc(PyObject *self)
{
    fire_blob_destroy(blob_of(self));
    caffe_gate_release(gate_of(self));
    caffe_free(self);
}

/* ---- arrays ---- */

static PyObject *view_of(PyObject *self, fire_part_t part)
{
    return caffe_view_create(blob_of(self), part, FIRE_CPU, gate_of(self));
}

static PyObject *array_of(PyObject *self, fire_part_t part)
{
    PyObject *view, *array, *numpy;

    if (asarray == NULL) {
        numpy = PyImport_ImportModule("numpy");
        if (numpy == NULL) return NULL;
        asarray = PyObject_GetAttrString(numpy, "asarray");
        Py_DECREF(numpy);
        if (asarray == NULL) return NULL;
    }
    view = view_of(self, part);
    if (view == NULL) return NULL;
    array = PyObject_CallFunctionObjArgs(asarray, view, NULL);
    Py_DECREF(view);
    return array;
}

static PyObject *get_data(PyObject *self, void *closure)
{
    (void)closure;
    return array_of(self, FIRE_DATA);
}

static PyObject *get_diff(PyObject *self, void *closure)
{
    (void)closure;
    return array_of(self, FIRE_DIFF);
}

static int blob_getbuffer(PyObject *self, Py_buffer *b, int flags)
{
    PyObject *view = view_of(self, FIRE_DATA);
    int       rc;

    b->obj = NULL;
    if (view == NULL) return -1;
    rc = PyObject_GetBuffer(view, b, flags); /* keeps the view */
    Py_DECREF(view);
    return rc;
}

/* __array__(dtype=None, copy=None) */
static PyObject *blob_array(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"dtype", "copy", NULL};
    PyObject    *dtype = Py_None, *copy = Py_None, *array, *other;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", names, &dtype, &copy))
        return NULL;
    array = array_of(self, FIRE_DATA);
    if (array == NULL) return NULL;
    if (dtype != Py_None)
        other = PyObject_CallMethod(array, "astype", "O", dtype);
    else if (copy != Py_None && PyObject_IsTrue(copy))
        other = PyObject_CallMethod(array, "copy", NULL);
    else
        return array;
    Py_DECREF(array);
    return other;
}

/* Call a method of the array of the values. */
static PyObject *of_array(PyObject *self, const char *name, PyObject *args,
                          PyObject *kwargs)
{
    PyObject *array = array_of(self, FIRE_DATA), *result = NULL;
    PyObject *method = array != NULL ? PyObject_GetAttrString(array, name) : NULL;

    if (method != NULL) result = PyObject_Call(method, args, kwargs);
    Py_XDECREF(method);
    Py_XDECREF(array);
    return result;
}

/* Does the caller of __dlpack__ ask for (device type, number) = the CPU? */
static int wants_cpu(PyObject *kwargs)
{
    PyObject *device =
        kwargs != NULL ? PyDict_GetItemString(kwargs, "dl_device") : NULL;
    int type, number;

    if (device == NULL || device == Py_None) return 0;
    if (!PyArg_ParseTuple(device, "ii", &type, &number)) return -1;
    return type == DLPACK_CPU;
}

/* __dlpack__(stream=None, max_version=None, dl_device=None, copy=None): the GPU's work is
 * done, so that any stream may use the values. */
static PyObject *blob_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    int       gpu = caffe_gate_gpu(gate_of(self)), cpu = wants_cpu(kwargs);
    PyObject *view, *capsule;

    if (cpu < 0) return NULL;
    if (gpu < 0 || cpu) return of_array(self, "__dlpack__", args, kwargs);
    view = caffe_view_create(blob_of(self), FIRE_DATA, FIRE_GPU, gate_of(self));
    if (view == NULL) return NULL;
    capsule = caffe_dlpack(view, caffe_view_values((const caffe_view_t *)view), gpu);
    Py_DECREF(view);
    return capsule;
}

static PyObject *blob_dlpack_device(PyObject *self, PyObject *args)
{
    int gpu = caffe_gate_gpu(gate_of(self));

    (void)args;
    return gpu < 0 ? Py_BuildValue("(ii)", DLPACK_CPU, 0)
                   : Py_BuildValue("(ii)", DLPACK_CUDA, gpu);
}

/* ---- GPU pointers ---- */

static PyObject *pointer_of(PyObject *self, fire_part_t part)
{
    caffe_gate_t *entered = caffe_gate_enter(gate_of(self));
    float        *p;
    fire_status_t st = fire_blob_update(blob_of(self), part, FIRE_GPU, &p);

    caffe_gate_leave(entered);
    return st < 0 ? caffe_raise(st) : PyLong_FromVoidPtr(p);
}

static PyObject *get_gpu_data_ptr(PyObject *self, void *closure)
{
    (void)closure;
    return pointer_of(self, FIRE_DATA);
}

static PyObject *get_gpu_diff_ptr(PyObject *self, void *closure)
{
    (void)closure;
    return pointer_of(self, FIRE_DIFF);
}

/* ---- shape ---- */

static PyObject *get_shape(PyObject *self, void *closure)
{
    const fire_blob_t *b     = blob_of(self);
    int                ndim  = fire_blob_ndim(b);
    PyObject          *shape = PyTuple_New(ndim);

    (void)closure;
    for (int i = 0; shape != NULL && i < ndim; i++) {
        PyObject *n = PyLong_FromLongLong(fire_blob_dims(b)[i]);

        if (n == NULL || PyTuple_SetItem(shape, i, n) < 0) Py_CLEAR(shape);
    }
    return shape;
}

static PyObject *get_count(PyObject *self, void *closure)
{
    (void)closure;
    return PyLong_FromLongLong(fire_blob_count(blob_of(self)));
}

/* Caffe's legacy view of up to four axes; closure: which. */
static PyObject *get_axis(PyObject *self, void *closure)
{
    const fire_blob_t *b = blob_of(self);
    int                i = (int)(intptr_t)closure;

    if (fire_blob_ndim(b) > 4)
        return PyErr_Format(PyExc_ValueError,
                            "num, channels, height and width are of blobs of up to 4 "
                            "axes; this one has %d: use shape",
                            fire_blob_ndim(b));
    return PyLong_FromLongLong(i < fire_blob_ndim(b) ? fire_blob_dims(b)[i] : 1);
}

int caffe_read_dims(PyObject *dims, int *ndim_p, int64_t dim[FIRE_MAX_DIMS])
{
    Py_ssize_t n = PySequence_Size(dims);

    if (n < 0) return -1;
    if (n > FIRE_MAX_DIMS) {
        PyErr_Format(PyExc_ValueError, "%zd axes; a blob has at most %d", n,
                     FIRE_MAX_DIMS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(dims, i);

        if (item == NULL) return -1;
        dim[i] = PyNumber_AsSsize_t(item, PyExc_OverflowError);
        Py_DECREF(item);
        if (dim[i] == -1 && PyErr_Occurred()) return -1;
    }
    *ndim_p = (int)n;
    return 0;
}

/* reshape(*dims), or reshape(dims) with a sequence */
static PyObject *blob_reshape(PyObject *self, PyObject *args)
{
    int64_t       dim[FIRE_MAX_DIMS];
    int           ndim;
    PyObject     *dims = args;
    caffe_gate_t *entered;
    fire_status_t st;

    if (PyTuple_Size(args) == 1 && PySequence_Check(PyTuple_GetItem(args, 0)) &&
        !PyIndex_Check(PyTuple_GetItem(args, 0)))
        dims = PyTuple_GetItem(args, 0);
    if (caffe_read_dims(dims, &ndim, dim) < 0) return NULL;
    entered = caffe_gate_enter(gate_of(self));
    st      = fire_blob_reshape(blob_of(self), ndim, dim);
    caffe_gate_leave(entered);
    return caffe_result(st);
}

static PyObject *blob_repr(PyObject *self)
{
    PyObject *shape = get_shape(self, NULL), *text;

    if (shape == NULL) return NULL;
    text = PyUnicode_FromFormat("<caffe.Blob %R>", shape);
    Py_DECREF(shape);
    return text;
}

/* ---- the type ---- */

static PyGetSetDef members[] = {
    {"data", get_data, NULL,
     "Values: a live float32 array. Writing it changes the blob, running the net "
     "changes it; it outlives the net.",
     NULL},
    {"diff", get_diff, NULL, "Gradients: a live float32 array, as data.", NULL},
    {"shape", get_shape, NULL, "Lengths of the axes: a tuple.", NULL},
    {"count", get_count, NULL, "Number of elements.", NULL},
    {"num", get_axis, NULL, "Length of axis 0, of up to 4.", (void *)0},
    {"channels", get_axis, NULL, "Length of axis 1, of up to 4.", (void *)1},
    {"height", get_axis, NULL, "Length of axis 2, of up to 4.", (void *)2},
    {"width", get_axis, NULL, "Length of axis 3, of up to 4.", (void *)3},
    {"_gpu_data_ptr", get_gpu_data_ptr, NULL, "Address of the values on the GPU.",
     NULL},
    {"_gpu_diff_ptr", get_gpu_diff_ptr, NULL, "Address of the gradients on the GPU.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"__array__", (PyCFunction)(void (*)(void))blob_array, METH_VARARGS | METH_KEYWORDS,
     "The values as an array, without a copy if it is of float32."},
    {"__dlpack__", (PyCFunction)(void (*)(void))blob_dlpack,
     METH_VARARGS | METH_KEYWORDS,
     "The values for PyTorch and others, without a copy."},
    {"__dlpack_device__", blob_dlpack_device, METH_VARARGS, "Where __dlpack__() is."},
    {"reshape", blob_reshape, METH_VARARGS,
     "reshape(*dims)\n--\n\nSet the shape. Arrays taken before keep the old one. "
     "Layers "
     "above follow at Net.reshape() or the next forward()."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, blob_dealloc},
    {Py_tp_repr, blob_repr},
    {Py_tp_getset, members},
    {Py_tp_methods, methods},
    {Py_bf_getbuffer, blob_getbuffer},
    {Py_tp_doc, "An n-dimensional array of a net, with values and gradients."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name      = "caffe._caffe.Blob",
    .basicsize = sizeof(blob_object_t),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots     = slots,
};

int caffe_add_blob(PyObject *module)
{
    return caffe_add_type(module, &spec, &blob_type);
}
