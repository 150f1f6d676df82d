/* Tests src/model/values/field.c: settings of plug-in layers in a prototxt. */
#include "base/alloc.h"
#include "caffe.pb-c.h"
#include "model/text.h"
#include "test.h"

static Caffe__NetParameter *parse(const char *text)
{
    ProtobufCMessage *msg = NULL;

    CHECK_OK(fire_text_parse(text, strlen(text), "net.prototxt",
                             &caffe__net_parameter__descriptor, &msg));
    return (Caffe__NetParameter *)msg;
}

static void check_refused(const char *text, const char *message)
{
    ProtobufCMessage *msg;

    CHECK_FAILS(fire_text_parse(text, strlen(text), "net.prototxt",
                                &caffe__net_parameter__descriptor, &msg),
                FIRE_ERR_PARSE, message);
}

/* Printed, and read again, the net is the same. */
static void check_printed(const Caffe__NetParameter *net, const char *want)
{
    fire_str_t           text = {0};
    Caffe__NetParameter *back;

    CHECK_OK(fire_text_print(net, &text));
    CHECK_STR(text.text, want);
    back = parse(text.text);
    CHECK(fire_message_equal(net, back));
    fire_message_free(back);
    fire_str_fini(&text);
}

TEST(any_keys_may_stand_in_plugin_param)
{
    Caffe__NetParameter *net = parse("layer { name: 'a' type: 'Swirl'\n"
                                     "  plugin_param { turns: 2 at: [1, 2] # twice\n"
                                     "    window < size: 3 > } }");

    CHECK_EQ(net->layer[0]->n_plugin, 1);
    CHECK_STR(net->layer[0]->plugin[0]->field, "plugin_param");
    check_printed(net, "layer {\n  name: \"a\"\n  type: \"Swirl\"\n  plugin_param {\n"
                       "    turns: 2\n    at: 1\n    at: 2\n    window {\n"
                       "      size: 3\n    }\n  }\n}\n");
    fire_message_free(net);
}

TEST(a_field_that_caffe_does_not_have_is_a_plugins)
{
    Caffe__NetParameter *net = parse("layer { name: 'a' swirl_param: { turns: 2 };\n"
                                     "  other_stuff_param { }, type: 'Swirl' }");

    CHECK_EQ(net->layer[0]->n_plugin, 2);
    CHECK_STR(net->layer[0]->plugin[0]->text, "turns: 2\n");
    CHECK_STR(net->layer[0]->plugin[1]->text, "");
    check_printed(net, "layer {\n  name: \"a\"\n  type: \"Swirl\"\n  swirl_param {\n"
                       "    turns: 2\n  }\n  other_stuff_param {\n  }\n}\n");
    fire_message_free(net);
}

TEST(a_misspelt_field_of_caffe_is_not_a_plugins)
{
    static const char message[] =
        "net.prototxt:1:29: message \"LayerParameter\" has no "
        "field \"convoluton_param\"; did you mean "
        "\"convolution_param\"?";

    check_refused("layer { type: 'Convolution' convoluton_param { } }", message);
    check_refused("layer { name: 'conv1'       convoluton_param { num_output: 1 }\n"
                  "  type: 'Convolution' }",
                  message);
    check_refused("layer { pool_2_param { } scale_2_param { } }",
                  "net.prototxt:1:26: message \"LayerParameter\" has no field "
                  "\"scale_2_param\"");
    check_refused("layer { swirl_param: 3 }", "has no field \"swirl_param\"");
    check_refused("swirl_param { }", "has no field \"swirl_param\"");
}

TEST(a_field_named_like_the_type_is_a_plugins_however_near_to_caffes)
{
    Caffe__NetParameter *net =
        parse("layer { name: 'a' type: 'Scale2' scale2_param { a: 1 } }"
              "layer { name: 'b' my_scale_param { } type: 'MyScale' }");

    CHECK_STR(net->layer[0]->plugin[0]->field, "scale2_param");
    CHECK_STR(net->layer[1]->plugin[0]->field, "my_scale_param");
    fire_message_free(net);
}

TEST(damage_within_the_settings_has_its_place_in_the_file)
{
    check_refused("layer { type: 'Swirl'\n  plugin_param {\n    turns 2 } }",
                  "net.prototxt:3:11: \"turns\" needs \":\" and a value, not \"2\"");
    check_refused("layer { plugin_param { turns: 2",
                  "the text ends inside \"plugin_param\"; a } is missing");
}

/* From a .caffemodel of somebody else: printed as the message that it is. */
TEST(settings_that_are_no_text_are_printed_as_a_message)
{
    static const char *const odd[] = {
        "plugin {\n    field: \"plugin_param\"\n    text: \"turns:2\"\n  }\n",
        "plugin {\n    field: \"plugin_param\"\n    text: \"} turns\"\n  }\n",
        "plugin {\n    field: \"relu_param\"\n    text: \"\"\n  }\n",
        "plugin {\n    field: \"rellu_param\"\n    text: \"\"\n  }\n",
        "plugin {\n    field: \"a b_param\"\n    text: \"\"\n  }\n",
        "plugin {\n    field: \"plugin_param\"\n  }\n",
        "plugin {\n  }\n",
    };

    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        char                 text[256];
        Caffe__NetParameter *net;

        snprintf(text, sizeof(text), "layer {\n  %s}\n", odd[i]);
        net = parse(text);
        check_printed(net, text);
        fire_message_free(net);
    }
}

TEST(settings_survive_the_binary_form_and_copies)
{
    Caffe__NetParameter *net =
        parse("layer { name: 'a' type: 'S' s_param { x: 'y' } }");
    ProtobufCMessage *back, *copy;
    size_t            n = protobuf_c_message_get_packed_size(FIRE_MESSAGE(net));
    uint8_t          *bytes;

    CHECK_OK(FIRE_NEW(&bytes, n));
    CHECK_EQ(protobuf_c_message_pack(FIRE_MESSAGE(net), bytes), n);
    CHECK_OK(
        fire_message_unpack(&caffe__net_parameter__descriptor, bytes, n, "net", &back));
    CHECK_OK(fire_message_copy(back, &copy));
    CHECK(fire_message_equal(net, copy));
    fire_message_free(net);
    fire_message_free(back);
    fire_message_free(copy);
    fire_free(bytes);
}
