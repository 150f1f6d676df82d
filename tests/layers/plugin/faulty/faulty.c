/* faulty.c - plug-ins with one fault each, which FAULT_... chooses. Without any it is a
 * correct one, with a type "Twice". */
#include <fire/layer.h>

static fire_status_t setup(fire_layer_t *l)
{
    double        factor;
    fire_status_t st = fire_values_number(fire_layer_values(l), "factor", 2, &factor);

    if (st < 0) return st;
#ifdef FAULT_SETUP
    return fire_fail(FIRE_ERR_INVALID, "factor %g does not suit a layer \"%s\"", factor,
                     fire_layer_name(l));
#elif defined(FAULT_SILENT)
    return FIRE_ERR_IO;
#elif defined(FAULT_STATUS)
    return (fire_status_t)7;
#else
    return FIRE_OK;
#endif
}

static fire_status_t forward(fire_layer_t *l)
{
    fire_blob_t *bottom = fire_layer_bottom(l, 0), *top = fire_layer_top(l, 0);
    const float *x;
    float       *y;

    if (fire_blob_read(bottom, FIRE_DATA, FIRE_CPU, &x) < 0) return FIRE_ERR_NOMEM;
    if (fire_blob_write(top, FIRE_DATA, FIRE_CPU, &y) < 0) return FIRE_ERR_NOMEM;
    for (int64_t i = 0; i < fire_blob_count(bottom); i++)
        y[i] = 2 * x[i];
#ifdef FAULT_UNDEFINED
    extern void fire_of_a_later_version(void);
    fire_of_a_later_version();
#endif
    return FIRE_OK;
}

static const fire_plugin_kernel_t ref = {
#ifdef FAULT_KERNEL_SIZE
    .size = 0,
#else
    .size = sizeof(ref),
#endif
#ifndef FAULT_KERNEL_NAME
    .name = "ref",
#endif
#ifdef FAULT_NO_CPU
    .where = FIRE_GPU,
#endif
#ifdef FAULT_READS
    .reads = 1 << 20,
#endif
#ifndef FAULT_NO_FORWARD
    .forward = forward,
#endif
};

static const fire_plugin_kernel_t *const kernels[] = {
    &ref,
#ifdef FAULT_SAME_KERNEL
    &ref,
#endif
    NULL,
};

/* A record of a later version, with one member more. */
typedef struct later {
    fire_plugin_layer_t now;
    int                 more;
} later_t;

static const later_t twice = {
    .now =
        {
            .size = sizeof(later_t),
#ifdef FAULT_TAKEN
            .type = "ReLU",
#elif defined(FAULT_TYPE)
            .type = "Twice as much",
#else
            .type = "Twice",
#endif
            .min_bottom = 1,
#ifdef FAULT_ARITY
            .max_bottom = 0,
#else
            .max_bottom = 1,
#endif
            .min_top = 1,
            .max_top = 1,
#ifdef FAULT_FLAGS
            .flags = 1u << 30,
#endif
            .setup = setup,
#ifndef FAULT_NO_RESHAPE
            .reshape = fire_layer_reshape_same,
#endif
            .kernels = kernels,
        },
#ifdef FAULT_LATER
    .more = 1,
#endif
};

static const fire_plugin_layer_t *const layers[] = {
#ifndef FAULT_NO_LAYERS
    &twice.now,
#endif
#ifdef FAULT_SAME_TYPE
    &twice.now,
#endif
    NULL,
};

#ifdef FAULT_NO_ENTRY
extern const fire_plugin_t another_name;
const fire_plugin_t        another_name = {
#else
const fire_plugin_t fire_plugin = {
#endif
#ifdef FAULT_VERSION
    .version = FIRE_PLUGIN_VERSION + 1,
#else
    .version = FIRE_PLUGIN_VERSION,
#endif
    .size = sizeof(fire_plugin_t),
#ifndef FAULT_NO_NAME
    .name = "faulty",
#endif
    .layers = layers,
};
