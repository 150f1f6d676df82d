/* trainer_events.c - callbacks of a training run, and interrupts by the user. */
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
    hooks.arg             = t;
    hooks.start           = start ? on_start : NULL;
    hooks.gradients_ready = ready ? on_gradients_ready : NULL;
    hooks.event           = on_event;
    return caffe_result(fire_trainer_set_hooks(t->trainer, &hooks));
}
