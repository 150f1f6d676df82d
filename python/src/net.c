/* net.c - the type Net: handle of a net. caffe.Net (python/caffe/pycaffe.py) is the
 * class above it; its methods here begin with "_" and check that the net is open. */
#include "net.h"

static PyTypeObject *net_type;

net_object_t *net_open_of(PyObject *self)
{
    net_object_t *n = (net_object_t *)self;
    caffe_gate_t *gate;

    /* of a trainer that has ended: ValueError */
    if (n->owner != NULL && caffe_trainer_of(n->owner, &gate) == NULL) return NULL;
    if (n->net == NULL)
        PyErr_SetString(PyExc_ValueError,
                        "this net was not created: call Net.__init__()");
    return n->net != NULL ? n : NULL;
}

fire_net_t *caffe_net_of(PyObject *object, caffe_gate_t **gate_p)
{
    net_object_t *n;

    if (!PyObject_TypeCheck(object, net_type)) {
        PyErr_SetString(PyExc_TypeError, "a caffe.Net is needed");
        return NULL;
    }
    n = net_open_of(object);
    if (n == NULL) return NULL;
    *gate_p = n->gate;
    return n->net;
}

static void net_dealloc(PyObject *self)
{
    PyThreadState *saved;
    net_object_t  *n = (net_object_t *)self;

    if (n->owner == NULL) {
        /* its threads may be waiting for the GIL */
        saved = PyEval_SaveThread();
        fire_net_destroy(n->net);
        PyEval_RestoreThread(saved);
    }
    Py_XDECREF(n->owner);
    caffe_gate_release(n->gate);
    caffe_free(self);
}

/* ---- creating ---- */

enum source { SOURCE_FILE, SOURCE_TEXT, SOURCE_MESSAGE };

typedef struct open_call {
    int               source;
    const char       *bytes; /* path, text or message */
    Py_ssize_t        length;
    fire_net_config_t config;
    fire_net_t       *net;
} open_call_t;

static fire_status_t open_source(void *arg)
{
    open_call_t *c = arg;

    if (c->source == SOURCE_FILE)
        return fire_net_from_file(c->bytes, &c->config, &c->net);
    if (c->source == SOURCE_TEXT)
        return fire_net_from_text(c->bytes, (size_t)c->length, &c->config, &c->net);
    return fire_net_from_message(c->bytes, (size_t)c->length, &c->config, &c->net);
}

/* _adopt(trainer, i): be its test net i, or its training net for -1 */
static PyObject *net_adopt(PyObject *self, PyObject *args)
{
    net_object_t   *n = (net_object_t *)self;
    fire_trainer_t *trainer;
    caffe_gate_t   *gate;
    PyObject       *owner;
    int             i;

    if (!PyArg_ParseTuple(args, "Oi", &owner, &i)) return NULL;
    trainer = caffe_trainer_of(owner, &gate);
    if (trainer == NULL) return NULL;
    if (n->net != NULL) {
        PyErr_SetString(PyExc_ValueError, "this net is created already");
        return NULL;
    }
    n->net = i < 0 ? fire_trainer_net(trainer) : fire_trainer_test_net(trainer, i);
    if (n->net == NULL)
        return PyErr_Format(PyExc_IndexError, "there is no test net %d", i);
    Py_INCREF(owner);
    n->owner = owner;
    n->gate  = caffe_gate_retain(gate);
    Py_RETURN_NONE;
}

/* Create the net with this config, whose lists of names are read already. */
static PyObject *open_with(net_object_t *n, open_call_t *c)
{
    fire_status_t st;

    if (n->gate == NULL) n->gate = caffe_gate_create();
    if (n->gate == NULL) return NULL;
    st = caffe_gate_call(n->gate, open_source, c);
    if (st >= 0) {
        n->net = c->net;
        caffe_gate_set_gpu(n->gate, fire_net_gpu(n->net));
    }
    return caffe_result(st);
}

/* _open(source, bytes, phase, level, stages, lean, observe, seed, threads, gpu, precision
 * or None, kernels or None) */
static PyObject *net_open(PyObject *self, PyObject *args)
{
    net_object_t      *n = (net_object_t *)self;
    open_call_t        c = {.config = FIRE_NET_CONFIG_INIT};
    PyObject          *stages, *observe, *result = NULL;
    int                phase, lean;
    unsigned long long seed;

    if (!PyArg_ParseTuple(args, "iy#iiO!pO!Kiizz", &c.source, &c.bytes, &c.length,
                          &phase, &c.config.level, &PyTuple_Type, &stages, &lean,
                          &PyTuple_Type, &observe, &seed, &c.config.threads,
                          &c.config.gpu, &c.config.precision, &c.config.kernels))
        return NULL;
    if (n->net != NULL) {
        PyErr_SetString(PyExc_ValueError, "this net is created already");
        return NULL;
    }
    c.config.phase   = (fire_net_phase_t)phase;
    c.config.mode    = lean ? FIRE_LEAN : FIRE_OBSERVED;
    c.config.seed    = seed;
    c.config.python  = &caffe_host;
    c.config.stage   = caffe_read_names(stages, &c.config.nstage);
    c.config.observe = caffe_read_names(observe, &c.config.nobserve);
    if (c.config.stage != NULL && c.config.observe != NULL) result = open_with(n, &c);
    PyMem_Free((void *)c.config.stage);
    PyMem_Free((void *)c.config.observe);
    return result;
}

/* ---- the type ---- */

static PyMethodDef methods[] = {
    {"_adopt", net_adopt, METH_VARARGS, NULL},
    {"_open", net_open, METH_VARARGS, NULL},
    {"_forward", net_forward, METH_VARARGS,
     "_forward(first, last)\n--\n\nRun layers first ... last; returns the loss."},
    {"_backward", net_backward, METH_VARARGS,
     "_backward(first, last)\n--\n\nRun backward from layer first down to last."},
    {"reshape", net_reshape, METH_NOARGS,
     "reshape()\n--\n\nCompute all shapes from those of the inputs."},
    {"clear_param_diffs", net_clear, METH_NOARGS,
     "clear_param_diffs()\n--\n\nSet the gradients of all parameters to zero."},
    {"_load", net_load, METH_VARARGS, NULL},
    {"_save", net_save, METH_VARARGS, NULL},
    {"_load_hdf5", net_load_hdf5, METH_VARARGS, NULL},
    {"_save_hdf5", net_save_hdf5, METH_VARARGS, NULL},
    {"_load_message", net_load_message, METH_VARARGS, NULL},
    {"_save_message", net_save_message, METH_VARARGS, NULL},
    {"_draw", net_draw, METH_VARARGS, NULL},
    {"_text", net_text, METH_NOARGS, NULL},
    {"_onnx", net_onnx, METH_VARARGS, NULL},
    {"_set_source", net_set_source, METH_VARARGS, NULL},
    {"_set_arrays", net_set_arrays, METH_VARARGS, NULL},
    {"_python_layer", net_python_layer, METH_VARARGS, NULL},
    {"share_with", net_share, METH_O,
     "share_with(other)\n--\n\nUse the parameters of another net's layers of the same "
     "name: the same memory."},
    {"_blob", net_blob, METH_VARARGS, NULL},
    {"_layer_blobs", net_layer_blobs, METH_VARARGS, NULL},
    {"_describe", net_describe, METH_NOARGS, NULL},
    {"_watch", net_watch, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_dealloc, net_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "Handle of a net; see caffe.Net."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name      = "caffe._caffe._Net",
    .basicsize = sizeof(net_object_t),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots     = slots,
};

int caffe_add_net(PyObject *module)
{
    return caffe_add_type(module, &spec, &net_type);
}
