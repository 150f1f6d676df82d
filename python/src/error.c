/* error.c - from a status of the library to an exception of Python, and back. */
#include "module.h"

static PyObject *error_maker; /* set at import, kept for the whole process */

/* The exception of a callback which has ended a call of the library in this thread. */
static _Thread_local struct {
    PyObject *type, *value, *trace;
} kept;

PyObject *caffe_set_error_maker(PyObject *module, PyObject *maker)
{
    (void)module;
    Py_INCREF(maker);
    Py_XDECREF(error_maker);
    error_maker = maker;
    Py_RETURN_NONE;
}

fire_status_t caffe_keep_exception(void)
{
    if (kept.type != NULL)
        PyErr_Clear();
    else
        PyErr_Fetch(&kept.type, &kept.value, &kept.trace);
    return FIRE_ERR_STOPPED;
}

int caffe_raise_kept(void)
{
    if (kept.type == NULL) return 0;
    PyErr_Restore(kept.type, kept.value, kept.trace);
    kept.type = kept.value = kept.trace = NULL;
    return -1;
}

PyObject *caffe_raise(fire_status_t status)
{
    const char *text = fire_last_error();
    PyObject   *error;

    if (caffe_raise_kept() < 0) return NULL;
    if (error_maker == NULL) {
        PyErr_SetString(PyExc_RuntimeError, text);
        return NULL;
    }
    error = PyObject_CallFunction(error_maker, "is", (int)status, text);
    if (error == NULL) return NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
    return NULL;
}

PyObject *caffe_result(fire_status_t status)
{
    if (status < 0) return caffe_raise(status);
    if (caffe_raise_kept() < 0) return NULL;
    Py_RETURN_NONE;
}
