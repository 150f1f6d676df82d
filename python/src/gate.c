/* gate.c - one thread at a time uses a net; callbacks of that net go in and out. All
 * members are read and written with the GIL held; the lock is for waiting without it. */
#include "module.h"

struct caffe_gate {
    PyThread_type_lock lock;  /* held while depth > 0 */
    unsigned long      owner; /* thread inside */
    int                depth; /* how often it has entered */
    int                refs;
    int                gpu;    /* number, or -1 */
    caffe_gate_t      *joined; /* the gate that stands for this one, or NULL */
    caffe_view_t      *views;  /* of blobs that were made with this gate */
};

static _Thread_local caffe_gate_t *current;

caffe_gate_t *caffe_gate_create(void)
{
    caffe_gate_t *g = PyMem_Calloc(1, sizeof(*g));

    if (g != NULL) g->lock = PyThread_allocate_lock();
    if (g == NULL || g->lock == NULL) {
        PyMem_Free(g);
        PyErr_NoMemory();
        return NULL;
    }
    g->refs = 1;
    g->gpu  = -1;
    return g;
}

caffe_gate_t *caffe_gate_retain(caffe_gate_t *g)
{
    if (g != NULL) g->refs++;
    return g;
}

void caffe_gate_release(caffe_gate_t *g)
{
    while (g != NULL && --g->refs == 0) {
        caffe_gate_t *next = g->joined;

        PyThread_free_lock(g->lock);
        PyMem_Free(g);
        g = next;
    }
}

static caffe_gate_t *root_of(caffe_gate_t *g)
{
    while (g->joined != NULL)
        g = g->joined;
    return g;
}

void caffe_gate_join(caffe_gate_t *gate, caffe_gate_t *other)
{
    caffe_gate_t *a = root_of(gate), *b = root_of(other);

    if (a != b) a->joined = caffe_gate_retain(b);
}

caffe_view_t **caffe_gate_views(caffe_gate_t *g)
{
    return &g->views;
}

void caffe_gate_set_gpu(caffe_gate_t *g, int gpu)
{
    g->gpu = gpu;
}

int caffe_gate_gpu(const caffe_gate_t *g)
{
    return g->gpu;
}

caffe_gate_t *caffe_gate_current(void)
{
    return current;
}

caffe_gate_t *caffe_gate_enter(caffe_gate_t *gate)
{
    PyThreadState *saved;
    unsigned long  me = PyThread_get_thread_ident();

    for (;;) {
        caffe_gate_t *g = caffe_gate_retain(root_of(gate));

        if (g->depth > 0 && g->owner == me) {
            g->depth++;
            return g;
        }
        if (PyThread_acquire_lock(g->lock, NOWAIT_LOCK) == 0) {
            saved = PyEval_SaveThread();
            PyThread_acquire_lock(g->lock, WAIT_LOCK);
            PyEval_RestoreThread(saved);
        }
        if (g->joined == NULL) {
            g->owner = me;
            g->depth = 1;
            return g;
        }
        PyThread_release_lock(g->lock); /* joined to another one meanwhile */
        caffe_gate_release(g);
    }
}

void caffe_gate_leave(caffe_gate_t *g)
{
    if (--g->depth == 0) PyThread_release_lock(g->lock);
    caffe_gate_release(g);
}

fire_status_t caffe_gate_call(caffe_gate_t *gate, caffe_call_t call, void *arg)
{
    PyThreadState *saved;
    caffe_gate_t  *entered = caffe_gate_enter(gate), *outer = current;
    fire_status_t  st;

    current = gate;
    saved   = PyEval_SaveThread();
    st      = call(arg);
    PyEval_RestoreThread(saved);
    current = outer;
    caffe_gate_leave(entered);
    return st;
}

void caffe_callback_begin(caffe_gate_t *gate, caffe_callback_t *s)
{
    s->gil  = PyGILState_Ensure();
    s->gate = caffe_gate_retain(root_of(gate));
    /* the callback may run in a thread of the library's */
    s->owner       = s->gate->owner;
    s->gate->owner = PyThread_get_thread_ident();
}

void caffe_callback_end(const caffe_callback_t *s)
{
    PyGILState_STATE gil = s->gil;

    s->gate->owner = s->owner;
    caffe_gate_release(s->gate);
    PyGILState_Release(gil);
}
