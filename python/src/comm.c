/* comm.c - the type _Comm: what one worker holds of the others, as ranks of an MPI job
 * or as threads of this process. */
#include <string.h>

#include "module.h"

typedef struct comm_object {
    PyObject_HEAD fire_comm_t *comm;  /* NULL when it has ended */
    bool                       owned; /* of a job: closing it is ours */
} comm_object_t;

static PyTypeObject *comm_type;

fire_comm_t *caffe_comm_of(PyObject *object)
{
    comm_object_t *c = (comm_object_t *)object;

    if (!PyObject_TypeCheck(object, comm_type)) {
        PyErr_SetString(PyExc_TypeError, "a communicator is needed");
        return NULL;
    }
    if (c->comm == NULL)
        PyErr_SetString(PyExc_ValueError,
                        "the workers of this communicator have ended");
    return c->comm;
}

static PyObject *make(fire_comm_t *comm, bool owned)
{
    comm_object_t *c = PyObject_New(comm_object_t, comm_type);

    if (c == NULL) return NULL;
    c->comm  = comm;
    c->owned = owned;
    return (PyObject *)c;
}

static void close_comm(comm_object_t *c)
{
    PyThreadState *saved;
    fire_comm_t   *comm = c->comm;

    c->comm = NULL;
    if (!c->owned || comm == NULL) return;
    saved = PyEval_SaveThread();
    fire_comm_close(comm);
    PyEval_RestoreThread(saved);
}

static void comm_dealloc(PyObject *self)
{
    close_comm((comm_object_t *)self);
    caffe_free(self);
}

static PyObject *comm_fail(PyObject *self, PyObject *args)
{
    fire_comm_t *comm = caffe_comm_of(self);

    (void)args;
    if (comm == NULL) return NULL;
    fire_comm_fail(comm);
    Py_RETURN_NONE;
}

static PyObject *comm_close(PyObject *self, PyObject *args)
{
    (void)args;
    close_comm((comm_object_t *)self);
    Py_RETURN_NONE;
}

PyObject *caffe_join_job(PyObject *module, PyObject *args)
{
    PyThreadState *saved;
    fire_comm_t   *comm;
    fire_status_t  st;

    (void)module;
    (void)args;
    saved = PyEval_SaveThread();
    st    = fire_comm_join_job(NULL, &comm);
    PyEval_RestoreThread(saved);
    return st < 0 ? caffe_raise(st) : make(comm, true);
}

/* ---- threads ---- */

/* Run work(comm) in one of the threads; its exception is kept by Python. */
static fire_status_t work(void *arg, fire_comm_t *comm)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject        *c = make(comm, false), *result = NULL;
    fire_status_t    st = FIRE_OK;

    if (c != NULL) result = PyObject_CallFunctionObjArgs(arg, c, NULL);
    if (result == NULL) {
        PyErr_Clear();
        st = FIRE_ERR_STOPPED;
    }
    if (c != NULL) ((comm_object_t *)c)->comm = NULL;
    Py_XDECREF(result);
    Py_XDECREF(c);
    PyGILState_Release(gil);
    return st;
}

/* _run_threads(n, threads, work): returns when all have returned */
PyObject *caffe_run_threads(PyObject *module, PyObject *args)
{
    PyThreadState     *saved;
    fire_comm_config_t config = FIRE_COMM_CONFIG_INIT;
    PyObject          *function;
    fire_status_t      st;
    int                n;

    (void)module;
    if (!PyArg_ParseTuple(args, "iiO", &n, &config.threads, &function)) return NULL;
    saved = PyEval_SaveThread();
    st    = fire_comm_run_threads(n, &config, work, function);
    PyEval_RestoreThread(saved);
    return caffe_result(st);
}

/* ---- exchanges ---- */

static PyObject *comm_barrier(PyObject *self, PyObject *args)
{
    PyThreadState *saved;
    fire_comm_t   *comm = caffe_comm_of(self);
    fire_status_t  st;

    (void)args;
    if (comm == NULL) return NULL;
    saved = PyEval_SaveThread();
    st    = fire_comm_barrier(comm);
    PyEval_RestoreThread(saved);
    return caffe_result(st);
}

/* broadcast(buffer, root): the bytes of the root to the buffers of the others */
static PyObject *comm_broadcast(PyObject *self, PyObject *args)
{
    PyThreadState *saved;
    fire_comm_t   *comm = caffe_comm_of(self);
    Py_buffer      b;
    fire_status_t  st;
    int            root = 0;

    if (comm == NULL || !PyArg_ParseTuple(args, "w*|i", &b, &root)) return NULL;
    saved = PyEval_SaveThread();
    st    = fire_comm_broadcast(comm, root, b.buf, (size_t)b.len);
    PyEval_RestoreThread(saved);
    PyBuffer_Release(&b);
    return caffe_result(st);
}

/* allreduce(buffer of float32): the sum over all ranks, in place */
static PyObject *comm_allreduce(PyObject *self, PyObject *args)
{
    PyThreadState *saved;
    fire_comm_t   *comm = caffe_comm_of(self);
    const char    *algo = "auto";
    Py_buffer      b;
    fire_status_t  st;
    PyObject      *array;

    if (comm == NULL || !PyArg_ParseTuple(args, "O|s", &array, &algo) ||
        PyObject_GetBuffer(array, &b, PyBUF_CONTIG | PyBUF_FORMAT) < 0)
        return NULL;
    if (b.format == NULL || strcmp(b.format, "f") != 0) {
        PyBuffer_Release(&b);
        PyErr_SetString(PyExc_TypeError, "the array must be of float32");
        return NULL;
    }
    saved = PyEval_SaveThread();
    st    = fire_comm_allreduce(comm, algo, b.buf, (size_t)b.len / sizeof(float));
    PyEval_RestoreThread(saved);
    PyBuffer_Release(&b);
    return caffe_result(st);
}

static PyObject *get_rank(PyObject *self, void *closure)
{
    fire_comm_t *comm = caffe_comm_of(self);

    (void)closure;
    return comm == NULL ? NULL : PyLong_FromLong(fire_comm_rank(comm));
}

static PyObject *get_size(PyObject *self, void *closure)
{
    fire_comm_t *comm = caffe_comm_of(self);

    (void)closure;
    return comm == NULL ? NULL : PyLong_FromLong(fire_comm_size(comm));
}

static PyGetSetDef members[] = {
    {"rank", get_rank, NULL, "This worker's number.", NULL},
    {"size", get_size, NULL, "How many workers there are.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"barrier", comm_barrier, METH_NOARGS,
     "barrier()\n--\n\nReturn when all workers have come here."},
    {"broadcast", comm_broadcast, METH_VARARGS,
     "broadcast(array, root=0)\n--\n\nCopy the array of the root to those of the "
     "others."},
    {"allreduce", comm_allreduce, METH_VARARGS,
     "allreduce(array, algo='auto')\n--\n\nReplace a float32 array by the sum over the "
     "workers."},
    {"_fail", comm_fail, METH_NOARGS, NULL},
    {"_close", comm_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, comm_dealloc},
    {Py_tp_getset, members},
    {Py_tp_methods, methods},
    {Py_tp_doc, "The workers that train together, as one of them sees them."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name      = "caffe._caffe._Comm",
    .basicsize = sizeof(comm_object_t),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots     = slots,
};

int caffe_add_comm(PyObject *module)
{
    return caffe_add_type(module, &spec, &comm_type);
}
