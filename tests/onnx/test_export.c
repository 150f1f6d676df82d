/* Names, constants and refusals of the exporter; what the operators compute is compared in
 * test_runtimes.c. Tests src/onnx/ and src/onnx/fold.c. */
#include "nets.h"

#include "base/file.h"

static fire_onnx_model_t *export_with(const char                      *text,
                                      const fire_onnx_export_config_t *c)
{
    fire_onnx_model_t *m;
    fire_net_t        *net = net_of(text);

    CHECK_OK(fire_onnx_of_net(net, c, &m));
    fire_net_destroy(net); /* names and shapes are looked at, no values */
    return m;
}

static void refuses(const char *text, const fire_onnx_export_config_t *c,
                    fire_status_t st, const char *message)
{
    fire_onnx_model_t *m;
    fire_net_t        *net = net_of(text);

    CHECK_FAILS(fire_onnx_of_net(net, c, &m), st, message);
    fire_net_destroy(net);
}

#define CONV                                                         \
    "layer { name: 'conv' type: 'Convolution' bottom: 'x' top: 'y' " \
    "convolution_param { num_output: 4 kernel_size: 3 } } "
#define RELU "layer { name: 'relu' type: 'ReLU' bottom: 'y' top: 'y' } "
#define NORM                                                                  \
    "layer { name: 'bn' type: 'BatchNorm' bottom: 'y' top: 'y' } "            \
    "layer { name: 'scale' type: 'Scale' bottom: 'y' top: 'y' scale_param { " \
    "bias_term: "                                                             \
    "true } } "

TEST(the_last_value_of_a_blob_has_its_name)
{
    fire_onnx_model_t *m = export_with(IMAGE CONV RELU, NULL);

    CHECK_STR(operators_of(m), "Conv Relu ");
    CHECK_STR(m->node[0]->input[0], "x");
    CHECK_STR(m->node[0]->output[0], "y/conv");
    CHECK_STR(m->node[1]->input[0], "y/conv");
    CHECK_STR(m->node[1]->output[0], "y");
    CHECK_STR(m->output[0]->name, "y");
    CHECK_STR(m->tensor[0].name, "conv.weight");
    CHECK_STR(m->tensor[1].name, "conv.bias");
    fire_onnx_model_destroy(m);
}

TEST(the_batch_size_is_left_open_or_fixed)
{
    fire_onnx_export_config_t c = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_onnx_model_t        *m = export_with(IMAGE CONV, NULL);

    CHECK_STR(m->input[0]->type->tensor_type->shape->dim[0]->dim_param, "batch");
    CHECK_EQ(m->input[0]->type->tensor_type->shape->dim[1]->dim_value, 3);
    CHECK_STR(m->output[0]->type->tensor_type->shape->dim[0]->dim_param, "batch");
    fire_onnx_model_destroy(m);
    c.batch = 5;
    m       = export_with(IMAGE CONV, &c);
    CHECK_EQ(m->input[0]->type->tensor_type->shape->dim[0]->dim_value, 5);
    CHECK_EQ(m->output[0]->type->tensor_type->shape->dim[0]->dim_value, 5);
    CHECK_EQ(m->output[0]->type->tensor_type->shape->dim[2]->dim_value, 4);
    fire_onnx_model_destroy(m);
}

TEST(the_net_has_its_shapes_back_after_the_export)
{
    fire_net_t        *net = net_of(IMAGE CONV);
    fire_onnx_model_t *m;

    CHECK_OK(fire_onnx_of_net(net, NULL, &m));
    CHECK_EQ(fire_blob_dims(fire_net_find_blob(net, "x"))[0], 2);
    CHECK_EQ(fire_blob_dims(fire_net_find_blob(net, "y"))[0], 2);
    fire_onnx_model_destroy(m);
    fire_net_destroy(net);
}

TEST(batch_norm_and_scale_become_one_node)
{
    fire_onnx_model_t *m = export_with(IMAGE CONV NORM RELU, NULL);

    CHECK_STR(operators_of(m), "Conv BatchNormalization Relu ");
    CHECK_STR(m->node[1]->input[1], "scale.gain");
    CHECK_STR(m->node[1]->input[2], "scale.shift");
    fire_onnx_model_destroy(m);
}

TEST(folding_puts_norms_into_the_weights)
{
    fire_onnx_export_config_t c   = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_net_t               *net = net_of(IMAGE CONV NORM RELU);
    float                    *w, *gain, *shift, *weight;
    fire_onnx_model_t        *m;

    CHECK_OK(fire_blob_write(fire_net_layer_param(net, 1, 0), FIRE_DATA, FIRE_CPU, &w));
    w[0] = 3;
    for (int i = 0; i < 2; i++) { /* statistics: mean 0, variance 4 - eps, weight 2 */
        CHECK_OK(fire_blob_write(fire_net_layer_param(net, 2, 1 + i), FIRE_DATA,
                                 FIRE_CPU, &weight));
        for (int k = 0; k < (i == 0 ? 4 : 1); k++)
            weight[k] = i == 0 ? 2 * (4 - 1e-5f) : 2;
    }
    CHECK_OK(
        fire_blob_write(fire_net_layer_param(net, 3, 0), FIRE_DATA, FIRE_CPU, &gain));
    CHECK_OK(
        fire_blob_write(fire_net_layer_param(net, 3, 1), FIRE_DATA, FIRE_CPU, &shift));
    for (int k = 0; k < 4; k++) {
        gain[k]  = 5;
        shift[k] = 7;
    }
    c.fold = true;
    CHECK_OK(fire_onnx_of_net(net, &c, &m));
    CHECK_STR(operators_of(m), "Conv Relu ");
    CHECK_EQ(m->ntensor, 2);
    CHECK_NEAR(fire_onnx_tensor_number(&m->tensor[0], 0), 3 * 5 / 2.0, 1e-5);
    CHECK_NEAR(fire_onnx_tensor_number(&m->tensor[1], 3), 7, 1e-6);
    CHECK_STR(m->node[0]->output[0], "y/scale");
    fire_onnx_model_destroy(m);
    fire_net_destroy(net);
}

TEST(layers_that_share_weights_share_a_tensor)
{
    fire_onnx_model_t *m = export_with(
        IMAGE
        "layer { name: 'a' type: 'Convolution' bottom: 'x' top: 'a' param { name: 'w' "
        "} convolution_param { num_output: 2 kernel_size: 1 bias_term: false } } "
        "layer { name: 'b' type: 'Convolution' bottom: 'x' top: 'b' param { name: 'w' "
        "} convolution_param { num_output: 2 kernel_size: 1 bias_term: false } } ",
        NULL);

    CHECK_EQ(m->ntensor, 1);
    CHECK_STR(m->node[1]->input[1], "a.weight");
    fire_onnx_model_destroy(m);
}

TEST(what_onnx_cannot_say_is_an_error_with_the_layers_name)
{
    fire_onnx_export_config_t c = FIRE_ONNX_EXPORT_CONFIG_INIT;

    refuses(
        INPUT("dim: 2 dim: 3") "layer { name: 'loss' type: 'EuclideanLoss' bottom: 'x' "
                               "bottom: 'x' top: 'l' } ",
        NULL, FIRE_ERR_UNSUPPORTED,
        "layer \"loss\" (EuclideanLoss): a loss has no meaning in inference");
    refuses(IMAGE "layer { name: 'col' type: 'Im2col' bottom: 'x' top: 'y' "
                  "convolution_param { kernel_size: 3 } } ",
            NULL, FIRE_ERR_UNSUPPORTED, "layer \"col\" (Im2col): ONNX has no operator");
    refuses(IMAGE
            "layer { name: 'r' type: 'Reshape' bottom: 'x' top: 'y' reshape_param { "
            "shape { dim: 2 dim: 108 } } } ",
            NULL, FIRE_ERR_INVALID, "choose one: --batch N");
    c.opset = 12;
    refuses(IMAGE CONV, &c, FIRE_ERR_INVALID, "opset 12; versions 13 to");
    c.opset          = 17;
    c.with_transform = true;
    refuses(IMAGE CONV, &c, FIRE_ERR_UNSUPPORTED, "has no transform_param");
}

TEST(a_custom_operator_holds_the_settings_of_its_layer)
{
    fire_onnx_export_config_t c = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_onnx_model_t        *m;

    c.custom_ops = true;
    m = export_with(IMAGE "layer { name: 'col' type: 'Im2col' bottom: 'x' top: 'y' "
                          "convolution_param { kernel_size: 3 } } ",
                    &c);
    CHECK(m->custom);
    CHECK_STR(m->node[0]->op_type, "Im2col");
    CHECK_STR(m->node[0]->domain, "caffe");
    CHECK(strstr((char *)m->node[0]->attribute[0]->s.data, "kernel_size: 3") != NULL);
    fire_onnx_model_destroy(m);
}

#define TRANSFORMED                                                        \
    "layer { name: 'in' type: 'Input' top: 'x' transform_param { scale: "  \
    "0.5 mean_value: 104 mean_value: 117 mean_value: 123 } input_param { " \
    "shape { dim: 1 dim: 3 dim: 6 dim: 6 } } } "

TEST(the_transformation_of_the_data_layer_comes_first)
{
    fire_onnx_export_config_t c = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_onnx_model_t        *m;

    c.with_transform = c.rgb = true;
    m                        = export_with(TRANSFORMED CONV, &c);
    CHECK_STR(operators_of(m), "Gather Sub Mul Conv ");
    CHECK_EQ(fire_onnx_tensor_integer(&m->tensor[0], 0), 2);
    CHECK_NEAR(fire_onnx_tensor_number(&m->tensor[1], 2), 123, 0);
    CHECK_NEAR(fire_onnx_tensor_number(&m->tensor[2], 0), 0.5, 0);
    CHECK_STR(m->node[3]->input[0], m->node[2]->output[0]);
    fire_onnx_model_destroy(m);
}
