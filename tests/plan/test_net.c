/* A net as work per sample, against numbers worked out by hand. */
#include "base/text/json.h"
#include "model/load.h"
#include "plans.h"

TEST(arithmetic_and_bytes_are_those_of_one_sample)
{
    fire_net_t     *net = two_layers();
    fire_plan_net_t n   = {0};

    CHECK_OK(fire_plan_net_read(net, &n));
    CHECK_EQ(n.nlayer, 4);
    CHECK_STR(n.name[1], "conv");
    CHECK_NEAR(n.work[0].flops, 0, 0);             /* Input computes nothing */
    CHECK_NEAR(n.work[1].flops, 2 * 2 * 4 * 9, 0); /* 8 outputs of 9 products */
    CHECK_NEAR(n.work[1].bytes, 4 * (16 + 8), 0);  /* reads 4 x 4, writes 2 x 2 x 2 */
    CHECK_NEAR(n.work[1].kept, 4 * 8, 0);          /* its output */
    CHECK_NEAR(n.work[1].weights, 4 * (2 * 9 + 2), 0); /* filters and biases */
    CHECK_NEAR(n.work[2].kept, 0, 0);                  /* ReLU works in place */
    CHECK_NEAR(n.work[3].flops, 2 * 8 * 3, 0);
    CHECK_NEAR(n.flops, 144 + 48, 0);
    fire_plan_net_fini(&n);
    fire_net_destroy(net);
}

TEST(w_and_d_are_of_convolution_and_inner_product_layers)
{
    fire_net_t     *net = two_layers();
    fire_plan_net_t n   = {0};

    CHECK_OK(fire_plan_net_read(net, &n));
    CHECK_NEAR(n.w[1], 4 * 18, 0);
    CHECK_NEAR(n.d[1], 4 * 16, 0);
    CHECK_NEAR(n.w[2], 0, 0);
    CHECK_NEAR(n.w_bytes, 4 * (18 + 24), 0);
    CHECK_NEAR(n.d_bytes, 4 * (16 + 8), 0);
    CHECK_NEAR(n.weights, 4 * (20 + 27), 0);
    fire_plan_net_fini(&n);
    fire_net_destroy(net);
}

TEST(fillers_are_dropped_and_nothing_else)
{
    Caffe__NetParameter *p;

    CHECK_OK(
        fire_net_param_load_text(test_source("tests/plan/two_layers.prototxt"), &p));
    CHECK(p->layer[1]->convolution_param->weight_filler != NULL);
    fire_plan_drop_fillers(p);
    CHECK(p->layer[1]->convolution_param->weight_filler == NULL);
    CHECK(p->layer[3]->inner_product_param->weight_filler == NULL);
    CHECK_EQ(p->layer[1]->convolution_param->num_output, 2);
    fire_message_free(p);
}
