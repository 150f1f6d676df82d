/* dlpack.c - __dlpack__ of blobs on a GPU: their memory for PyTorch, CuPy and others.
 * Blobs on the CPU let numpy do it. */
#include "dlpack.h"

#include "module.h"

static const char unused[] = "dltensor"; /* its name changes when it is used */

/* From any thread, with or without the GIL. */
static void delete (dlpack_managed_t *m)
{
    PyGILState_STATE gil;

    if (!Py_IsInitialized()) return; /* the process ends */
    gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)m->context);
    PyMem_Free(m->tensor.shape);
    PyMem_Free(m);
    PyGILState_Release(gil);
}

static void capsule_destroy(PyObject *capsule)
{
    dlpack_managed_t *m;

    if (!PyCapsule_IsValid(capsule, unused)) return; /* somebody has taken it */
    m = PyCapsule_GetPointer(capsule, unused);
    m->deleter(m);
}

PyObject *caffe_dlpack(PyObject *view, const fire_view_t *values, int gpu)
{
    int               ndim    = fire_view_ndim(values);
    dlpack_managed_t *m       = PyMem_Calloc(1, sizeof(*m));
    int64_t          *shape   = PyMem_Calloc((size_t)ndim + 1, sizeof(*shape));
    PyObject         *capsule = NULL;

    if (m == NULL || shape == NULL)
        PyErr_NoMemory();
    else
        capsule = PyCapsule_New(m, unused, capsule_destroy);
    if (capsule == NULL) {
        PyMem_Free(shape);
        PyMem_Free(m);
        return NULL;
    }
    for (int i = 0; i < ndim; i++)
        shape[i] = fire_view_dims(values)[i];
    m->tensor  = (dlpack_tensor_t){.data        = fire_view_values(values),
                                   .device_type = DLPACK_CUDA,
                                   .device_id   = gpu,
                                   .ndim        = ndim,
                                   .dtype       = {DLPACK_FLOAT, 32, 1},
                                   .shape       = shape};
    m->context = view;
    m->deleter = delete;
    Py_INCREF(view);
    return capsule;
}
