/* trainer_events.c - callbacks of a training run, interrupts by the user, the record of
 * what has happened. */
#include <time.h>

#include "trainer.h"

/* An exception of a callback, or an interrupt, is raised when step() returns. The
 * iteration is completed first, so that the trainer can go on afterwards. */
static void stop(trainer_object_t *t)
{
    caffe_keep_exception();
    fire_trainer_request(t->trainer, FIRE_STOP);
}

static void call_back(trainer_object_t *t, const char *method)
{
    caffe_callback_t state;
    PyObject        *result = NULL;

    caffe_callback_begin(t->gate, &state);
    if (caffe_views_refresh(t->gate) == 0)
        result = PyObject_CallMethod((PyObject *)t, method, NULL);
    else
        caffe_raise(FIRE_ERR_INVALID);
    if (result == NULL)
        stop(t);
    else
        caffe_views_absorb(t->gate);
    Py_XDECREF(result);
    caffe_callback_end(&state);
}

static fire_status_t on_start(void *arg)
{
    call_back(arg, "_on_start");
    return FIRE_OK;
}

static fire_status_t on_gradients_ready(void *arg)
{
    call_back(arg, "_on_gradients_ready");
    return FIRE_OK;
}

static PyObject *event_dict(const fire_train_event_t *e)
{
    static const char *const kinds[] = {"start", "iteration", "display",
                                        "test",  "snapshot",  "done"};
    PyObject                *outputs = PyList_New(0), *dict;

    for (int i = 0; outputs != NULL && i < e->noutput; i++) {
        PyObject *pair = Py_BuildValue("(sd)", e->output[i].name, e->output[i].value);

        if (pair == NULL || PyList_Append(outputs, pair) < 0) Py_CLEAR(outputs);
        Py_XDECREF(pair);
    }
    if (outputs == NULL) return NULL;
    dict =
        Py_BuildValue("{ss sL sL sd sd sd sN si sz sd}", "kind", kinds[e->kind], "iter",
                      (long long)e->iter, "max_iter", (long long)e->max_iter, "loss",
                      e->loss, "lr", e->lr, "seconds", e->seconds, "outputs", outputs,
                      "test_net", e->test_net, "name", e->name, "value", e->value);
    return dict;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Another thread that computes in Python gives the GIL away every 5 ms, so asking for
 * it in every iteration would cost time: look at signals some times a second. */
static bool is_time_for_signals(trainer_object_t *t)
{
    double time = now();

    if (time - t->looked < 0.1) return false;
    t->looked = time;
    return true;
}

static void on_event(void *arg, const fire_train_event_t *e)
{
    trainer_object_t *t      = arg;
    bool              wanted = t->wants >> e->kind & 1;
    caffe_callback_t  state;
    PyObject         *event, *result = NULL;

    if (t->record != NULL) fire_recorder_event(t->record, e);
    if (!wanted && !is_time_for_signals(t)) return;
    caffe_callback_begin(t->gate, &state);
    if (PyErr_CheckSignals() < 0) {
        stop(t);
    } else if (wanted) {
        event = event_dict(e);
        if (event != NULL)
            result = PyObject_CallMethod((PyObject *)t, "_on_event", "N", event);
        if (result == NULL) stop(t);
        Py_XDECREF(result);
    }
    caffe_callback_end(&state);
}

/* _watch(on_start, on_gradients_ready, events): which callbacks there are */
PyObject *trainer_watch(PyObject *self, PyObject *args)
{
    trainer_object_t    *t     = trainer_open_of(self);
    fire_trainer_hooks_t hooks = FIRE_TRAINER_HOOKS_INIT;
    int                  start, ready;

    if (t == NULL || !PyArg_ParseTuple(args, "ppi", &start, &ready, &t->wants))
        return NULL;
    hooks.arg   = t;
    hooks.start = start || t->wants ? on_start : NULL; /* who listens may look */
    hooks.gradients_ready = ready ? on_gradients_ready : NULL;
    hooks.event           = on_event;
    return caffe_result(fire_trainer_set_hooks(t->trainer, &hooks));
}

typedef struct plot_call {
    fire_recorder_t *record;
    const char      *path;
} plot_call_t;

static fire_status_t run_plot(void *arg)
{
    plot_call_t *c = arg;

    return fire_recorder_page(c->record, c->path);
}

/* _plot(path): the page of what has happened so far */
PyObject *trainer_plot(PyObject *self, PyObject *args)
{
    trainer_object_t *t = trainer_open_of(self);
    plot_call_t       c;

    if (t == NULL || !PyArg_ParseTuple(args, "y", &c.path)) return NULL;
    c.record = t->record;
    if (c.record == NULL) {
        PyErr_SetString(PyExc_ValueError, "the worker of rank 0 has the curves");
        return NULL;
    }
    return caffe_result(caffe_gate_call(t->gate, run_plot, &c));
}
