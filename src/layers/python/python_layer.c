/* python_layer.c - a layer written in Python, as pycaffe's: a class with setup, reshape,
 * forward and backward, named by python_param { module: ... layer: ... } */
#include <fire/python.h>

#include "layers/python/python.h"

extern const fire_layer_ops_t fire_layer_python_layer;

typedef struct python_layer {
    int   id;     /* of the object in the library's own interpreter, or 0 */
    void *object; /* of the net's host, or NULL */
} python_layer_t;

/* ---- with a host ---- */

static fire_status_t check_host(const fire_python_host_t *host)
{
    if (host->size >= sizeof(*host)) return FIRE_OK;
    return FIRE_FAIL(FIRE_ERR_INVALID,
                     "the Python host of the net has size %zu, not %zu: set it to "
                     "sizeof(fire_python_host_t)",
                     host->size, sizeof(*host));
}

static fire_status_t create_by_host(fire_layer_t *l, const Caffe__PythonParameter *p)
{
    const fire_python_host_t *host = l->ctx->python;

    FIRE_TRY(check_host(host));
    return host->create(host->arg, l, p->module, p->layer, p->param_str,
                        &FIRE_STATE(l, python_layer_t)->object);
}

typedef fire_status_t (*method_t)(void *arg, void *object, fire_layer_t *l);

/* Call a method of the object, by the host's function or, without a host, by name. */
static fire_status_t call(fire_layer_t *l, method_t method, const char *name)
{
    const python_layer_t *s = l->state;

    if (l->ctx->python == NULL) return fire_python_call(s->id, l, name);
    return method(l->ctx->python->arg, s->object, l);
}

#define CALL(l, name) \
    call((l), (l)->ctx->python != NULL ? (l)->ctx->python->name : NULL, #name)

void *fire_python_object(const fire_layer_t *l)
{
    if (l->ops != &fire_layer_python_layer) return NULL;
    return FIRE_STATE(l, python_layer_t)->object;
}

fire_status_t fire_python_add_param(fire_layer_t *l, int ndim, const int64_t *dim)
{
    return fire_layer_add_blob(l, ndim, dim, NULL);
}

/* ---- the layer ---- */

static fire_status_t python_layer_setup(fire_layer_t *l)
{
    const Caffe__PythonParameter *p = l->param->python_param;

    if (p == NULL || p->module == NULL || p->layer == NULL)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "python_param { module: \"...\" layer: \"...\" } is missing or incomplete");
    FIRE_TRY(l->ctx->python != NULL
                 ? create_by_host(l, p)
                 : fire_python_create(l, &FIRE_STATE(l, python_layer_t)->id));
    return CALL(l, setup);
}

static fire_status_t python_layer_reshape(fire_layer_t *l)
{
    return CALL(l, reshape);
}

static fire_status_t python_layer_forward(fire_layer_t *l)
{
    return CALL(l, forward);
}

static fire_status_t python_layer_backward(fire_layer_t *l)
{
    return CALL(l, backward);
}

static void python_layer_teardown(fire_layer_t *l)
{
    python_layer_t *s = l->state;

    if (s->object != NULL) l->ctx->python->destroy(l->ctx->python->arg, s->object);
    fire_python_destroy(s->id);
}

const fire_kernel_t fire_python_layer_ref = {
    .name     = "ref",
    .forward  = python_layer_forward,
    .backward = python_layer_backward,
};

static const fire_kernel_t *const python_layer_kernels[] = {&fire_python_layer_ref,
                                                            NULL};

const fire_layer_ops_t fire_layer_python_layer = {
    .type    = "Python",
    .bottoms = {0, -1},
    .tops    = {0, -1},
    .flags = FIRE_LAYER_HOST | FIRE_LAYER_DYNAMIC, /* Caffe reshapes before each pass */
    .state_size = sizeof(python_layer_t),
    .setup      = python_layer_setup,
    .reshape    = python_layer_reshape,
    .teardown   = python_layer_teardown,
    .kernels    = python_layer_kernels,
};
