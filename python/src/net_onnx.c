/* net_onnx.c - a net as an ONNX file, an ONNX file as a net. */
#include "net.h"

typedef struct onnx_call {
    fire_net_t *net;
    const char *path, *folder;
    fire_onnx_export_config_t export;
    fire_onnx_import_config_t import;
} onnx_call_t;

static fire_status_t run_export(void *arg)
{
    onnx_call_t *c = arg;

    return fire_onnx_export(c->net, c->path, &c->export);
}

/* _onnx(path, opset, batch, fold, custom_ops, with_transform, rgb, external) */
PyObject *net_onnx(PyObject *self, PyObject *args)
{
    net_object_t *n = net_open_of(self);
    onnx_call_t   c = {.export = FIRE_ONNX_EXPORT_CONFIG_INIT};
    int           fold, custom_ops, with_transform, rgb, external;

    if (n == NULL ||
        !PyArg_ParseTuple(args, "yiippppp", &c.path, &c.export.opset, &c.export.batch,
                          &fold, &custom_ops, &with_transform, &rgb, &external))
        return NULL;
    c.net                   = n->net;
    c.export.fold           = fold;
    c.export.custom_ops     = custom_ops;
    c.export.with_transform = with_transform;
    c.export.rgb            = rgb;
    c.export.external       = external;
    return caffe_result(caffe_gate_call(n->gate, run_export, &c));
}

/* _onnx_import(path, folder, batch, shapes): write net and weights to a folder */
PyObject *caffe_onnx_import(PyObject *module, PyObject *args)
{
    onnx_call_t    c = {.import = FIRE_ONNX_IMPORT_CONFIG_INIT};
    PyObject      *shapes;
    PyThreadState *saved;
    fire_status_t  st;

    (void)module;
    if (!PyArg_ParseTuple(args, "yyiO!", &c.path, &c.folder, &c.import.batch,
                          &PyTuple_Type, &shapes))
        return NULL;
    c.import.shape = caffe_read_names(shapes, &c.import.nshape);
    if (c.import.shape == NULL) return NULL;
    saved = PyEval_SaveThread();
    st    = fire_onnx_import(c.path, c.folder, &c.import);
    PyEval_RestoreThread(saved);
    PyMem_Free((void *)c.import.shape);
    return caffe_result(st);
}
