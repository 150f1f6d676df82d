/* How layers are wired, and what is refused. */
#include "nets.h"
#include "net/net_state.h"

#define X                                                                              \
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } " \
    "} }"

static fire_status_t build(const char *text)
{
    fire_net_t   *net = NULL;
    fire_status_t st  = net_try(text, CAFFE__PHASE__TEST, &net);

    fire_net_destroy(net);
    return st;
}

TEST(wrong_wiring_is_refused_with_the_layers_name_and_the_reason)
{
    CHECK_FAILS(build("layer { name: 'q' type: 'Quantum' top: 'q' }"),
                FIRE_ERR_UNSUPPORTED, "layer \"q\" (Quantum): unknown layer type");
    CHECK_FAILS(build("layer { name: 'q' top: 'q' }"), FIRE_ERR_INVALID,
                "layer \"q\" (no type): ");
    CHECK_FAILS(build(X "layer { name: 'r' type: 'ReLU' top: 'r' }"), FIRE_ERR_INVALID,
                "layer \"r\" (ReLU): takes 1 bottom blob, not 0");
    CHECK_FAILS(build(X "layer { name: 'j' type: 'Input' top: 'x' }"), FIRE_ERR_INVALID,
                "top blob \"x\" is already produced");
    CHECK_FAILS(build(X "layer { name: 's' type: 'Concat' bottom: 'x' top: 'x' }"),
                FIRE_ERR_INVALID, "cannot work in place");
    CHECK_FAILS(build("layer { type: 'Input' top: 'x' }"), FIRE_ERR_INVALID,
                "layer 0 (Input) has no name");
    CHECK_FAILS(build(X "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'r' "
                        "loss_weight: 1 loss_weight: 2 }"),
                FIRE_ERR_INVALID, "loss_weight is given 2 times for 1 tops");
}

TEST(outputs_are_the_blobs_nobody_uses_in_order_of_their_names)
{
    fire_net_t *net =
        net_make(X "layer { name: 'z' type: 'ReLU' bottom: 'x' top: 'z' }"
                   "layer { name: 'b' type: 'ReLU' bottom: 'x' top: 'b' }",
                 CAFFE__PHASE__TEST);

    CHECK_EQ(net->noutput, 2);
    CHECK_STR(net->blob[net->output[0]].name, "b");
    CHECK_STR(net->blob[net->output[1]].name, "z");
    fire_net_destroy(net);
}

TEST(a_layer_that_cannot_take_a_new_shape_is_named)
{
    fire_net_t *net = net_make(X "layer { name: 's' type: 'Slice' bottom: 'x' top: 'a' "
                                 "top: 'b' slice_param { slice_point: 1 } }",
                               CAFFE__PHASE__TEST);

    CHECK_OK(fire_blob_reshape(fire_net_find_blob(net, "x"), 2, (int64_t[]){2, 1}));
    CHECK_FAILS(fire_net_forward(net, 0, -1, NULL), FIRE_ERR_INVALID,
                "layer \"s\" (Slice): ");
    CHECK_FAILS(fire_net_reshape(net), FIRE_ERR_INVALID, "layer \"s\" (Slice): ");
    fire_net_destroy(net);
}

TEST(a_net_reshapes_itself_when_its_input_changes)
{
    fire_net_t *net = net_make(
        X "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'r' }", CAFFE__PHASE__TEST);

    CHECK_OK(fire_blob_reshape(fire_net_find_blob(net, "x"), 2, (int64_t[]){7, 5}));
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_EQ(fire_blob_count(fire_net_find_blob(net, "r")), 35);
    fire_net_destroy(net);
}
