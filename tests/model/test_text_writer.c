/* Messages as text, as protobuf prints them. */
#include "caffe.pb-c.h"
#include "model/text.h"

#include "base/alloc.h"
#include "test.h"

static ProtobufCMessage *parse(const ProtobufCMessageDescriptor *desc, const char *text)
{
    ProtobufCMessage *msg;

    CHECK_OK(fire_text_parse(text, strlen(text), "t", desc, &msg));
    return msg;
}

/* What is printed is as given, and reads back as the same message. */
static void check_print(const ProtobufCMessageDescriptor *desc, const char *text,
                        const char *want)
{
    ProtobufCMessage *msg = parse(desc, text), *back;
    fire_str_t        out = {0};

    CHECK_OK(fire_text_print(msg, &out));
    CHECK_STR(out.text, want);
    back = parse(desc, out.text);
    CHECK(fire_message_equal(msg, back));
    fire_message_free(msg);
    fire_message_free(back);
    fire_str_fini(&out);
}

TEST(fields_are_printed_by_number_two_blanks_per_level)
{
    check_print(&caffe__net_parameter__descriptor,
                "layer < type: 'ReLU' name: 'r' relu_param: { negative_slope: .1 } >\n"
                "force_backward: 1 input_dim: [1, -2] name: 'n' layer {}",
                "name: \"n\"\n"
                "input_dim: 1\n"
                "input_dim: -2\n"
                "force_backward: true\n"
                "layer {\n"
                "  name: \"r\"\n"
                "  type: \"ReLU\"\n"
                "  relu_param {\n"
                "    negative_slope: 0.1\n"
                "  }\n"
                "}\n"
                "layer {\n"
                "}\n");
}

TEST(numbers_of_every_type_are_printed_exactly)
{
    check_print(&caffe__blob_proto__descriptor,
                "shape { dim: [-9223372036854775808, 5] }\n"
                "data: [0.1, 1e-8, 3.4028235e38, inf, -inf, nan, -0.0, 16777217]\n"
                "double_data: [0.1, 1e300, 0.30000000000000004] num: -1",
                "num: -1\n"
                "data: 0.1\ndata: 1e-08\ndata: 3.4028235e+38\ndata: inf\ndata: -inf\n"
                "data: nan\ndata: -0\ndata: 16777216\n"
                "shape {\n  dim: -9223372036854775808\n  dim: 5\n}\n"
                "double_data: 0.1\ndouble_data: 1e+300\n"
                "double_data: 0.30000000000000004\n");
    check_print(&caffe__convolution_parameter__descriptor,
                "num_output: 4294967295 engine: CAFFE",
                "num_output: 4294967295\nengine: CAFFE\n");
}

TEST(texts_are_escaped_so_that_they_read_back)
{
    check_print(&caffe__datum__descriptor,
                "data: \"\\0\\001\\n\\r\\t'\\\"\\\\ \\x7f\\xff~\"",
                "data: \"\\000\\001\\n\\r\\t\\'\\\"\\\\ \\177\\377~\"\n");
}

TEST(a_value_equal_to_its_default_is_printed_if_it_was_set)
{
    check_print(&caffe__filler_parameter__descriptor, "type: 'constant' value: 0",
                "type: \"constant\"\nvalue: 0\n");
}

TEST(an_enum_number_without_a_name_is_printed_as_number)
{
    Caffe__NetState state = CAFFE__NET_STATE__INIT;
    fire_str_t      out   = {0};

    state.has_phase = 1;
    state.phase     = (Caffe__Phase)9;
    CHECK_OK(fire_text_print(&state, &out));
    CHECK_STR(out.text, "phase: 9\n");
    fire_str_fini(&out);
}

TEST(an_empty_message_is_an_empty_text)
{
    check_print(&caffe__net_parameter__descriptor, "", "");
}

TEST(running_out_of_memory_is_reported)
{
    Caffe__NetState state = CAFFE__NET_STATE__INIT;
    fire_str_t      out   = {0};

    state.has_level = 1;
    fire_alloc_fail_at(1);
    CHECK_FAILS(fire_text_print(&state, &out), FIRE_ERR_NOMEM, "out of memory");
}
