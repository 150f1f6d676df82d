/* interpreter_python.c - the interpreter behind Python layers. A few functions on blobs
 * are given to Python as module `_fire`; what users' classes see of them is written in
 * Python, below. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>

#include "layers/common/python.h"

struct fire_python {
    PyObject     *host;
    fire_layer_t *l; /* of the call that runs now */
};

/* pycaffe's Layer and Blob. Arrays are numpy's where it is installed, memoryviews
 * otherwise. A `caffe` package of the user's comes before ours. */
static const char host_source[] =
    "import importlib, os, sys, types, _fire\n"
    "try:\n"
    "    import numpy\n"
    "except ImportError:\n"
    "    numpy = None\n"
    "\n"
    "class Layer:\n"
    "    def __init__(self, *args):\n"
    "        pass\n"
    "    def reshape(self, bottom, top):\n"
    "        pass\n"
    "    def backward(self, top, propagate_down, bottom):\n"
    "        pass\n"
    "\n"
    "class Blob:\n"
    "    def __init__(self, handle):\n"
    "        self._handle = handle\n"
    "    def _array(self, part):\n"
    "        view = _fire.view(self._handle, part)\n"
    "        if numpy is None:\n"
    "            return view.cast('f', self.shape)\n"
    "        return numpy.frombuffer(view, numpy.float32).reshape(self.shape)\n"
    "    def _axis(self, i):\n"
    "        return self.shape[i] if i < len(self.shape) else 1\n"
    "    def reshape(self, *dims):\n"
    "        _fire.reshape(self._handle, dims)\n"
    "    data = property(lambda self: self._array(0))\n"
    "    diff = property(lambda self: self._array(1))\n"
    "    shape = property(lambda self: _fire.shape(self._handle))\n"
    "    num = property(lambda self: self._axis(0))\n"
    "    channels = property(lambda self: self._axis(1))\n"
    "    height = property(lambda self: self._axis(2))\n"
    "    width = property(lambda self: self._axis(3))\n"
    "    @property\n"
    "    def count(self):\n"
    "        n = 1\n"
    "        for d in self.shape:\n"
    "            n *= d\n"
    "        return n\n"
    "\n"
    "class Blobs:\n"
    "    def __init__(self, layer, which):\n"
    "        self._layer, self._which = layer, which\n"
    "    def __len__(self):\n"
    "        return _fire.count(self._layer, self._which)\n"
    "    def __getitem__(self, i):\n"
    "        n = len(self)\n"
    "        if not -n <= i < n:\n"
    "            raise IndexError('blob %d of %d' % (i, n))\n"
    "        return Blob(_fire.blob(self._layer, self._which, i % n))\n"
    "    def add_blob(self, *dims):\n"
    "        _fire.add_blob(self._layer, dims)\n"
    "\n"
    "class Host:\n"
    "    def __init__(self, layer, module, name, param_str, phase):\n"
    "        self.bottom, self.top = Blobs(layer, 0), Blobs(layer, 1)\n"
    "        self.it = getattr(importlib.import_module(module), name)()\n"
    "        self.it.param_str, self.it.phase = param_str, phase\n"
    "        self.it.blobs = Blobs(layer, 2)\n"
    "    def run(self, method, propagate_down):\n"
    "        if method == 'backward':\n"
    "            self.it.backward(self.top, propagate_down, self.bottom)\n"
    "        else:\n"
    "            getattr(self.it, method)(self.bottom, self.top)\n"
    "\n"
    "def describe(error):\n"
    "    at, trace = '', error.__traceback__\n"
    "    while trace is not None:\n"
    "        at = ' (%s:%d)' % (trace.tb_frame.f_code.co_filename, trace.tb_lineno)\n"
    "        trace = trace.tb_next\n"
    "    return '%s: %s%s' % (type(error).__name__, error, at)\n"
    "\n"
    "if os.getcwd() not in sys.path:\n"
    "    sys.path.insert(0, os.getcwd())\n"
    "try:\n"
    "    import caffe\n"
    "except ImportError:\n"
    "    caffe = sys.modules['caffe'] = types.ModuleType('caffe')\n"
    "    caffe.Layer, caffe.TRAIN, caffe.TEST = Layer, 0, 1\n";

static PyObject *host_module; /* set once by start(), under the GIL */

/* A status inside a function that Python called becomes an exception there. */
static PyObject *raise_status(void)
{
    PyErr_SetString(PyExc_RuntimeError, fire_last_error());
    return NULL;
}

/* And the pending exception becomes a status. */
static fire_status_t take_exception(void)
{
    PyObject     *type, *error, *trace, *text = NULL;
    const char   *words;
    fire_status_t st;

    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    if (trace != NULL) PyException_SetTraceback(error, trace);
    if (host_module != NULL)
        text = PyObject_CallMethod(host_module, "describe", "O", error);
    words = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    st    = FIRE_FAIL(FIRE_ERR_INVALID, "Python: %s",
                   words != NULL ? words : "an exception that cannot be shown");
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return st;
}

/* ---- module _fire ---- */

static fire_layer_t *layer_of(PyObject *capsule)
{
    fire_python_t *python = PyCapsule_GetPointer(capsule, "layer");

    return python != NULL ? python->l : NULL;
}

static int list_of(fire_layer_t *l, int which, fire_blob_t ***list_p)
{
    *list_p = which == 0 ? l->bottom : which == 1 ? l->top : l->blob;
    return which == 0 ? l->nbottom : which == 1 ? l->ntop : l->nblob;
}

static PyObject *py_count(PyObject *self, PyObject *args)
{
    PyObject     *capsule;
    fire_layer_t *l;
    fire_blob_t **list;
    int           which;

    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &which)) return NULL;
    if ((l = layer_of(capsule)) == NULL) return NULL;
    return PyLong_FromLong(list_of(l, which, &list));
}

static PyObject *py_blob(PyObject *self, PyObject *args)
{
    PyObject     *capsule;
    fire_layer_t *l;
    fire_blob_t **list;
    int           which, i;

    (void)self;
    if (!PyArg_ParseTuple(args, "Oii", &capsule, &which, &i)) return NULL;
    if ((l = layer_of(capsule)) == NULL) return NULL;
    if (i < 0 || i >= list_of(l, which, &list))
        return PyErr_Format(PyExc_IndexError, "blob %d", i);
    return PyCapsule_New(list[i], "blob", NULL);
}

static PyObject *py_shape(PyObject *self, PyObject *capsule)
{
    fire_blob_t *blob = PyCapsule_GetPointer(capsule, "blob");
    PyObject    *shape;

    (void)self;
    if (blob == NULL || (shape = PyTuple_New(blob->ndim)) == NULL) return NULL;
    for (int i = 0; i < blob->ndim; i++)
        PyTuple_SET_ITEM(shape, i, PyLong_FromLongLong(blob->dim[i]));
    return shape;
}

static PyObject *py_view(PyObject *self, PyObject *args)
{
    PyObject    *capsule;
    fire_blob_t *blob;
    float       *x;
    int          part;

    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &part)) return NULL;
    if ((blob = PyCapsule_GetPointer(capsule, "blob")) == NULL) return NULL;
    if (fire_blob_update(blob, part == 0 ? FIRE_DATA : FIRE_DIFF, FIRE_CPU, &x) < 0)
        return raise_status();
    return PyMemoryView_FromMemory((char *)x, blob->count * (Py_ssize_t)sizeof(*x),
                                   PyBUF_WRITE);
}

/* A tuple of sizes, as the two functions below get it. */
static int read_dims(PyObject *tuple, int64_t dim[FIRE_MAX_DIMS])
{
    Py_ssize_t n = PyTuple_Size(tuple);

    if (n > FIRE_MAX_DIMS) PyErr_Format(PyExc_ValueError, "%zd axes", n);
    for (Py_ssize_t i = 0; i < n && !PyErr_Occurred(); i++)
        dim[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return PyErr_Occurred() ? -1 : (int)n;
}

static PyObject *py_reshape(PyObject *self, PyObject *args)
{
    PyObject    *capsule, *tuple;
    fire_blob_t *blob;
    int64_t      dim[FIRE_MAX_DIMS];
    int          n;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyTuple_Type, &tuple)) return NULL;
    if ((blob = PyCapsule_GetPointer(capsule, "blob")) == NULL) return NULL;
    if ((n = read_dims(tuple, dim)) < 0) return NULL;
    if (fire_blob_reshape(blob, n, dim) < 0) return raise_status();
    Py_RETURN_NONE;
}

static PyObject *py_add_blob(PyObject *self, PyObject *args)
{
    PyObject     *capsule, *tuple;
    fire_layer_t *l;
    int64_t       dim[FIRE_MAX_DIMS];
    int           n;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyTuple_Type, &tuple)) return NULL;
    if ((l = layer_of(capsule)) == NULL) return NULL;
    if ((n = read_dims(tuple, dim)) < 0) return NULL;
    if (fire_layer_add_blob(l, n, dim, NULL) < 0) return raise_status();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"count", py_count, METH_VARARGS, NULL},
    {"blob", py_blob, METH_VARARGS, NULL},
    {"shape", py_shape, METH_O, NULL},
    {"view", py_view, METH_VARARGS, NULL},
    {"reshape", py_reshape, METH_VARARGS, NULL},
    {"add_blob", py_add_blob, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef fire_module = {PyModuleDef_HEAD_INIT, .m_name = "_fire",
                                         .m_size = -1, .m_methods = functions};

/* ---- the interpreter ---- */

static PyObject *make_host_module(void)
{
    PyObject *fire = PyModule_Create(&fire_module), *code, *host = NULL;

    if (fire == NULL) return NULL;
    if (PyDict_SetItemString(PyImport_GetModuleDict(), "_fire", fire) == 0 &&
        (code = Py_CompileString(host_source, "_fire_host", Py_file_input)) != NULL) {
        host = PyImport_ExecCodeModule("_fire_host", code);
        Py_DECREF(code);
    }
    Py_DECREF(fire);
    return host;
}

static void start(void)
{
    PyGILState_STATE gil;

    /* Inside a Python program there is an interpreter already. */
    if (!Py_IsInitialized()) {
        Py_InitializeEx(0); /* signals stay with the program */
        PyEval_SaveThread();
    }
    gil         = PyGILState_Ensure();
    host_module = make_host_module();
    if (host_module == NULL) PyErr_Clear();
    PyGILState_Release(gil);
}

static PyObject *make_host(fire_python_t *python, const fire_layer_t *l)
{
    const Caffe__PythonParameter *p       = l->param->python_param;
    PyObject                     *capsule = PyCapsule_New(python, "layer", NULL);

    if (capsule == NULL) return NULL;
    return PyObject_CallMethod(host_module, "Host", "Nsssi", capsule, p->module,
                               p->layer, p->param_str, (int)l->phase);
}

fire_status_t fire_python_create(fire_layer_t *l, fire_python_t **python_p)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    PyGILState_STATE      gil;
    fire_python_t        *python;
    fire_status_t         st = FIRE_OK;

    pthread_once(&once, start);
    if (host_module == NULL)
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED, "the Python interpreter did not start");
    FIRE_TRY(FIRE_NEW(&python, 1));
    python->l    = l;
    gil          = PyGILState_Ensure();
    python->host = make_host(python, l);
    if (python->host == NULL) st = take_exception();
    PyGILState_Release(gil);
    if (st < 0)
        fire_free(python);
    else
        *python_p = python;
    return st;
}

void fire_python_destroy(fire_python_t *python)
{
    PyGILState_STATE gil;

    if (python == NULL) return;
    gil = PyGILState_Ensure();
    Py_DECREF(python->host);
    PyGILState_Release(gil);
    fire_free(python);
}

static PyObject *propagate_list(const fire_layer_t *l)
{
    PyObject *down = PyList_New(l->nbottom);

    for (int i = 0; down != NULL && i < l->nbottom; i++)
        PyList_SET_ITEM(down, i, PyBool_FromLong(l->propagate_down[i]));
    return down;
}

fire_status_t fire_python_call(fire_python_t *python, fire_layer_t *l,
                               const char *method)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    fire_status_t    st  = FIRE_OK;
    PyObject        *result;

    python->l = l;
    result = PyObject_CallMethod(python->host, "run", "sN", method, propagate_list(l));
    if (result == NULL) st = take_exception();
    Py_XDECREF(result);
    PyGILState_Release(gil);
    return st;
}
