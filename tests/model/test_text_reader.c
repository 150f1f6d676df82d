#include "caffe.pb-c.h"
#include "model/text.h"
#include "test.h"

static fire_status_t parse_net(const char *text, Caffe__NetParameter **net_p)
{
    return fire_text_parse(text, strlen(text), "net.prototxt",
                           &caffe__net_parameter__descriptor,
                           (ProtobufCMessage **)net_p);
}

/* The first layer of a net with this text inside; lives until the test ends. */
static const Caffe__LayerParameter *parse_layer(const char *inside)
{
    Caffe__NetParameter *net;
    char                 text[4096];

    snprintf(text, sizeof(text), "layer { %s }", inside);
    CHECK_OK(parse_net(text, &net));
    CHECK_EQ(net->n_layer, 1);
    return net->layer[0];
}

#define CHECK_REFUSES(text_, message)                                      \
    do {                                                                   \
        Caffe__NetParameter *refused_;                                     \
        CHECK_FAILS(parse_net(text_, &refused_), FIRE_ERR_PARSE, message); \
    } while (0)

TEST(a_net_is_read_with_names_numbers_and_nested_messages)
{
    Caffe__NetParameter *net;

    CHECK_OK(parse_net("name: \"LeNet\" # a comment\n"
                       "layer {\n"
                       "  name: 'conv1' type: \"Convolution\"\n"
                       "  bottom: \"data\" top: \"conv1\"\n"
                       "  param { lr_mult: 1 } param { lr_mult: 2 }\n"
                       "  convolution_param { num_output: 20 kernel_size: 5 stride: 1\n"
                       "    weight_filler { type: \"xavier\" } }\n"
                       "}\n",
                       &net));
    CHECK_STR(net->name, "LeNet");
    CHECK_EQ(net->n_layer, 1);
    CHECK_STR(net->layer[0]->type, "Convolution");
    CHECK_EQ(net->layer[0]->n_param, 2);
    CHECK_NEAR(net->layer[0]->param[1]->lr_mult, 2, 0);
    CHECK_EQ(net->layer[0]->convolution_param->num_output, 20);
    CHECK_EQ(net->layer[0]->convolution_param->n_kernel_size, 1);
    CHECK_STR(net->layer[0]->convolution_param->weight_filler->type, "xavier");
    CHECK(!net->has_force_backward);
    fire_message_free(net);
}
