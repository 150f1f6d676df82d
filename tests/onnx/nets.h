/* nets.h - a net from its text, for tests of the exporter and the importer. */
#ifndef FIRE_TESTS_ONNX_NETS_H
#define FIRE_TESTS_ONNX_NETS_H
#include "onnx/onnx.h"
#include "test.h"

static inline fire_net_t *net_of(const char *text)
{
    fire_net_t *net;

    CHECK_OK(fire_net_from_text(text, strlen(text), NULL, &net));
    return net;
}

#define INPUT(shape) \
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { " shape " } } } "
#define IMAGE INPUT("dim: 2 dim: 3 dim: 6 dim: 6")

/* "Conv Relu ": the operators of a model. */
static inline const char *operators_of(const fire_onnx_model_t *m)
{
    static char text[1024];

    text[0] = '\0';
    for (int64_t i = 0; i < m->nnode; i++) {
        strncat(text, m->node[i]->op_type, sizeof(text) - strlen(text) - 2);
        strcat(text, " ");
    }
    return text;
}
#endif
