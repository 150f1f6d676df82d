/* net_hooks.c - callbacks around the layers of a net. */
#include "net.h"

enum { BEFORE_FORWARD, AFTER_FORWARD, BEFORE_BACKWARD, AFTER_BACKWARD };

/* Call self._on_layer(kind, layer). The caller of the pass holds the object. */
static fire_status_t on_layer(void *arg, int kind, int layer)
{
    net_object_t    *n = arg;
    caffe_callback_t state;
    PyObject        *result = NULL;
    fire_status_t    st     = FIRE_OK;

    caffe_callback_begin(n->gate, &state);
    if (caffe_views_refresh(n->gate) == 0)
        result = PyObject_CallMethod((PyObject *)n, "_on_layer", "ii", kind, layer);
    else
        caffe_raise(FIRE_ERR_INVALID);
    if (result == NULL)
        st = caffe_keep_exception();
    else
        caffe_views_absorb(n->gate);
    Py_XDECREF(result);
    caffe_callback_end(&state);
    return st;
}

static fire_status_t before_forward(void *arg, int layer)
{
    return on_layer(arg, BEFORE_FORWARD, layer);
}

static fire_status_t after_forward(void *arg, int layer)
{
    return on_layer(arg, AFTER_FORWARD, layer);
}

static fire_status_t before_backward(void *arg, int layer)
{
    return on_layer(arg, BEFORE_BACKWARD, layer);
}

static fire_status_t after_backward(void *arg, int layer)
{
    return on_layer(arg, AFTER_BACKWARD, layer);
}

/* _watch(forward_before, forward_after, backward_before, backward_after): which of the
 * callbacks there are */
PyObject *net_watch(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    int           bf, af, bb, ab;

    if (n == NULL || !PyArg_ParseTuple(args, "pppp", &bf, &af, &bb, &ab)) return NULL;
    fire_net_set_watch(n->net, &(fire_net_hooks_t){
                                   .arg             = n,
                                   .before_forward  = bf ? before_forward : NULL,
                                   .after_forward   = af ? after_forward : NULL,
                                   .before_backward = bb ? before_backward : NULL,
                                   .after_backward  = ab ? after_backward : NULL,
                               });
    Py_RETURN_NONE;
}
