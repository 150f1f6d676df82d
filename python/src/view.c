/* view.c - a buffer over the values or gradients of a blob, on the CPU or a GPU. An array of numpy's made of
 * it holds the buffer, the buffer holds a view of the library's: so the memory stays
 * where it is as long as an array looks at it, whatever becomes of blob and net. */
#include "module.h"

struct caffe_view {
    PyObject_HEAD fire_view_t *view;
    fire_blob_t               *blob; /* retained */
    fire_part_t                part;
    fire_place_t               where;
    caffe_gate_t              *gate; /* retained; its list holds this view */
    caffe_view_t              *next, **link;
    Py_ssize_t                 shape[FIRE_MAX_DIMS], stride[FIRE_MAX_DIMS];
};

static PyTypeObject *view_type;

/* Shape and strides in bytes, as buffers have them. */
static void set_shape(caffe_view_t *v)
{
    const int64_t *dim  = fire_view_dims(v->view);
    Py_ssize_t     step = sizeof(float);

    for (int i = fire_view_ndim(v->view) - 1; i >= 0; i--) {
        v->shape[i]  = (Py_ssize_t)dim[i];
        v->stride[i] = step;
        step *= v->shape[i];
    }
}

const fire_view_t *caffe_view_values(const caffe_view_t *v)
{
    return v->view;
}

PyObject *caffe_view_create(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                            caffe_gate_t *gate)
{
    caffe_view_t *v = PyObject_New(caffe_view_t, view_type), **first;
    caffe_gate_t *entered;
    fire_status_t st;

    if (v == NULL) return NULL;
    v->view  = NULL;
    v->blob  = fire_blob_retain(blob);
    v->part  = part;
    v->where = where;
    v->gate  = caffe_gate_retain(gate);
    v->link  = NULL;
    entered  = caffe_gate_enter(gate);
    st       = fire_blob_view(blob, part, where, &v->view);
    caffe_gate_leave(entered);
    if (st < 0) {
        caffe_raise(st);
        Py_DECREF(v);
        return NULL;
    }
    set_shape(v);
    first   = caffe_gate_views(gate);
    v->next = *first;
    v->link = first;
    if (v->next != NULL) v->next->link = &v->next;
    *first = v;
    return (PyObject *)v;
}

static void view_dealloc(PyObject *self)
{
    caffe_view_t *v = (caffe_view_t *)self;

    if (v->link != NULL) {
        *v->link = v->next;
        if (v->next != NULL) v->next->link = v->link;
    }
    fire_view_destroy(v->view);
    fire_blob_destroy(v->blob);
    caffe_gate_release(v->gate);
    caffe_free(self);
}

static int view_getbuffer(PyObject *self, Py_buffer *b, int flags)
{
    caffe_view_t *v    = (caffe_view_t *)self;
    int           ndim = fire_view_ndim(v->view);
    Py_ssize_t    n    = 1;

    if (v->where != FIRE_CPU) {
        PyErr_SetString(PyExc_BufferError, "this memory is on a GPU");
        return -1;
    }
    if (ndim > 1 && (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS) {
        PyErr_SetString(PyExc_BufferError, "blobs are in C order");
        return -1;
    }
    for (int i = 0; i < ndim; i++)
        n *= v->shape[i];
    *b          = (Py_buffer){.obj = self, .buf = fire_view_values(v->view)};
    b->len      = n * (Py_ssize_t)sizeof(float);
    b->itemsize = sizeof(float);
    b->format   = flags & PyBUF_FORMAT ? "f" : NULL;
    b->ndim     = flags & PyBUF_ND ? ndim : 1;
    b->shape    = flags & PyBUF_ND ? v->shape : NULL;
    b->strides  = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? v->stride : NULL;
    Py_INCREF(self);
    return 0;
}

/* ---- callbacks: arrays that the user has kept see the values of now ---- */

static int for_each(caffe_gate_t *gate, bool absorb)
{
    for (caffe_view_t *v = *caffe_gate_views(gate); v != NULL; v = v->next) {
        const float *x;
        float       *y;

        if ((absorb ? fire_blob_update(v->blob, v->part, v->where, &y)
                    : fire_blob_read(v->blob, v->part, v->where, &x)) < 0)
            return -1;
    }
    return 0;
}

int caffe_views_refresh(caffe_gate_t *gate)
{
    return for_each(gate, false);
}

int caffe_views_absorb(caffe_gate_t *gate)
{
    return for_each(gate, true);
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, view_dealloc},
    {Py_bf_getbuffer, view_getbuffer},
    {Py_tp_doc, "A buffer over the values or gradients of a blob."},
    {0, NULL},
};

static PyType_Spec spec = {
    .name      = "caffe._caffe._View",
    .basicsize = sizeof(caffe_view_t),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots     = slots,
};

int caffe_add_view(PyObject *module)
{
    return caffe_add_type(module, &spec, &view_type);
}
