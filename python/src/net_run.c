/* net_run.c - methods of _Net that run it. */
#include "net.h"

typedef struct run_call {
    fire_net_t *net;
    int         first, last;
    float       loss;
} run_call_t;

static fire_status_t run_forward(void *arg)
{
    run_call_t *c = arg;

    return fire_net_forward(c->net, c->first, c->last, &c->loss);
}

static fire_status_t run_backward(void *arg)
{
    run_call_t *c = arg;

    return fire_net_backward(c->net, c->first, c->last);
}

static fire_status_t run_reshape(void *arg)
{
    return fire_net_reshape(((run_call_t *)arg)->net);
}

static fire_status_t run_clear(void *arg)
{
    return fire_net_clear_diffs(((run_call_t *)arg)->net);
}

/* _forward(first, last) -> loss */
PyObject *net_forward(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    run_call_t    c = {.last = -1};
    fire_status_t st;

    if (n == NULL || !PyArg_ParseTuple(args, "ii", &c.first, &c.last)) return NULL;
    c.net = n->net;
    st    = caffe_gate_call(n->gate, run_forward, &c);
    if (st < 0) return caffe_raise(st);
    if (caffe_raise_kept() < 0) return NULL;
    return PyFloat_FromDouble((double)c.loss);
}

/* _backward(first, last): from layer `first` down to `last` */
PyObject *net_backward(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    run_call_t    c = {0};

    if (n == NULL || !PyArg_ParseTuple(args, "ii", &c.first, &c.last)) return NULL;
    c.net = n->net;
    return caffe_result(caffe_gate_call(n->gate, run_backward, &c));
}

static PyObject *simply(PyObject *self, caffe_call_t call)
{
    net_object_t *n = net_open_of(self);
    run_call_t    c = {0};

    if (n == NULL) return NULL;
    c.net = n->net;
    return caffe_result(caffe_gate_call(n->gate, call, &c));
}

PyObject *net_reshape(PyObject *self, PyObject *args)
{
    (void)args;
    return simply(self, run_reshape);
}

PyObject *net_clear(PyObject *self, PyObject *args)
{
    (void)args;
    return simply(self, run_clear);
}
