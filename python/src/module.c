/* module.c - the module caffe._caffe: its types and functions. Python (python/caffe) adds
 * the classes above them. */
#include "module.h"

void caffe_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    freefunc      free = (freefunc)PyType_GetSlot(type, Py_tp_free);

    free(object);
    Py_DECREF(type); /* instances of such types hold their type */
}

int caffe_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type_p)
{
    PyObject *type = PyType_FromSpec(spec);

    if (type == NULL) return -1;
    *type_p = (PyTypeObject *)type;
    return PyModule_AddType(module, *type_p);
}

const char **caffe_read_names(PyObject *names, int *n_p)
{
    Py_ssize_t   n    = PyTuple_Size(names);
    const char **list = n >= 0 ? PyMem_Calloc((size_t)n + 1, sizeof(*list)) : NULL;

    if (list == NULL) {
        if (n >= 0) PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        list[i] = PyBytes_AsString(PyTuple_GetItem(names, i));
        if (list[i] == NULL) {
            PyMem_Free(list);
            return NULL;
        }
    }
    *n_p = (int)n;
    return list;
}

static PyObject *layer_type_list(PyObject *module, PyObject *args)
{
    PyObject   *list = PyList_New(0);
    const char *type;

    (void)module;
    (void)args;
    for (int i = 0; list != NULL && (type = fire_layer_type_at(i)) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(type);

        if (name == NULL || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    if (list != NULL && PyList_Sort(list) < 0) Py_CLEAR(list);
    return list;
}

static PyMethodDef functions[] = {
    {"_set_error_maker", caffe_set_error_maker, METH_O, NULL},
    {"_set_layer_maker", caffe_set_layer_maker, METH_O, NULL},
    {"_add_param", caffe_add_param, METH_VARARGS, NULL},
    {"_samples", caffe_samples, METH_VARARGS, NULL},
    {"layer_type_list", layer_type_list, METH_NOARGS,
     "layer_type_list()\n--\n\nThe types that layers of nets may have."},
    {"_set_log_level", caffe_set_log_level, METH_O, NULL},
    {"_join_job", caffe_join_job, METH_NOARGS, NULL},
    {"_run_threads", caffe_run_threads, METH_VARARGS, NULL},
    {"_onnx_import", caffe_onnx_import, METH_VARARGS, NULL},
    {"log", caffe_log, METH_O, "log(s)\n--\n\nWrite a line to the log."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name    = "caffe._caffe",
    .m_doc     = "The engine, and the names that pycaffe has in its extension.",
    .m_size    = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC PyInit__caffe(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module == NULL) return NULL;
    if (caffe_add_view(module) < 0 || caffe_add_blob(module) < 0 ||
        caffe_add_net(module) < 0 || caffe_add_trainer(module) < 0 ||
        caffe_add_comm(module) < 0 || caffe_add_source(module) < 0 ||
        PyModule_AddStringConstant(module, "_version", fire_version()) < 0)
        Py_CLEAR(module);
    return module;
}
