/* module.h - what the files of the extension `caffe._caffe` share.
 *
 * The extension is a thin layer over the public C API, against Python's stable ABI:
 * handles of nets, blobs and trainers with methods whose names begin with "_". All that
 * users see of them is written in Python above it (python/caffe). Functions are called
 * with the GIL held unless their comment says otherwise; those that return a PyObject *
 * or an int set an exception where they return NULL or -1. */
#ifndef CAFFE_MODULE_H
#define CAFFE_MODULE_H
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000 /* CPython 3.11 and later */
#include <Python.h>

#include <fire/fire.h>

/* ---- errors (error.c) ---- */

/* Raise what a failed call of the library means: an exception of a callback or Python
 * layer that ended it, else caffe.Error or a subclass with the library's message.
 * Returns NULL. */
PyObject *caffe_raise(fire_status_t status);
/* None, or caffe_raise() if the status is a failure. */
PyObject *caffe_result(fire_status_t status);
/* Keep the exception that is set until the call of the library that is under way in
 * this thread has returned; caffe_raise() raises it then. If one is kept already, drop
 * the new one. Returns the status that ends the call. */
fire_status_t caffe_keep_exception(void);
/* Raise the exception that is kept, if any: -1, else 0. */
int caffe_raise_kept(void);
/* The function (status, message) -> exception, which Python sets at import. */
PyObject *caffe_set_error_maker(PyObject *module, PyObject *maker);

/* In a callback: the exception that is set ends the call of the library; its text is
 * for other workers, which do not get the exception itself (host.c). */
fire_status_t caffe_fail(void);

/* ---- gates (gate.c) ----
 *
 * Nets run without the GIL, so other Python threads go on. A gate lets one thread at a
 * time use a net, its blobs and those of nets that share its parameters. The thread
 * inside may enter again (from a callback). */
typedef struct caffe_gate caffe_gate_t;
typedef struct caffe_view caffe_view_t;

caffe_gate_t *caffe_gate_create(void); /* NULL: MemoryError is set */
caffe_gate_t *caffe_gate_retain(caffe_gate_t *gate);
void          caffe_gate_release(caffe_gate_t *gate); /* NULL is allowed */
/* Wait until no other thread is inside; returns what to pass to leave(). */
caffe_gate_t *caffe_gate_enter(caffe_gate_t *gate);
void          caffe_gate_leave(caffe_gate_t *entered);
/* From now on both are one. Nobody may be inside of either. */
void caffe_gate_join(caffe_gate_t *gate, caffe_gate_t *other);
/* The GPU on which nets of this gate compute; -1: the CPU. */
void caffe_gate_set_gpu(caffe_gate_t *gate, int gpu);
int  caffe_gate_gpu(const caffe_gate_t *gate);
/* The gate of the net that this thread runs or creates; NULL: none. */
caffe_gate_t *caffe_gate_current(void);

/* Call of the library for the net of this gate, without the GIL. */
typedef fire_status_t (*caffe_call_t)(void *arg);
fire_status_t caffe_gate_call(caffe_gate_t *gate, caffe_call_t call, void *arg);

/* A callback begins in this thread, which may not be the one that entered: let it use
 * the net, and give arrays the values of now. end() takes over what was written. */
typedef struct caffe_callback {
    PyGILState_STATE gil;
    caffe_gate_t    *gate;
    unsigned long    owner;
} caffe_callback_t;

void caffe_callback_begin(caffe_gate_t *gate, caffe_callback_t *state_p);
void caffe_callback_end(const caffe_callback_t *state);

/* ---- blobs (blob.c, view.c) ---- */

/* A new Blob object, which retains the blob and its gate. */
PyObject *caffe_blob_create(fire_blob_t *blob, caffe_gate_t *gate);
/* A buffer over one part of a blob in one place: a caffe_view_t as an object. Only those
 * on the CPU can be read as buffers. */
PyObject *caffe_view_create(fire_blob_t *blob, fire_part_t part, fire_place_t where,
                            caffe_gate_t *gate);
const fire_view_t *caffe_view_values(const caffe_view_t *view);
/* A capsule of DLPack's, which keeps the view on this GPU (dlpack.c). */
PyObject *caffe_dlpack(PyObject *view, const fire_view_t *values, int gpu);
/* Values to all arrays of a gate's blobs, and from them; -1 if one fails. */
int caffe_views_refresh(caffe_gate_t *gate);
int caffe_views_absorb(caffe_gate_t *gate);

/* Read a sequence of lengths; -1: an exception is set. */
int caffe_read_dims(PyObject *dims, int *ndim_p, int64_t dim[FIRE_MAX_DIMS]);

/* First link of the views of a gate's blobs. */
caffe_view_t **caffe_gate_views(caffe_gate_t *gate);

/* ---- nets (net.c) ---- */

/* The net of a Net object, and its gate; NULL: TypeError or ValueError is set. */
fire_net_t *caffe_net_of(PyObject *object, caffe_gate_t **gate_p);

/* Function of the module (net_onnx.c). */
PyObject *caffe_onnx_import(PyObject *module, PyObject *args);

/* ---- trainers and communicators (trainer.c, comm.c) ---- */

/* As caffe_net_of(). */
fire_trainer_t *caffe_trainer_of(PyObject *object, caffe_gate_t **gate_p);
fire_comm_t    *caffe_comm_of(PyObject *object);
/* Functions of the module. */
PyObject *caffe_join_job(PyObject *module, PyObject *args);
PyObject *caffe_run_threads(PyObject *module, PyObject *args);

/* ---- Python layers (host.c) ---- */

/* For the configs of nets and trainers. */
extern const fire_python_host_t caffe_host;
/* The user's object of a layer; None: it is not a Python layer. */
PyObject *caffe_host_object(const fire_net_t *net, int layer);
/* Functions of the module: caffe_set_layer_maker(function) sets what makes an object and
 * its lists of blobs, caffe_add_param(*dims) adds a parameter to the layer whose setup()
 * runs. */
PyObject *caffe_set_layer_maker(PyObject *module, PyObject *function);
PyObject *caffe_add_param(PyObject *module, PyObject *dims);
/* The layer whose setup, reshape or forward runs in this thread, or NULL. */
const fire_layer_t *caffe_running_layer(void);
/* Function of the module (source.c). */
PyObject *caffe_samples(PyObject *module, PyObject *args);

/* ---- types and their registration ---- */

/* Each adds its type to the module: 0, or -1 with an exception. */
int caffe_add_view(PyObject *module);
int caffe_add_blob(PyObject *module);
int caffe_add_net(PyObject *module);
int caffe_add_trainer(PyObject *module);
int caffe_add_comm(PyObject *module);
int caffe_add_source(PyObject *module);

/* Make a type of a spec and add it to the module under its name. */
int caffe_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type_p);
/* Free an object of a type made from a spec. */
void caffe_free(PyObject *object);

/* The strings of a tuple of bytes, which keeps them; free the array by PyMem_Free().
 * NULL: an exception is set. */
const char **caffe_read_names(PyObject *names, int *n_p);

/* ---- log (log.c) ---- */

/* Messages of this level (glog's: 0 info, 1 warning, 2 error) and above go to stderr. */
PyObject *caffe_set_log_level(PyObject *module, PyObject *level);
/* Log a message of the user's. */
PyObject *caffe_log(PyObject *module, PyObject *text);
#endif
