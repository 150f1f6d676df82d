/* net_weights.c - methods of _Net that load, save and share parameters. */
#include <string.h>

#include "net.h"

typedef struct weights_call {
    fire_net_t *net, *other;
    const char *path; /* or a message */
    Py_ssize_t  length;
    void       *message;
    bool        with_diff;
} weights_call_t;

static fire_status_t run_load(void *arg)
{
    weights_call_t *c = arg;

    return fire_net_load_file(c->net, c->path);
}

static fire_status_t run_save(void *arg)
{
    weights_call_t *c = arg;

    return fire_net_save_file(c->net, c->path, c->with_diff);
}

static fire_status_t run_load_hdf5(void *arg)
{
    weights_call_t *c = arg;

    return fire_net_load_hdf5(c->net, c->path);
}

static fire_status_t run_save_hdf5(void *arg)
{
    weights_call_t *c = arg;

    return fire_net_save_hdf5(c->net, c->path, c->with_diff);
}

static fire_status_t run_load_message(void *arg)
{
    weights_call_t *c = arg;

    return fire_net_load_message(c->net, c->path, (size_t)c->length);
}

static fire_status_t run_save_message(void *arg)
{
    weights_call_t *c = arg;
    size_t          length;

    fire_status_t st =
        fire_net_save_message(c->net, c->with_diff, &c->message, &length);

    if (st >= 0) c->length = (Py_ssize_t)length;
    return st;
}

static fire_status_t run_share(void *arg)
{
    weights_call_t *c = arg;

    return fire_net_share(c->net, c->other);
}

PyObject *net_load(PyObject *self, PyObject *args)
{
    net_object_t  *n = net_open_of(self);
    weights_call_t c = {0};

    if (n == NULL || !PyArg_ParseTuple(args, "y", &c.path)) return NULL;
    c.net = n->net;
    return caffe_result(caffe_gate_call(n->gate, run_load, &c));
}

/* _save(path, with_diff) */
PyObject *net_save(PyObject *self, PyObject *args)
{
    net_object_t  *n = net_open_of(self);
    weights_call_t c = {0};
    int            with_diff;

    if (n == NULL || !PyArg_ParseTuple(args, "yp", &c.path, &with_diff)) return NULL;
    c.net       = n->net;
    c.with_diff = with_diff;
    return caffe_result(caffe_gate_call(n->gate, run_save, &c));
}

PyObject *net_load_hdf5(PyObject *self, PyObject *args)
{
    net_object_t  *n = net_open_of(self);
    weights_call_t c = {0};

    if (n == NULL || !PyArg_ParseTuple(args, "y", &c.path)) return NULL;
    c.net = n->net;
    return caffe_result(caffe_gate_call(n->gate, run_load_hdf5, &c));
}

/* _save_hdf5(path, with_diff) */
PyObject *net_save_hdf5(PyObject *self, PyObject *args)
{
    net_object_t  *n = net_open_of(self);
    weights_call_t c = {0};
    int            with_diff;

    if (n == NULL || !PyArg_ParseTuple(args, "yp", &c.path, &with_diff)) return NULL;
    c.net       = n->net;
    c.with_diff = with_diff;
    return caffe_result(caffe_gate_call(n->gate, run_save_hdf5, &c));
}

/* _load_message(bytes) */
PyObject *net_load_message(PyObject *self, PyObject *args)
{
    net_object_t  *n = net_open_of(self);
    weights_call_t c = {0};

    if (n == NULL || !PyArg_ParseTuple(args, "y#", &c.path, &c.length)) return NULL;
    c.net = n->net;
    return caffe_result(caffe_gate_call(n->gate, run_load_message, &c));
}

/* Hand over memory of the library as bytes. */
static PyObject *take_bytes(void *memory, size_t length)
{
    PyObject *bytes = PyBytes_FromStringAndSize(memory, (Py_ssize_t)length);

    fire_free(memory);
    return bytes;
}

/* _save_message(with_diff) -> bytes */
PyObject *net_save_message(PyObject *self, PyObject *args)
{
    net_object_t  *n = net_open_of(self);
    weights_call_t c = {0};
    int            with_diff;
    fire_status_t  st;

    if (n == NULL || !PyArg_ParseTuple(args, "p", &with_diff)) return NULL;
    c.net       = n->net;
    c.with_diff = with_diff;
    st          = caffe_gate_call(n->gate, run_save_message, &c);
    return st < 0 ? caffe_raise(st) : take_bytes(c.message, (size_t)c.length);
}

/* _text() -> bytes of the prototxt */
PyObject *net_text(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    char         *text;
    fire_status_t st;

    (void)args;
    if (n == NULL) return NULL;
    st = fire_net_save_text(n->net, &text);
    return st < 0 ? caffe_raise(st) : take_bytes(text, strlen(text));
}

/* _draw(path) */
PyObject *net_draw(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    const char   *path;

    if (n == NULL || !PyArg_ParseTuple(args, "y", &path)) return NULL;
    return caffe_result(fire_net_draw(n->net, path));
}

/* ---- MemoryData ---- */

/* _set_arrays(layer, data, labels, n): addresses of float32 arrays that the caller
 * keeps */
PyObject *net_set_arrays(PyObject *self, PyObject *args)
{
    net_object_t      *n = net_open_of(self);
    unsigned long long data, labels;
    long long          count;
    int                layer;

    if (n == NULL || !PyArg_ParseTuple(args, "iKKL", &layer, &data, &labels, &count))
        return NULL;
    return caffe_result(fire_net_set_arrays(n->net, layer,
                                            (const float *)(uintptr_t)data,
                                            (const float *)(uintptr_t)labels, count));
}

PyObject *net_share(PyObject *self, PyObject *other)
{
    net_object_t  *n = net_open_of(self);
    weights_call_t c = {0};
    caffe_gate_t  *theirs;
    fire_status_t  st;

    if (n == NULL) return NULL;
    c.net   = n->net;
    c.other = caffe_net_of(other, &theirs);
    if (c.other == NULL) return NULL;
    caffe_gate_join(n->gate, theirs);
    st = caffe_gate_call(n->gate, run_share, &c);
    return caffe_result(st);
}
