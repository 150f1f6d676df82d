/* trainer_run.c - methods of _Trainer that train, load, save, set and look. */
#include "trainer.h"

/* ---- training ---- */

typedef struct train_call {
    fire_trainer_t *trainer;
    long long       n;
    const char     *text;
    double          value;
    bool            found;
    fire_net_t     *net;
} train_call_t;

static fire_status_t run_step(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_step(c->trainer, c->n);
}

static fire_status_t run_solve(void *arg)
{
    return fire_trainer_solve(((train_call_t *)arg)->trainer);
}

static fire_status_t run_test(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_test(c->trainer, (int)c->n);
}

static fire_status_t run_gradients(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_gradients(c->trainer, &c->value);
}

static fire_status_t run_update(void *arg)
{
    return fire_trainer_update(((train_call_t *)arg)->trainer);
}

static fire_status_t run_snapshot(void *arg)
{
    return fire_trainer_snapshot(((train_call_t *)arg)->trainer);
}

static fire_status_t run_restore(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_restore(c->trainer, c->text);
}

static fire_status_t run_resume(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_resume(c->trainer, &c->found);
}

static fire_status_t run_load(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_load_weights(c->trainer, c->text);
}

static fire_status_t run_share(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_share(c->trainer, c->net);
}

static fire_status_t run_set(void *arg)
{
    train_call_t *c = arg;

    return fire_trainer_set(c->trainer, c->text);
}

/* Read the arguments of a method, then make the call. */
static PyObject *run(PyObject *self, caffe_call_t call, PyObject *args,
                     const char *format, void *into, train_call_t *c)
{
    trainer_object_t *t = trainer_open_of(self);

    if (t == NULL || (format != NULL && !PyArg_ParseTuple(args, format, into)))
        return NULL;
    c->trainer = t->trainer;
    return caffe_result(caffe_gate_call(t->gate, call, c));
}

PyObject *trainer_step(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_step, args, "L", &c.n, &c);
}

PyObject *trainer_solve(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_solve, args, NULL, NULL, &c);
}

PyObject *trainer_test(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_test, args, "L", &c.n, &c);
}

PyObject *trainer_gradients(PyObject *self, PyObject *args)
{
    train_call_t c    = {0};
    PyObject    *done = run(self, run_gradients, args, NULL, NULL, &c);

    if (done == NULL) return NULL;
    Py_DECREF(done);
    return PyFloat_FromDouble(c.value);
}

PyObject *trainer_update(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_update, args, NULL, NULL, &c);
}

PyObject *trainer_snapshot(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_snapshot, args, NULL, NULL, &c);
}

PyObject *trainer_restore(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_restore, args, "y", &c.text, &c);
}

PyObject *trainer_resume(PyObject *self, PyObject *args)
{
    train_call_t c    = {0};
    PyObject    *done = run(self, run_resume, args, NULL, NULL, &c);

    if (done == NULL) return NULL;
    Py_DECREF(done);
    return PyBool_FromLong(c.found);
}

PyObject *trainer_load(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_load, args, "y", &c.text, &c);
}

PyObject *trainer_share(PyObject *self, PyObject *net)
{
    trainer_object_t *t = trainer_open_of(self);
    caffe_gate_t     *theirs;
    train_call_t      c = {0};

    if (t == NULL) return NULL;
    c.net = caffe_net_of(net, &theirs);
    if (c.net == NULL) return NULL;
    caffe_gate_join(t->gate, theirs);
    return run(self, run_share, NULL, NULL, NULL, &c);
}

/* ---- settings ---- */

PyObject *trainer_set(PyObject *self, PyObject *args)
{
    train_call_t c = {0};

    return run(self, run_set, args, "s", &c.text, &c);
}

PyObject *trainer_number(PyObject *self, PyObject *args)
{
    trainer_object_t *t = trainer_open_of(self);
    const char       *name;
    double            value;
    fire_status_t     st;

    if (t == NULL || !PyArg_ParseTuple(args, "s", &name)) return NULL;
    st = fire_trainer_number(t->trainer, name, &value);
    return st < 0 ? caffe_raise(st) : PyFloat_FromDouble(value);
}

PyObject *trainer_text(PyObject *self, PyObject *args)
{
    trainer_object_t *t = trainer_open_of(self);
    const char       *text;
    fire_status_t     st;

    (void)args;
    if (t == NULL) return NULL;
    st = fire_trainer_text(t->trainer, &text);
    return st < 0 ? caffe_raise(st) : PyUnicode_FromString(text);
}

PyObject *trainer_set_rate(PyObject *self, PyObject *args)
{
    trainer_object_t *t = trainer_open_of(self);
    float             rate;

    if (t == NULL || !PyArg_ParseTuple(args, "f", &rate)) return NULL;
    return caffe_result(fire_trainer_set_rate(t->trainer, rate));
}

PyObject *trainer_set_iter(PyObject *self, PyObject *args)
{
    trainer_object_t *t = trainer_open_of(self);
    long long         iter;

    if (t == NULL || !PyArg_ParseTuple(args, "L", &iter)) return NULL;
    return caffe_result(fire_trainer_set_iter(t->trainer, iter));
}

/* _request(action): 0 go on, 1 snapshot, 2 stop */
PyObject *trainer_request(PyObject *self, PyObject *args)
{
    trainer_object_t *t = trainer_open_of(self);
    int               action;

    if (t == NULL || !PyArg_ParseTuple(args, "i", &action)) return NULL;
    fire_trainer_request(t->trainer, (fire_action_t)action);
    Py_RETURN_NONE;
}

/* _look() -> (type, iter, rate, loss, rank, size, lanes, batch, test nets, stopped) */
PyObject *trainer_look(PyObject *self, PyObject *args)
{
    trainer_object_t     *t = trainer_open_of(self);
    const fire_trainer_t *f;

    (void)args;
    if (t == NULL) return NULL;
    f = t->trainer;
    return Py_BuildValue(
        "(sLddiiiLiN)", fire_trainer_type(f), (long long)fire_trainer_iter(f),
        (double)fire_trainer_rate(f), fire_trainer_loss(f), fire_trainer_rank(f),
        fire_trainer_size(f), fire_trainer_lanes(f), (long long)fire_trainer_batch(f),
        fire_trainer_ntest(f), PyBool_FromLong(fire_trainer_stopped(f)));
}
