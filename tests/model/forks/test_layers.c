/* Layers that forks have under another name. */
#include "caffe.pb-c.h"
#include "model/text.h"
#include "model/upgrade.h"
#include "test.h"

static Caffe__NetParameter *upgraded(const char *text)
{
    Caffe__NetParameter *net;

    CHECK_OK(fire_text_parse(text, strlen(text), "net.prototxt",
                             &caffe__net_parameter__descriptor,
                             (ProtobufCMessage **)&net));
    CHECK_OK(fire_net_param_upgrade(net, "net.prototxt"));
    return net;
}

TEST(layers_of_c3d_become_convolution_and_pooling)
{
    Caffe__NetParameter *net =
        upgraded("layer { name: \"c\" type: \"Convolution3D\" convolution3d_param { "
                 "num_output: 64 "
                 "kernel_size: 3 kernel_depth: 3 pad: 1 temporal_pad: 1 } } "
                 "layer { name: \"p\" type: \"Pooling3D\" pooling3d_param { pool: MAX "
                 "kernel_size: 2 "
                 "kernel_depth: 1 stride: 2 } } "
                 "layer { name: \"n\" type: \"NdPooling\" pooling_param { kernel_shape "
                 "{ dim: 1 } } }");

    CHECK_STR(net->layer[0]->type, "Convolution");
    CHECK(net->layer[0]->convolution3d_param == NULL);
    CHECK_EQ(net->layer[0]->convolution_param->kernel_depth, 3);
    CHECK_STR(net->layer[1]->type, "Pooling");
    CHECK_EQ(net->layer[1]->pooling_param->stride, 2);
    CHECK_STR(net->layer[2]->type, "Pooling");
    fire_message_free(net);
}

TEST(types_of_forks_in_the_old_format_are_upgraded)
{
    Caffe__NetParameter *net = upgraded(
        "layers { name: \"c\" type: CONVOLUTION3D convolution_param { num_output: 2 "
        "kernel_depth: 3 } } layers { name: \"p\" type: POOLING3D pooling_param { "
        "kernel_depth: 2 } } layers { name: \"x\" type: CROP crop_param { axis: 1 } }");

    CHECK_STR(net->layer[0]->type, "Convolution");
    CHECK_EQ(net->layer[0]->convolution_param->kernel_depth, 3);
    CHECK_STR(net->layer[1]->type, "Pooling");
    CHECK_STR(net->layer[2]->type, "Crop");
    CHECK_EQ(net->layer[2]->crop_param->axis, 1);
    fire_message_free(net);
}
