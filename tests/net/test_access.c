/* What a net tells about its layers, blobs, outputs and parameters. */
#include "nets.h"

static const char text[] =
    "name: 'small' "
    "layer { name: 'data' type: 'Input' top: 'data' top: 'label' "
    "  input_param { shape { dim: 2 dim: 3 } shape { dim: 2 } } } "
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'data' top: 'ip' "
    "  inner_product_param { num_output: 5 } } "
    "layer { name: 'relu' type: 'ReLU' bottom: 'ip' top: 'ip' } "
    "layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip' bottom: 'label' "
    "  top: 'loss' }";

TEST(layers_tell_their_names_types_and_blobs)
{
    fire_net_t *net = net_make(text, CAFFE__PHASE__TRAIN);

    CHECK_STR(fire_net_name(net), "small");
    CHECK_EQ(fire_net_phase(net), CAFFE__PHASE__TRAIN);
    CHECK_EQ(fire_net_nlayer(net), 4);
    CHECK_STR(fire_net_layer_name(net, 1), "ip");
    CHECK_STR(fire_net_layer_type(net, 1), "InnerProduct");
    CHECK(fire_net_layer_kernel(net, 1)[0] != '\0');
    CHECK_EQ(fire_net_layer_place(net, 1), FIRE_CPU);
    CHECK_EQ(fire_net_layer_nbottom(net, 3), 2);
    CHECK_EQ(fire_net_layer_ntop(net, 0), 2);
    CHECK_STR(fire_net_blob_name(net, fire_net_layer_bottom(net, 3, 1)), "label");
    CHECK_EQ(fire_net_layer_top(net, 2, 0), fire_net_layer_bottom(net, 2, 0));
    CHECK_NEAR(fire_net_layer_macs(net, 1), 2 * 3 * 5, 0);
    CHECK_NEAR(fire_net_layer_macs(net, 0), 0, 0);
    CHECK(fire_net_layer_has_backward(net, 1) && !fire_net_layer_has_backward(net, 0));
    CHECK(fire_net_layer_is_product(net, 1) && !fire_net_layer_is_product(net, 2));
    fire_net_destroy(net);
}

TEST(parameters_belong_to_a_layer_and_to_the_net)
{
    fire_net_t *net = net_make(text, CAFFE__PHASE__TRAIN);

    CHECK_EQ(fire_net_layer_nparam(net, 1), 2);
    CHECK_EQ(fire_net_layer_nparam(net, 2), 0);
    CHECK_EQ(fire_blob_count(fire_net_layer_param(net, 1, 0)), 15);
    CHECK_EQ(fire_net_nparam(net), 2);
    CHECK(fire_net_param(net, 1)->blob == fire_net_layer_param(net, 1, 1));
    fire_net_destroy(net);
}

TEST(outputs_are_blobs_that_no_layer_takes)
{
    fire_net_t *net = net_make(text, CAFFE__PHASE__TRAIN);

    CHECK_EQ(fire_net_noutput(net), 1);
    CHECK_STR(fire_net_blob_name(net, fire_net_output(net, 0)), "loss");
    CHECK_EQ(fire_net_output_size(net, 0), 1);
    CHECK(fire_net_find_blob(net, "ip") ==
          fire_net_blob(net, fire_net_layer_top(net, 1, 0)));
    fire_net_destroy(net);
}

static fire_status_t count(void *arg, int layer)
{
    *(int *)arg += 1 << layer;
    return FIRE_OK;
}

TEST(a_watch_is_called_around_every_layer_until_it_is_taken_away)
{
    fire_net_t            *net   = net_make(text, CAFFE__PHASE__TEST);
    int                    seen  = 0;
    const fire_net_hooks_t hooks = {.arg = &seen, .before_forward = count};

    fire_net_set_watch(net, &hooks);
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK(seen & 1 << 1 && seen & 1 << 3);
    fire_net_set_watch(net, &(fire_net_hooks_t){0});
    seen = 0;
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK_EQ(seen, 0);
    fire_net_destroy(net);
}

TEST(the_step_and_the_threads_can_be_set)
{
    fire_net_t *net = net_make(text, CAFFE__PHASE__TEST);

    fire_net_set_step(net, 7);
    CHECK_EQ(fire_net_step(net), 7);
    fire_net_set_threads(net, 1);
    CHECK_EQ(fire_net_ctx(net)->threads, 1);
    fire_net_destroy(net);
}

static void note(void *arg, const char *kernel, const char *reason)
{
    if (reason == NULL) snprintf(arg, 32, "%s", kernel);
}

TEST(a_kernel_can_be_chosen_again_with_reasons)
{
    fire_net_t *net        = net_make(text, CAFFE__PHASE__TEST);
    char        kernel[32] = "";

    CHECK_OK(fire_net_choose_kernel(net, 1, note, kernel));
    CHECK_STR(kernel, fire_net_layer_kernel(net, 1));
    fire_net_destroy(net);
}
