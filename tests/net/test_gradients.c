/* Which layers run backward, and by which factor. */
#include "nets.h"
#include "net/net_state.h"

#define X                                                                              \
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 } " \
    "} }"
#define RELU(n, b, t) \
    "layer { name: '" n "' type: 'ReLU' bottom: '" b "' top: '" t "' }"

TEST(without_a_loss_nothing_runs_backward)
{
    fire_net_t *net = net_make(X RELU("r", "x", "r"), CAFFE__PHASE__TRAIN);

    CHECK(!net->layer[1].need_backward);
    fire_net_destroy(net);
}

TEST(force_backward_runs_everything_down_to_the_inputs)
{
    fire_net_t *net =
        net_make("force_backward: true " X RELU("r", "x", "r"), CAFFE__PHASE__TRAIN);

    CHECK(net->layer[1].need_backward && net->layer[1].base.propagate_down[0]);
    fire_net_destroy(net);
}

TEST(force_backward_spares_labels)
{
    fire_net_t *net = net_make(
        "force_backward: true " X
        "layer { name: 'l' type: 'Input' top: 'l' input_param { shape { dim: 2 } } }"
        "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'x' bottom: 'l' top: 's' "
        "}",
        CAFFE__PHASE__TRAIN);
    const fire_layer_t *loss = fire_net_find_layer(net, "loss");

    CHECK(loss->propagate_down[0] && !loss->propagate_down[1]);
    fire_net_destroy(net);
}

TEST(backward_scales_with_loss_weight_and_the_lanes_share)
{
    fire_net_t  *net = net_make("force_backward: true " X
                                "layer { name: 'r' type: 'ReLU' bottom: 'x' top: 'r' "
                                 "loss_weight: 3 }",
                                CAFFE__PHASE__TRAIN);
    const float *g;
    float        loss;

    CHECK_OK(fire_blob_set(fire_net_find_blob(net, "x"), FIRE_DATA, 2));
    CHECK_OK(fire_net_forward(net, 0, -1, &loss));
    CHECK_NEAR(loss, 36, 0);
    net->loss_scale = 0.5f;
    CHECK_OK(fire_net_backward(net, -1, 0));
    CHECK_OK(fire_blob_read(fire_net_find_blob(net, "x"), FIRE_DIFF, FIRE_CPU, &g));
    CHECK_NEAR(g[0], 1.5, 0);
    fire_net_destroy(net);
}
