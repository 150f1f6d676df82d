/* Where a Split is inserted, and how it is named. */
#include "nets.h"
#include "net/net_state.h"

#define IN(name)                                         \
    "layer { name: '" name "' type: 'Input' top: '" name \
    "' input_param { shape { dim: 2 "                    \
    "dim: 3 } } }"

TEST(a_blob_used_twice_is_split_under_caffes_names)
{
    fire_net_t *net =
        net_make(IN("x") "layer { name: 'r' type: 'ReLU' bottom: 'x' top: "
                         "'r' }"
                         "layer { name: 'e' type: 'Eltwise' bottom: 'x' "
                         "bottom: 'r' top: 'e' }",
                 CAFFE__PHASE__TEST);

    CHECK_EQ(net->nlayer, 4);
    CHECK_STR(net->layer[1].base.param->name, "x_x_0_split");
    CHECK(fire_net_find_blob(net, "x_x_0_split_1") != NULL);
    CHECK_STR(net->layer[3].base.param->bottom[0], "x_x_0_split_1");
    CHECK_STR(net->layer[2].base.param->bottom[0], "x_x_0_split_0");
    fire_net_destroy(net);
}

TEST(a_chain_of_in_place_layers_needs_no_split)
{
    fire_net_t *net =
        net_make(IN("x") "layer { name: 'r' type: 'ReLU' bottom: 'x' top: "
                         "'x' }"
                         "layer { name: 's' type: 'Sigmoid' bottom: 'x' "
                         "top: 'x' }",
                 CAFFE__PHASE__TEST);

    CHECK_EQ(net->nlayer, 3);
    CHECK_EQ(net->nblob, 1);
    fire_net_destroy(net);
}

TEST(a_loss_that_is_also_used_keeps_its_weight_on_the_split)
{
    fire_net_t *net = net_make(
        "force_backward: true " IN("x") "layer { name: 'r' type: 'ReLU' bottom: "
                                        "'x' top: 'r' loss_weight: 0.5 }"
                                        "layer { name: 's' type: 'Sigmoid' "
                                        "bottom: 'r' top: 's' }",
        CAFFE__PHASE__TEST);

    CHECK_STR(net->layer[2].base.param->type, "Split");
    CHECK_NEAR(net->layer[2].base.loss_weight[0], 0.5, 0);
    CHECK_NEAR(net->layer[1].base.loss_weight[0], 0, 0);
    CHECK_STR(net->layer[3].base.param->bottom[0], "r_r_0_split_1");
    fire_net_destroy(net);
}

TEST(a_bottom_nobody_makes_is_named)
{
    fire_net_t *net;

    CHECK_FAILS(net_try(IN("x") "layer { name: 'r' type: 'ReLU' bottom: 'y' top: 'r' }",
                        CAFFE__PHASE__TEST, &net),
                FIRE_ERR_INVALID, "layer \"r\": unknown bottom blob \"y\"");
}
