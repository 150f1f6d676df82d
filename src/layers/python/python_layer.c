/* python_layer.c - a layer written in Python, as pycaffe's: a class with setup, reshape,
 * forward and backward, named by python_param { module: ... layer: ... } */
#include "layers/python/python.h"

typedef struct python_layer {
    int id; /* of the object */
} python_layer_t;

static fire_status_t call(fire_layer_t *l, const char *method)
{
    return fire_python_call(FIRE_STATE(l, python_layer_t)->id, l, method);
}

static fire_status_t python_layer_setup(fire_layer_t *l)
{
    const Caffe__PythonParameter *p = l->param->python_param;

    if (p == NULL || p->module == NULL || p->layer == NULL)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "python_param { module: \"...\" layer: \"...\" } is missing or incomplete");
    FIRE_TRY(fire_python_create(l, &FIRE_STATE(l, python_layer_t)->id));
    return call(l, "setup");
}

static fire_status_t python_layer_reshape(fire_layer_t *l)
{
    return call(l, "reshape");
}

static fire_status_t python_layer_forward(fire_layer_t *l)
{
    return call(l, "forward");
}

static fire_status_t python_layer_backward(fire_layer_t *l)
{
    return call(l, "backward");
}

static void python_layer_teardown(fire_layer_t *l)
{
    fire_python_destroy(FIRE_STATE(l, python_layer_t)->id);
}

const fire_kernel_t fire_python_layer_ref = {
    .name     = "ref",
    .forward  = python_layer_forward,
    .backward = python_layer_backward,
};

static const fire_kernel_t *const python_layer_kernels[] = {&fire_python_layer_ref,
                                                            NULL};

const fire_layer_ops_t fire_layer_python_layer = {
    .type       = "Python",
    .bottoms    = {0, -1},
    .tops       = {0, -1},
    .flags      = FIRE_LAYER_HOST,
    .state_size = sizeof(python_layer_t),
    .setup      = python_layer_setup,
    .reshape    = python_layer_reshape,
    .teardown   = python_layer_teardown,
    .kernels    = python_layer_kernels,
};
