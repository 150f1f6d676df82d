/* Messages: fields by name, copies, merges, damage. */
#include "caffe.pb-c.h"
#include "model/message.h"

#include "base/alloc.h"
#include "model/text.h"
#include "test.h"

static void *parse_net(const char *text)
{
    ProtobufCMessage *msg;

    CHECK_OK(fire_text_parse(text, strlen(text), "t", &caffe__net_parameter__descriptor,
                             &msg));
    return msg;
}

static const fire_field_t *field_of(const void *msg, const char *name)
{
    return fire_field_find(FIRE_MESSAGE(msg)->descriptor, name);
}

static const char sample[] =
    "name: 'n' input: ['a', 'b'] force_backward: true state { phase: TRAIN stage: 's' "
    "}\n"
    "layer { name: 'l' type: 'T' blobs { shape { dim: [2] } data: [1, nan] } "
    "clip_param { min: 0 max: 1 } exp_param { base: 2 } }";

TEST(a_fresh_message_has_defaults_and_nothing_set)
{
    Caffe__FillerParameter *f;

    CHECK_OK(fire_message_create(&caffe__filler_parameter__descriptor,
                                 (ProtobufCMessage **)&f));
    CHECK_STR(f->type, "constant");
    CHECK_NEAR(f->max, 1, 0);
    for (unsigned i = 0; i < f->base.descriptor->n_fields; i++)
        CHECK(!fire_message_has(f, &f->base.descriptor->fields[i]));
    fire_message_free(f);
    fire_message_free(NULL);
}

TEST(a_copy_is_equal_and_lives_on_its_own)
{
    Caffe__NetParameter *net = parse_net(sample), *copy;

    CHECK_OK(fire_message_copy(net, (ProtobufCMessage **)&copy));
    CHECK(fire_message_equal(net, copy));
    copy->layer[0]->blobs[0]->data[0] = 7;
    CHECK(!fire_message_equal(net, copy));
    fire_message_free(net);
    CHECK_STR(copy->layer[0]->name, "l");
    CHECK_NEAR(copy->layer[0]->exp_param->base, 2, 0);
    fire_message_free(copy);
}

TEST(equality_sees_every_difference)
{
    static const char *const other[] = {
        "name: 'm'",
        "",
        "name: 'n' input: 'a'",
        "name: 'n' debug_info: false",
    };
    Caffe__NetParameter *net = parse_net("name: 'n'"), *b;

    for (int i = 0; i < 4; i++) {
        b = parse_net(other[i]);
        CHECK(!fire_message_equal(net, b));
        CHECK(!fire_message_equal(b, net));
        fire_message_free(b);
    }
    fire_message_free(net);
}

TEST(minus_zero_is_not_zero)
{
    Caffe__NetParameter *a = parse_net("layer { loss_weight: 0 }"),
                        *b = parse_net("layer { loss_weight: -0.0 }");

    CHECK(!fire_message_equal(a, b));
    fire_message_free(a);
    fire_message_free(b);
}

TEST(a_merge_appends_lists_merges_messages_and_replaces_the_rest)
{
    Caffe__NetParameter *into = parse_net("name: 'old' input: 'x' state { level: 3 }"),
                        *from = parse_net(sample),
                        *want =
                            parse_net("name: 'n' input: ['x', 'a', 'b']\n"
                                      "force_backward: true\n"
                                      "state { phase: TRAIN level: 3 stage: 's' }\n");

    CHECK_OK(fire_message_merge(from, into));
    CHECK_EQ(into->n_layer, 1);
    CHECK(fire_message_equal(into->layer[0], from->layer[0]));
    fire_message_clear_field(into, "layer");
    CHECK(fire_message_equal(into, want));
    fire_message_free(into);
    fire_message_free(from);
    fire_message_free(want);
}

TEST(values_are_put_counted_and_cleared)
{
    Caffe__NetParameter *net  = parse_net("");
    const char          *text = "first";
    int                  yes = 1, dim = 5;

    CHECK_OK(fire_message_put(net, field_of(net, "name"), &text));
    text = "second";
    CHECK_OK(fire_message_put(net, field_of(net, "name"), &text));
    CHECK_STR(net->name, "second");
    CHECK_OK(fire_message_put(net, field_of(net, "debug_info"), &yes));
    CHECK(net->has_debug_info && net->debug_info);
    for (int i = 0; i < 20; i++)
        CHECK_OK(fire_message_put(net, field_of(net, "input_dim"), &dim));
    CHECK_EQ(fire_message_count(net, field_of(net, "input_dim")), 20);
    CHECK_EQ(*(int *)fire_message_at(net, field_of(net, "input_dim"), 19), 5);
    fire_message_clear_field(net, "name");
    fire_message_clear_field(net, "debug_info");
    fire_message_clear_field(net, "input_dim");
    fire_message_clear_field(net, "no such field");
    CHECK(net->name == NULL && !net->has_debug_info && net->n_input_dim == 0);
    fire_message_free(net);
}

TEST(clearing_brings_the_default_back)
{
    ProtobufCMessage       *msg;
    Caffe__FillerParameter *f;

    CHECK_OK(fire_text_parse("type: 'xavier' std: 3", 21, "t",
                             &caffe__filler_parameter__descriptor, &msg));
    f = (Caffe__FillerParameter *)msg;
    fire_message_clear_field(f, "type");
    fire_message_clear_field(f, "std");
    CHECK_STR(f->type, "constant");
    CHECK_NEAR(f->std, 1, 0);
    fire_message_free(f);
}

TEST(messages_and_strings_are_added_by_name)
{
    Caffe__NetParameter   *net = parse_net("");
    Caffe__LayerParameter *layer;
    Caffe__NetState       *state, *again;

    for (int i = 0; i < 10; i++) {
        CHECK_OK(fire_message_add_message(net, "layer", &layer));
        CHECK_OK(fire_message_add_string(layer, "top", "t"));
        CHECK_OK(fire_message_add_string(layer, "top", "u"));
    }
    CHECK_EQ(net->n_layer, 10);
    CHECK_STR(net->layer[9]->top[1], "u");
    CHECK_OK(fire_message_add_message(net, "state", &state));
    CHECK_OK(fire_message_add_message(net, "state", &again));
    CHECK(state == again && net->state == state);
    CHECK_FAILS(fire_message_add_string(net, "nome", "x"), FIRE_ERR_INVALID,
                "\"NetParameter\" has no field \"nome\"");
    fire_message_free(net);
}

TEST(moving_hands_over_without_a_copy)
{
    Caffe__NetParameter *a = parse_net(sample), *b = parse_net("name: 'b' input: 'z'");
    const char          *name = a->name, *first = a->input[0];

    fire_message_move(a, field_of(a, "name"), b, field_of(b, "name"));
    fire_message_move(a, field_of(a, "input"), b, field_of(b, "input"));
    fire_message_move(a, field_of(a, "force_backward"), b,
                      field_of(b, "force_backward"));
    CHECK(b->name == name && b->input[0] == first && b->n_input == 2);
    CHECK(b->has_force_backward && b->force_backward);
    CHECK(a->name == NULL && a->n_input == 0 && !a->has_force_backward);
    fire_message_free(a);
    fire_message_free(b);
}

TEST(fields_that_the_schema_does_not_know_travel_along)
{
    /* name = "n", then field 555 = varint 7 */
    static const char    bytes[] = "\x0A\x01n\xD8\x22\x07";
    Caffe__NetParameter *net, *copy;
    uint8_t              out[16];

    CHECK_OK(fire_message_unpack(&caffe__net_parameter__descriptor, bytes, 6, "t",
                                 (ProtobufCMessage **)&net));
    CHECK_OK(fire_message_copy(net, (ProtobufCMessage **)&copy));
    CHECK_EQ(protobuf_c_message_pack(&copy->base, out), 6);
    CHECK(memcmp(out, bytes, 6) == 0);
    fire_message_free(net);
    fire_message_free(copy);
}

TEST(damaged_bytes_are_an_error_naming_the_file_and_its_size)
{
    ProtobufCMessage *msg;

    CHECK_FAILS(
        fire_message_unpack(&caffe__net_parameter__descriptor, "\x0A\x05n", 3,
                            "net.caffemodel", &msg),
        FIRE_ERR_PARSE,
        "net.caffemodel: not a NetParameter in binary form, or damaged (3 bytes)");
}

TEST(every_failing_allocation_is_survived)
{
    Caffe__NetParameter *net = parse_net(sample), *copy;
    uint8_t              bytes[1000];
    size_t               n = protobuf_c_message_pack(&net->base, bytes);

    for (int k = 1;; k++) {
        fire_status_t st;

        fire_alloc_fail_at(k);
        st = fire_message_copy(net, (ProtobufCMessage **)&copy);
        if (st == FIRE_OK) break;
        CHECK_EQ(st, FIRE_ERR_NOMEM);
    }
    fire_message_free(copy);
    for (int k = 1;; k++) {
        fire_status_t st;

        fire_alloc_fail_at(k);
        st = fire_message_unpack(net->base.descriptor, bytes, n, "t",
                                 (ProtobufCMessage **)&copy);
        if (st == FIRE_OK) break;
        CHECK_EQ(st, FIRE_ERR_NOMEM);
    }
    fire_alloc_fail_at(0);
    fire_message_free(copy);
    fire_message_free(net);
}
