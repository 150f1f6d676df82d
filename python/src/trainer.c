/* trainer.c - the type _Trainer: handle of a training run. The solvers of pycaffe
 * (python/caffe/solver.py) are classes above it. */
#include "trainer.h"

static PyTypeObject *trainer_type;

trainer_object_t *trainer_open_of(PyObject *self)
{
    trainer_object_t *t = (trainer_object_t *)self;

    if (t->trainer == NULL)
        PyErr_SetString(PyExc_ValueError, "this solver was not created, or has ended");
    return t->trainer != NULL ? t : NULL;
}

fire_trainer_t *caffe_trainer_of(PyObject *object, caffe_gate_t **gate_p)
{
    trainer_object_t *t;

    if (!PyObject_TypeCheck(object, trainer_type)) {
        PyErr_SetString(PyExc_TypeError, "a solver is needed");
        return NULL;
    }
    t = trainer_open_of(object);
    if (t == NULL) return NULL;
    *gate_p = t->gate;
    return t->trainer;
}

/* Its threads may be waiting for the GIL. */
static void close_trainer(trainer_object_t *t)
{
    fire_trainer_t  *trainer = t->trainer;
    fire_recorder_t *record  = t->record;
    PyThreadState   *saved;

    t->trainer = NULL;
    t->record  = NULL;
    saved      = PyEval_SaveThread();
    fire_recorder_destroy(record);
    fire_trainer_destroy(trainer);
    PyEval_RestoreThread(saved);
}

/* End the trainer before the object does; its nets cannot be used any more. */
static PyObject *trainer_close(PyObject *self, PyObject *args)
{
    (void)args;
    close_trainer((trainer_object_t *)self);
    Py_RETURN_NONE;
}

static void trainer_dealloc(PyObject *self)
{
    trainer_object_t *t = (trainer_object_t *)self;

    close_trainer(t);
    Py_XDECREF(t->comm);
    caffe_gate_release(t->gate);
    caffe_free(self);
}

/* ---- creating ---- */

enum source { SOURCE_FILE, SOURCE_TEXT, SOURCE_MESSAGE };

typedef struct open_call {
    int                   source;
    const char           *bytes; /* path, text or message */
    Py_ssize_t            length;
    fire_trainer_config_t config;
    fire_trainer_t       *trainer;
} open_call_t;

static fire_status_t open_source(void *arg)
{
    open_call_t *c = arg;
    size_t       n = (size_t)c->length;

    if (c->source == SOURCE_FILE)
        return fire_trainer_from_file(c->bytes, &c->config, &c->trainer);
    if (c->source == SOURCE_TEXT)
        return fire_trainer_from_text(c->bytes, n, &c->config, &c->trainer);
    return fire_trainer_from_message(c->bytes, n, &c->config, &c->trainer);
}

/* Create the trainer with this config, whose list of names is read already. */
static PyObject *open_with(trainer_object_t *t, open_call_t *c, PyObject *comm)
{
    fire_status_t st;

    if (comm != Py_None) {
        c->config.comm = caffe_comm_of(comm);
        if (c->config.comm == NULL) return NULL;
    }
    if (t->gate == NULL) t->gate = caffe_gate_create();
    if (t->gate == NULL) return NULL;
    st = caffe_gate_call(t->gate, open_source, c);
    if (st < 0) return caffe_raise(st);
    t->trainer = c->trainer;
    caffe_gate_set_gpu(t->gate, fire_net_gpu(fire_trainer_net(t->trainer)));
    if (fire_trainer_rank(t->trainer) == 0)
        st = fire_recorder_create(t->trainer, &t->record);
    if (st < 0) return caffe_raise(st);
    if (comm != Py_None) {
        Py_INCREF(comm);
        t->comm = comm;
    }
    Py_RETURN_NONE;
}

/* _open(source, bytes, comm or None, fire or None, lean, observe, gpu, threads, kernels
 * or None) */
static PyObject *trainer_open(PyObject *self, PyObject *args)
{
    trainer_object_t *t = (trainer_object_t *)self;
    open_call_t       c = {.config = FIRE_TRAINER_CONFIG_INIT};
    PyObject         *comm, *observe, *result = NULL;
    int               lean;

    if (!PyArg_ParseTuple(args, "iy#OzpO!iiz", &c.source, &c.bytes, &c.length, &comm,
                          &c.config.fire, &lean, &PyTuple_Type, &observe, &c.config.gpu,
                          &c.config.threads, &c.config.kernels))
        return NULL;
    if (t->trainer != NULL) {
        PyErr_SetString(PyExc_ValueError, "this solver is created already");
        return NULL;
    }
    c.config.python  = &caffe_host;
    c.config.mode    = lean ? FIRE_LEAN : FIRE_OBSERVED;
    c.config.observe = caffe_read_names(observe, &c.config.nobserve);
    if (c.config.observe != NULL) result = open_with(t, &c, comm);
    PyMem_Free((void *)c.config.observe);
    return result;
}

/* ---- the type ---- */

static PyMethodDef methods[] = {
    {"_open", trainer_open, METH_VARARGS, NULL},
    {"_close", trainer_close, METH_NOARGS, NULL},
    {"_watch", trainer_watch, METH_VARARGS, NULL},
    {"_step", trainer_step, METH_VARARGS, NULL},
    {"_solve", trainer_solve, METH_NOARGS, NULL},
    {"_test", trainer_test, METH_VARARGS, NULL},
    {"_gradients", trainer_gradients, METH_NOARGS, NULL},
    {"_update", trainer_update, METH_NOARGS, NULL},
    {"_snapshot", trainer_snapshot, METH_NOARGS, NULL},
    {"_restore", trainer_restore, METH_VARARGS, NULL},
    {"_resume", trainer_resume, METH_NOARGS, NULL},
    {"_load", trainer_load, METH_VARARGS, NULL},
    {"_share", trainer_share, METH_O, NULL},
    {"_set", trainer_set, METH_VARARGS, NULL},
    {"_number", trainer_number, METH_VARARGS, NULL},
    {"_text", trainer_text, METH_NOARGS, NULL},
    {"_set_rate", trainer_set_rate, METH_VARARGS, NULL},
    {"_set_iter", trainer_set_iter, METH_VARARGS, NULL},
    {"_request", trainer_request, METH_VARARGS, NULL},
    {"_plot", trainer_plot, METH_VARARGS, NULL},
    {"_look", trainer_look, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, trainer_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Handle of a training run; see caffe.Solver."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name      = "caffe._caffe._Trainer",
    .basicsize = sizeof(trainer_object_t),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots     = slots,
};

int caffe_add_trainer(PyObject *module)
{
    return caffe_add_type(module, &spec, &trainer_type);
}
