/* hand.h - graphs that tests make by hand, and import: begin(), node() for each node,
 * finish(), and gives() for what must come out. */
#ifndef FIRE_TESTS_ONNX_HAND_H
#define FIRE_TESTS_ONNX_HAND_H
#include "base/alloc.h"
#include "model/load.h"
#include "model/message.h"
#include "net/net_state.h"
#include "nets.h"

static inline fire_status_t import(const char *file)
{
    return fire_onnx_import(test_path(file), test_path("net"), NULL);
}

/* The imported net, with its weights. */
static inline fire_net_t *imported(void)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *param;
    fire_net_t          *net;

    o.ctx.kernels = "all=ref";
    CHECK_OK(fire_net_param_load_text(test_path("net/deploy.prototxt"), &param));
    CHECK_OK(fire_net_create(param, &o, &net));
    fire_message_free(param);
    CHECK_OK(fire_net_load_file(net, test_path("net/net.caffemodel")));
    return net;
}

static fire_onnx_model_t *graph;

static inline void begin(int ndim, const int64_t *dim)
{
    CHECK_OK(fire_onnx_model_create(&graph));
    CHECK_OK(fire_strdup("hand", &graph->name));
    graph->opset = 17;
    CHECK_OK(fire_onnx_add_input(graph, "x", ndim, dim, NULL));
}

/* A node "out = op(in ...)"; inputs are words. */
static inline Onnx__NodeProto *node(const char *out, const char *op, const char *in)
{
    Onnx__NodeProto *n;

    CHECK_OK(fire_onnx_add_node(graph, &n));
    CHECK_OK(fire_message_add_string(n, "op_type", op));
    while (*in != '\0') {
        char   word[32];
        size_t length = strcspn(in, " ");

        snprintf(word, sizeof(word), "%.*s", (int)length, in);
        CHECK_OK(
            fire_message_add_string(n, "input", strcmp(word, "-") == 0 ? "" : word));
        in += length + (in[length] == ' ');
    }
    CHECK_OK(fire_message_add_string(n, "output", out));
    return n;
}

static inline Onnx__AttributeProto *attribute(Onnx__NodeProto *n, const char *name)
{
    Onnx__AttributeProto *a;

    CHECK_OK(fire_message_add_message(n, "attribute", &a));
    CHECK_OK(fire_message_add_string(a, "name", name));
    return a;
}

static inline void text(Onnx__NodeProto *n, const char *name, const char *value)
{
    Onnx__AttributeProto *a = attribute(n, name);

    a->has_s  = true;
    a->s.len  = strlen(value);
    a->s.data = (uint8_t *)strdup(value);
}

static inline void constant(const char *name, int ndim, const int64_t *dim,
                            const float *values)
{
    fire_onnx_tensor_t t = {.type = FIRE_ONNX(FLOAT), .ndim = ndim, .data = values};

    memcpy(t.dim, dim, (size_t)ndim * sizeof(*dim));
    CHECK_OK(fire_strdup(name, &t.name));
    CHECK_OK(fire_onnx_add_tensor(graph, &t));
}

static inline fire_status_t finish(void)
{
    CHECK_OK(fire_onnx_add_output(graph, "y", 0, NULL, NULL));
    CHECK_OK(fire_onnx_save(graph, test_path("hand.onnx"), false));
    fire_onnx_model_destroy(graph);
    return import("hand.onnx");
}

/* Run the imported net on x: values of y. */
static inline void gives(const float *x, int64_t n, const float *y)
{
    fire_net_t  *net = imported();
    float       *in;
    const float *out;

    CHECK_OK(fire_blob_write(fire_net_find_blob(net, "x"), FIRE_DATA, FIRE_CPU, &in));
    memcpy(in, x, (size_t)fire_blob_count(fire_net_find_blob(net, "x")) * sizeof(*x));
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_EQ(fire_blob_count(fire_net_find_blob(net, "y")), n);
    CHECK_OK(fire_blob_read(fire_net_find_blob(net, "y"), FIRE_DATA, FIRE_CPU, &out));
    for (int64_t i = 0; i < n; i++)
        CHECK_NEAR(out[i], y[i], 1e-5);
    fire_net_destroy(net);
}
#endif
