/* Which layers one kernel computes together. */
#include "nets.h"
#include "net/net_state.h"

#define INPUT                                                               \
    "force_backward: true layer { name: \"in\" type: \"Input\" top: \"x\" " \
    "input_param { shape { dim: 2 dim: 16 dim: 4 dim: 4 } } }\n"
#define IN_PLACE(type, name, extra)                                                 \
    "layer { name: \"" name "\" type: \"" type "\" bottom: \"x\" top: \"x\" " extra \
    " }\n"
#define NORM                                                                     \
    INPUT "layer { name: \"norm\" type: \"BatchNorm\" bottom: \"x\" top: \"x\" " \
          "}\n" IN_PLACE("Scale", "scale", "scale_param { bias_term: true }")    \
              IN_PLACE("ReLU", "relu", "")

static bool is_absorbed(const fire_net_t *net, const char *name)
{
    return fire_net_find_layer(net, name)->fusion.absorbed;
}

TEST(batch_norm_takes_in_scale_and_relu)
{
    fire_net_t *net = net_make(NORM, CAFFE__PHASE__TRAIN);

    CHECK_EQ(fire_net_find_layer(net, "norm")->fusion.nfollower, 2);
    CHECK(is_absorbed(net, "scale") && is_absorbed(net, "relu"));
    fire_net_destroy(net);
}

TEST(gradients_of_absorbed_parameters_are_final_with_their_leader)
{
    fire_net_t *net = net_make(NORM, CAFFE__PHASE__TRAIN);

    for (int i = 0; i < net->nparam; i++)
        if (strcmp(net->layer[net->learn[i].layer].base.param->name, "scale") == 0)
            CHECK_EQ(net->learn[i].first_use, 1);
    fire_net_destroy(net);
}

TEST(a_layer_with_a_top_of_its_own_is_not_absorbed)
{
    fire_net_t *net = net_make(
        INPUT "layer { name: \"norm\" type: \"BatchNorm\" bottom: \"x\" top: \"x\" }\n"
              "layer { name: \"relu\" type: \"ReLU\" bottom: \"x\" top: \"y\" }\n",
        CAFFE__PHASE__TRAIN);

    CHECK(!is_absorbed(net, "relu"));
    fire_net_destroy(net);
}

TEST(a_layer_that_must_run_ref_is_not_absorbed)
{
    fire_net_t *net = net_make(
        INPUT "layer { name: \"norm\" type: \"BatchNorm\" bottom: \"x\" top: \"x\" "
              "}\n" IN_PLACE("ReLU", "relu", "relu_param { engine: CAFFE }"),
        CAFFE__PHASE__TRAIN);

    CHECK(!is_absorbed(net, "relu"));
    fire_net_destroy(net);
}

static void fill(fire_net_t *net)
{
    float *x;

    CHECK_OK(fire_blob_write(fire_net_find_blob(net, "x"), FIRE_DATA, FIRE_CPU, &x));
    for (int i = 0; i < 2 * 16 * 4 * 4; i++)
        x[i] = (float)(i % 13) - 6.0f;
}

TEST(half_a_group_can_still_be_run)
{
    fire_net_t  *net = net_make(NORM, CAFFE__PHASE__TRAIN);
    const float *x;
    bool         negative = false;

    fill(net);
    CHECK_OK(fire_net_forward(net, 0, 2, NULL)); /* without the ReLU */
    CHECK(!is_absorbed(net, "scale") && !is_absorbed(net, "relu"));
    CHECK_OK(fire_blob_read(fire_net_find_blob(net, "x"), FIRE_DATA, FIRE_CPU, &x));
    for (int i = 0; i < 2 * 16 * 4 * 4; i++)
        negative = negative || x[i] < 0;
    CHECK(negative);
    CHECK_OK(fire_net_forward(net, 3, 3, NULL));
    CHECK_OK(fire_blob_read(fire_net_find_blob(net, "x"), FIRE_DATA, FIRE_CPU, &x));
    for (int i = 0; i < 2 * 16 * 4 * 4; i++)
        CHECK(x[i] >= 0);
    fire_net_destroy(net);
}

TEST(debug_info_sees_every_layer)
{
    fire_net_t *net = net_make(NORM, CAFFE__PHASE__TRAIN);

    fill(net);
    net->debug_info = true;
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK(!is_absorbed(net, "scale") && !is_absorbed(net, "relu"));
    CHECK_OK(fire_net_backward(net, -1, 0));
    fire_net_destroy(net);
}
