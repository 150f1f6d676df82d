/* filled.h - models with weights and images that show a mistake. */
#ifndef FIRE_TESTS_ONNX_FILLED_H
#define FIRE_TESTS_ONNX_FILLED_H
#include "net/net_state.h"
#include "test.h"

/* Values that a filler does not give: statistics of BatchNorm, weights that neither
 * vanish nor grow from layer to layer. */
static inline void fill_params(fire_net_t *net)
{
    for (int i = 0; i < net->nparam; i++) {
        const fire_param_t *p   = &net->learn[i];
        fire_rng_key_t      key = fire_rng_key(11, FIRE_RNG_TEST, (uint64_t)i, 0);
        int64_t             n   = p->blob->count;
        double              fan = p->blob->ndim > 1 ? (double)(n / p->blob->dim[0]) : 0;
        float              *x;

        CHECK_OK(fire_blob_write(p->blob, FIRE_DATA, FIRE_CPU, &x));
        for (int64_t k = 0; k < n; k++) {
            double u = (double)fire_rng_uniform(key, (uint64_t)k);

            x[k] =
                (float)(p->kind == FIRE_PARAM_STATISTIC ? (p->index == 0 ? 0.2 * u - 0.1
                                                           : p->index == 1 ? 0.5 + u
                                                                           : 1.0)
                        : fan > 0                       ? (2 * u - 1) * sqrt(6 / fan)
                        : strcmp(net->layer[p->layer].base.ops->type, "Scale") == 0 &&
                                p->index == 0
                            ? 0.5 + u
                            : 0.2 * u - 0.1);
        }
    }
}

static inline void fill_images(fire_net_t *net)
{
    fire_blob_t *b = net->layer[0].base.top[0];
    float       *x;

    CHECK_OK(fire_blob_write(b, FIRE_DATA, FIRE_CPU, &x));
    for (int64_t k = 0; k < b->count; k++)
        x[k] =
            2 * fire_rng_uniform(fire_rng_key(12, FIRE_RNG_TEST, 0, 0), (uint64_t)k) -
            1;
}

/* The first dimension of every input, from now on. */
static inline void set_batch(fire_net_t *net, int64_t n)
{
    for (int i = 0; i < net->nlayer; i++)
        for (int t = 0; t < net->layer[i].base.ntop &&
                        strcmp(net->layer[i].base.ops->type, "Input") == 0;
             t++) {
            fire_blob_t *b = net->layer[i].base.top[t];
            int64_t      dim[FIRE_MAX_DIMS];

            memcpy(dim, fire_blob_dims(b), sizeof(dim));
            dim[0] = n;
            CHECK_OK(fire_blob_reshape(b, fire_blob_ndim(b), dim));
        }
    CHECK_OK(fire_net_reshape(net));
}

#endif
