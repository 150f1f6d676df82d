/* python_layer.c - a layer written in Python, as pycaffe's: a class with setup, reshape,
 * forward and backward, named by python_param { module: ... layer: ... } */
#include "layers/common/python.h"

#ifdef FIRE_HAVE_PYTHON
typedef struct python_layer {
    fire_python_t *python;
} python_layer_t;

static fire_status_t python_layer_setup(fire_layer_t *l)
{
    const Caffe__PythonParameter *p = l->param->python_param;
    python_layer_t               *s = l->state;

    if (p == NULL || p->module == NULL || p->layer == NULL)
        return FIRE_FAIL(
            FIRE_ERR_INVALID,
            "python_param { module: \"...\" layer: \"...\" } is missing or incomplete");
    FIRE_TRY(fire_python_create(l, &s->python));
    return fire_python_call(s->python, l, "setup");
}

static fire_status_t python_layer_reshape(fire_layer_t *l)
{
    return fire_python_call(FIRE_STATE(l, python_layer_t)->python, l, "reshape");
}

static fire_status_t python_layer_forward(fire_layer_t *l)
{
    return fire_python_call(FIRE_STATE(l, python_layer_t)->python, l, "forward");
}

static fire_status_t python_layer_backward(fire_layer_t *l)
{
    return fire_python_call(FIRE_STATE(l, python_layer_t)->python, l, "backward");
}

static void python_layer_teardown(fire_layer_t *l)
{
    fire_python_destroy(FIRE_STATE(l, python_layer_t)->python);
}

static const fire_kernel_t python_layer_kernels[] = {
    {.name = "ref", .forward = python_layer_forward, .backward = python_layer_backward},
    {0},
};

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
#else
static fire_status_t python_layer_refuse(fire_layer_t *l)
{
    (void)l;
    return FIRE_FAIL(FIRE_ERR_UNSUPPORTED,
                     "this build has no Python; install python3-dev and build with "
                     "-DFIRE_WITH_PYTHON=ON");
}

static const fire_kernel_t python_layer_kernels[] = {{0}};

const fire_layer_ops_t fire_layer_python_layer = {
    .type    = "Python",
    .bottoms = {0, -1},
    .tops    = {0, -1},
    .flags   = FIRE_LAYER_HOST,
    .setup   = python_layer_refuse,
    .reshape = python_layer_refuse,
    .kernels = python_layer_kernels,
};
#endif
