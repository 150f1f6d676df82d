/* python.c - the interpreter that runs Python layers. libpython is opened when the
 * first such layer is created, and nothing of Python's headers is used: the same
 * program runs without Python and with any version of it.
 *
 * The Python half is python_host.py, which is part of the program. The halves share a
 * table of functions: C fills in what Python may call and passes the table's address,
 * Python fills in the rest through ctypes. ctypes acquires the GIL whenever C calls
 * Python and releases it whenever Python calls C. */
#include "layers/python/python.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char fire_python_host[]; /* python_host.py; cmake/library.cmake makes it */

/* ---- what Python calls ---- */

enum { BOTTOM, TOP, PARAMETER };

static int blobs_of(const fire_layer_t *l, int which, fire_blob_t ***list_p)
{
    *list_p = which == BOTTOM ? l->bottom : which == TOP ? l->top : l->blob;
    return which == BOTTOM ? l->nbottom : which == TOP ? l->ntop : l->nblob;
}

static int count_blobs(const fire_layer_t *l, int which)
{
    fire_blob_t **list;

    return blobs_of(l, which, &list);
}

static fire_blob_t *find_blob(const fire_layer_t *l, int which, int i)
{
    fire_blob_t **list;

    return i >= 0 && i < blobs_of(l, which, &list) ? list[i] : NULL;
}

static int shape_of(const fire_blob_t *blob, int64_t dim[FIRE_MAX_DIMS])
{
    memcpy(dim, blob->dim, (size_t)blob->ndim * sizeof(*dim));
    return blob->ndim;
}

static float *elements_of(fire_blob_t *blob, int part)
{
    float *x;

    if (fire_blob_update(blob, part == 0 ? FIRE_DATA : FIRE_DIFF, FIRE_CPU, &x) < 0)
        return NULL;
    return x;
}

static int reshape(fire_blob_t *blob, int ndim, const int64_t *dim)
{
    return fire_blob_reshape(blob, ndim, dim);
}

static int add_blob(fire_layer_t *l, int ndim, const int64_t *dim)
{
    return fire_layer_add_blob(l, ndim, dim, NULL);
}

/* An exception becomes a status. */
static int fail(const char *text)
{
    return FIRE_FAIL(FIRE_ERR_INVALID, "Python: %s", text);
}

/* Class Table of python_host.py is the same in Python. */
static struct table {
    int (*count_blobs)(const fire_layer_t *l, int which);
    fire_blob_t *(*find_blob)(const fire_layer_t *l, int which, int i);
    int (*shape_of)(const fire_blob_t *blob, int64_t *dim);
    float *(*elements_of)(fire_blob_t *blob, int part); /* NULL: last_error */
    int (*reshape)(fire_blob_t *blob, int ndim, const int64_t *dim);
    int (*add_blob)(fire_layer_t *l, int ndim, const int64_t *dim);
    const char *(*last_error)(void);
    int (*fail)(const char *text);
    /* Filled in by Python; the first two return a negative status after fail(). */
    int (*create)(fire_layer_t *l, const char *module, const char *name,
                  const char *param_str, int phase);
    int (*run)(int id, fire_layer_t *l, const char *method, const bool *propagate_down);
    void (*destroy)(int id);
} table = {
    /* its last three are set once, by start() */
    count_blobs, find_blob, shape_of,        elements_of,
    reshape,     add_blob,  fire_last_error, fail,
};

/* ---- the interpreter ---- */

enum { FILE_INPUT = 257 }; /* Py_file_input: source of several statements */

static struct python {
    int (*Py_IsInitialized)(void);
    void (*Py_InitializeEx)(int with_signals);
    void *(*PyEval_SaveThread)(void);
    int (*PyGILState_Ensure)(void);
    void (*PyGILState_Release)(int state);
    void *(*PyImport_AddModule)(const char *name);
    void *(*PyModule_GetDict)(void *module);
    void *(*PyRun_String)(const char *source, int start, void *globals, void *locals);
    void (*PyErr_Clear)(void);
} py;

static bool find_functions(void *lib)
{
    static const struct {
        const char *name;
        void       *call_p;
    } list[] = {
#define CALL(name) {#name, &py.name}
        CALL(Py_IsInitialized),  CALL(Py_InitializeEx),    CALL(PyEval_SaveThread),
        CALL(PyGILState_Ensure), CALL(PyGILState_Release), CALL(PyImport_AddModule),
        CALL(PyModule_GetDict),  CALL(PyRun_String),       CALL(PyErr_Clear),
#undef CALL
    };

    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        void *call = dlsym(lib, list[i].name);

        if (call == NULL) return false;
        memcpy(list[i].call_p, &call, sizeof(call));
    }
    return true;
}

/* The libpython that the process has loaded already, the one that the user names, or
 * the newest. It is never closed, and its symbols are global, because modules such as
 * numpy's expect to find them. */
static bool open_python(void)
{
    const char *named = getenv("FIRE_PYTHON");
    void       *lib   = dlopen(NULL, RTLD_NOW);

    if (lib != NULL && find_functions(lib)) return true;
    lib = NULL;
    if (named != NULL) {
        lib = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
    } else {
        for (int minor = 30; lib == NULL && minor >= 8; minor--) {
            char name[32];

            snprintf(name, sizeof(name), "libpython3.%d.so.1.0", minor);
            lib = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
        }
    }
    return lib != NULL && find_functions(lib);
}

static void start(void)
{
    char  address[64];
    void *names;
    int   gil;

    if (!open_python()) return;
    /* In a Python program that has loaded us, the interpreter runs already. */
    if (!py.Py_IsInitialized()) {
        py.Py_InitializeEx(0); /* 0: install no signal handlers */
        py.PyEval_SaveThread();
    }
    snprintf(address, sizeof(address), "address = %llu",
             (unsigned long long)(uintptr_t)&table);
    gil   = py.PyGILState_Ensure();
    names = py.PyModule_GetDict(py.PyImport_AddModule("_fire_host"));
    if (py.PyRun_String(address, FILE_INPUT, names, names) == NULL ||
        py.PyRun_String(fire_python_host, FILE_INPUT, names, names) == NULL)
        py.PyErr_Clear();
    py.PyGILState_Release(gil);
}

bool fire_python_is_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
    return table.destroy != NULL;
}

fire_status_t fire_python_create(fire_layer_t *l, int *id_p)
{
    const Caffe__PythonParameter *p = l->param->python_param;
    int                           id;

    if (!fire_python_is_here())
        return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                         "there is no Python here: install its library (Debian: "
                         "libpython3-dev), or name the file in FIRE_PYTHON");
    id = table.create(l, p->module, p->layer, p->param_str, (int)l->phase);
    if (id < 0) return (fire_status_t)id;
    *id_p = id;
    return FIRE_OK;
}

void fire_python_destroy(int id)
{
    if (id > 0) table.destroy(id);
}

fire_status_t fire_python_call(int id, fire_layer_t *l, const char *method)
{
    return (fire_status_t)table.run(id, l, method, l->propagate_down);
}
