/* Reads the text format. Tests src/model/lexer.c and src/model/text_scalar.c too. */
#include "caffe.pb-c.h"
#include "model/text.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "test.h"

static fire_status_t parse_net(const char *text, Caffe__NetParameter **net_p)
{
    return fire_text_parse(text, strlen(text), "net.prototxt",
                           &caffe__net_parameter__descriptor,
                           (ProtobufCMessage **)net_p);
}

static Caffe__NetParameter *net_of(const char *text)
{
    Caffe__NetParameter *net;

    CHECK_OK(parse_net(text, &net));
    return net;
}

/* A net of one layer with this text inside. */
static Caffe__NetParameter *layer_of(const char *inside)
{
    char text[4096];

    snprintf(text, sizeof(text), "layer { %s }", inside);
    return net_of(text);
}

static void check_refused(const char *text, const char *message)
{
    Caffe__NetParameter *net;

    CHECK_FAILS(parse_net(text, &net), FIRE_ERR_PARSE, message);
}

TEST(a_net_is_read_with_names_numbers_and_nested_messages)
{
    Caffe__NetParameter *net =
        net_of("name: \"LeNet\" # a comment\n"
               "layer {\n"
               "  name: 'conv1' type: \"Convolution\"\n"
               "  bottom: \"data\" top: \"conv1\"\n"
               "  param { lr_mult: 1 } param { lr_mult: 2 }\n"
               "  convolution_param { num_output: 20 kernel_size: 5 stride: 1\n"
               "    weight_filler { type: \"xavier\" } }\n"
               "}\n");

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

TEST(an_empty_text_is_an_empty_message)
{
    Caffe__NetParameter *net = net_of(" # nothing here");

    CHECK_EQ(net->n_layer, 0);
    fire_message_free(net);
}

TEST(messages_take_colons_angle_brackets_and_separators)
{
    Caffe__NetParameter *net =
        net_of("layer: { name: \"a\", type: \"T\"; }; layer < name: 'b' > layer {}");

    CHECK_EQ(net->n_layer, 3);
    CHECK_STR(net->layer[0]->name, "a");
    CHECK_STR(net->layer[1]->name, "b");
    CHECK(net->layer[2]->name == NULL);
    fire_message_free(net);
}

TEST(lists_in_brackets_are_repeated_values)
{
    Caffe__NetParameter *net = net_of(
        "input: ['a', \"b\" 'c'] input: 'd' input_dim: [1, 0x10, 010] input_dim: 4\n"
        "input_shape: [{dim: [2,3]}, < dim: 4 >] input_shape [] layer: []");

    CHECK_EQ(net->n_input, 3);
    CHECK_STR(net->input[1], "bc");
    CHECK_STR(net->input[2], "d");
    CHECK_EQ(net->n_input_dim, 4);
    CHECK_EQ(net->input_dim[1], 16);
    CHECK_EQ(net->input_dim[2], 8);
    CHECK_EQ(net->n_input_shape, 2);
    CHECK_EQ(net->input_shape[0]->dim[1], 3);
    CHECK_EQ(net->input_shape[1]->dim[0], 4);
    CHECK_EQ(net->n_layer, 0);
    fire_message_free(net);
}

TEST(strings_understand_escapes_and_join_their_neighbours)
{
    Caffe__NetParameter *net =
        net_of("name: \"a\\tb\\\\ \\\"q\\\" \\'\\101\\x42\\u20AC\\U0001F525\" 'it\"s'\n"
               "      # comment between\n  \" end\"");

    CHECK_STR(net->name, "a\tb\\ \"q\" 'AB\xE2\x82\xAC\xF0\x9F\x94\xA5"
                         "it\"s end");
    fire_message_free(net);
}

TEST(bytes_may_hold_zeros_but_texts_may_not)
{
    const char    text[] = "data: \"a\\0b\\377\" label: -3 encoded: true";
    Caffe__Datum *datum;

    CHECK_OK(fire_text_parse(text, strlen(text), "d", &caffe__datum__descriptor,
                             (ProtobufCMessage **)&datum));
    CHECK_EQ(datum->data.len, 4);
    CHECK(memcmp(datum->data.data, "a\0b\xFF", 4) == 0);
    CHECK_EQ(datum->label, -3);
    CHECK(datum->encoded);
    fire_message_free(datum);
    check_refused("name: \"a\\000b\"", "net.prototxt:1:7: the text of field \"name\"");
}

TEST(enums_are_given_by_name_or_number)
{
    Caffe__NetParameter *net =
        layer_of("phase: TEST pooling_param { pool: AVE round_mode: 1 }");

    CHECK_EQ(net->layer[0]->phase, CAFFE__PHASE__TEST);
    CHECK_EQ(net->layer[0]->pooling_param->pool, 1);
    CHECK_EQ(net->layer[0]->pooling_param->round_mode, 1);
    fire_message_free(net);
    check_refused(
        "layer { pooling_param { pool: MIN } }",
        "net.prototxt:1:31: field \"pool\" cannot be \"MIN\"; known values: MAX, "
        "AVE, STOCHASTIC");
    check_refused("layer { phase: 7 }", "field \"phase\" cannot be \"7\"");
    check_refused("layer { phase: \"TEST\" }", "field \"phase\" cannot be");
}

TEST(floats_come_in_all_forms)
{
    Caffe__NetParameter *net = layer_of("loss_weight: [1, -1.5, .5, 2., 1e3, 1E-2, 3f, "
                                        "2.5F, inf, -inf, nan, Infinity, - 4]");
    const float         *w   = net->layer[0]->loss_weight;
    const float want[] = {1, -1.5f, .5f, 2, 1000, .01f, 3, 2.5f, INFINITY, -INFINITY};

    CHECK_EQ(net->layer[0]->n_loss_weight, 13);
    for (int i = 0; i < 10; i++)
        CHECK(w[i] == want[i]);
    CHECK(isnan(w[10]) && w[11] == INFINITY && w[12] == -4);
    fire_message_free(net);
    check_refused("layer { loss_weight: 0x10 }", "needs a decimal number");
    check_refused("layer { loss_weight: 1e }", "exponent");
    check_refused("layer { loss_weight: foo }", "needs a number, not \"foo\"");
}

TEST(bools_come_in_all_forms)
{
    Caffe__NetParameter *net =
        layer_of("propagate_down: [true, True, t, 1, false, False, f, 0]");

    CHECK_EQ(net->layer[0]->n_propagate_down, 8);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(net->layer[0]->propagate_down[i], i < 4);
    fire_message_free(net);
    check_refused("force_backward: yes",
                  "field \"force_backward\" needs true or false");
    check_refused("force_backward: 2", "needs true or false");
}

TEST(integers_must_fit_their_field)
{
    Caffe__NetParameter *net = net_of("input_dim: [2147483647, -2147483648, -0]\n"
                                      "input_shape { dim: [9223372036854775807, "
                                      "-9223372036854775808, 0xFF] }");

    CHECK_EQ(net->input_dim[0], INT32_MAX);
    CHECK_EQ(net->input_dim[1], INT32_MIN);
    CHECK(net->input_shape[0]->dim[0] == INT64_MAX);
    CHECK(net->input_shape[0]->dim[1] == INT64_MIN);
    CHECK_EQ(net->input_shape[0]->dim[2], 255);
    fire_message_free(net);
    check_refused("input_dim: 2147483648", "2147483648 is out of the range of field "
                                           "\"input_dim\", -2147483648 to 2147483647");
    check_refused("input_shape { dim: 9223372036854775808 }", "out of the range");
    check_refused("input_shape { dim: 99999999999999999999999 }", "out of the range");
    check_refused("layer { convolution_param { num_output: -1 } }",
                  "-1 is out of the range of field \"num_output\", 0 to 4294967295");
    check_refused("input_dim: 1.5", "needs an integer, not \"1.5\"");
    check_refused("input_dim: 08", "octal");
    check_refused("input_dim: 0x", "hex digits");
}

TEST(an_unknown_field_is_reported_with_its_place_and_the_nearest_name)
{
    check_refused(
        "name: 'x'\nlaeyr { }",
        "net.prototxt:2:1: message \"NetParameter\" has no field \"laeyr\"; did "
        "you mean \"layer\"?");
    check_refused("layer {\n  convolution_param {\n    num_outputs: 1 } }",
                  "net.prototxt:3:5: message \"ConvolutionParameter\" has no field "
                  "\"num_outputs\"; did you mean \"num_output\"?");
    check_refused("qqqqqq: 1", "has no field \"qqqqqq\"; it has: name, ");
}

TEST(a_field_of_the_message_around_hints_at_a_missing_bracket)
{
    check_refused(
        "layer {\n  name: 'a'\nlayer { name: 'b' }",
        "net.prototxt:3:1: message \"LayerParameter\" has no field \"layer\", "
        "the \"NetParameter\" around it has one; is a } missing before it?");
    check_refused("layer { convolution_param { weight_filler { std: 1 top: 'x' } } }",
                  "\"FillerParameter\" has no field \"top\", the \"LayerParameter\" "
                  "around it has one");
}

TEST(a_field_that_is_not_repeated_may_stand_only_once)
{
    check_refused("name: 'a' name: 'a'", "1:11: field \"name\" is given twice");
    check_refused(
        "layer { pooling_param { } pooling_param { } }",
        "field \"pooling_param\" is given twice in message \"LayerParameter\"");
    check_refused("force_backward: true force_backward: true", "given twice");
}

TEST(required_fields_must_be_there)
{
    Caffe__NetParameter *net = layer_of("clip_param { min: 0 max: 6 }");

    CHECK_NEAR(net->layer[0]->clip_param->max, 6, 0);
    fire_message_free(net);
    check_refused("layer { clip_param { min: 0 } }",
                  "1:29: message \"ClipParameter\" lacks its required field \"max\"");
}

TEST(broken_structure_is_reported_where_it_breaks)
{
    check_refused("layer {", "the file ends inside message \"LayerParameter\"");
    check_refused(
        "}", "1:1: a field of message \"NetParameter\" must stand here, not \"}\"");
    check_refused("layer { >", "must stand here, not \">\"");
    check_refused("layer 5", "field \"layer\" needs { ... }, not \"5\"");
    check_refused("name \"x\"", "field \"name\" needs \":\" and a value");
    check_refused("name: x", "field \"name\" needs a text in quotes, not \"x\"");
    check_refused("name:", "field \"name\" needs a text in quotes, but the file ends");
    check_refused("input: ['a' 5]", "needs \",\" or \"]\"");
    check_refused("name: ['a']", "needs a text in quotes, not \"[\"");
    check_refused("name: \"abc\nd\"", "1:7: this string has no closing \"");
    check_refused("name: 'abc", "no closing '");
    check_refused("name: 'a\\", "no closing '");
    check_refused("name: 'a\\q'", "unknown escape");
    check_refused("name: '\\400'", "unknown escape");
    check_refused("name: '\\x'", "\\x must be followed");
    check_refused("name: '\\u12'", "4 hex digits");
    check_refused("name: '\\U00110000'", "8 hex digits");
    check_refused("name: 'a'\n\x01", "2:1: stray byte 0x01");
    check_refused("@", "must stand here, not \"@\"");
    check_refused("[foo.bar]: 1", "must stand here, not \"[\"");
    check_refused("name: 'a',, layer {}", "must stand here, not \",\"");
}

TEST(a_number_may_be_followed_by_a_name_without_a_blank)
{
    Caffe__NetParameter *net =
        layer_of("convolution_param{num_output:20kernel_size:5stride:0x2}");

    CHECK_EQ(net->layer[0]->convolution_param->num_output, 20);
    CHECK_EQ(net->layer[0]->convolution_param->stride[0], 2);
    fire_message_free(net);
}

TEST(windows_line_ends_and_byte_order_mark_do_no_harm)
{
    Caffe__NetParameter *net =
        net_of("\xEF\xBB\xBFname: 'x'\r\n# c\r\nlayer {\r\n}\r\n");

    CHECK_STR(net->name, "x");
    CHECK_EQ(net->n_layer, 1);
    fire_message_free(net);
    check_refused("\xEF\xBB\xBFx: 1", "net.prototxt:1:1:");
}

TEST(long_words_and_numbers_are_handled)
{
    enum { N = 100000 };
    char                *text = malloc(2 * N);
    Caffe__NetParameter *net;

    memset(text, 'x', N);
    strcpy(text + N, ": 1");
    check_refused(text, "has no field \"xxxxx");
    memset(text, '1', N);
    memcpy(text, "input_dim: ", 11);
    text[N] = '\0';
    check_refused(text, "out of the range");
    memcpy(text, "layer { loss_weight: ", 21);
    strcpy(text + N, "}");
    check_refused(text, "needs a decimal number");
    memcpy(text, "name: \"", 7);
    strcpy(text + N, "\"");
    CHECK_OK(parse_net(text, &net));
    CHECK_EQ(strlen(net->name), N - 7);
    fire_message_free(net);
    free(text);
}

TEST(a_million_values_are_read_in_little_time)
{
    enum { N = 1000000 };
    static const char    head[] = "layer { blobs { data: [";
    char                *text = malloc(3 * N + 100), *at = text;
    Caffe__NetParameter *net;

    at = stpcpy(at, head);
    for (int i = 0; i < N; i++)
        at = stpcpy(at, i + 1 < N ? "1, " : "2 ");
    stpcpy(at, "] } }");
    CHECK_OK(parse_net(text, &net));
    CHECK_EQ(net->layer[0]->blobs[0]->n_data, N);
    CHECK_NEAR(net->layer[0]->blobs[0]->data[N - 1], 2, 0);
    fire_message_free(net);
    free(text);
}

TEST(every_failing_allocation_is_survived)
{
    const char *text =
        "name: 'a' 'b' input: ['x', 'y'] layer { name: 'c' phase: TEST "
        "blobs { data: [1, 2] shape { dim: 2 } } clip_param { min: 0 max: 1 } }";
    Caffe__NetParameter *net;

    for (int n = 1;; n++) {
        fire_status_t st;

        fire_alloc_fail_at(n);
        st = parse_net(text, &net);
        fire_alloc_fail_at(0);
        if (st == FIRE_OK) break;
        CHECK_EQ(st, FIRE_ERR_NOMEM);
    }
    fire_message_free(net);
}
