/* Parameters: order, multipliers, sharing. */
#include "nets.h"

/* Two products of the same input: settings of both, and `param` entries of each. */
#define PAIR(product_a, param_a, product_b, param_b)                                   \
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 4 } " \
    "} }"                                                                              \
    "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' "                     \
    "inner_product_param { bias_term: false " product_a " } " param_a " }"             \
    "layer { name: 'b' type: 'InnerProduct' bottom: 'x' top: 'b' "                     \
    "inner_product_param { bias_term: false " product_b " } " param_b " }"

static fire_status_t collect(const char *text)
{
    fire_net_t   *net = NULL;
    fire_status_t st  = net_try(text, CAFFE__PHASE__TRAIN, &net);

    fire_net_destroy(net);
    return st;
}

TEST(parameters_come_in_the_order_of_layers_with_their_multipliers)
{
    fire_net_t         *net = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    const fire_param_t *p;

    CHECK_EQ(fire_net_nparam(net), 3);
    p = fire_net_param(net, 0);
    CHECK_EQ(p->layer, 1);
    CHECK(p->lr_mult == 1 && p->decay_mult == 1 && !p->has_lr);
    p = fire_net_param(net, 1);
    CHECK_EQ(p->layer, 3);
    CHECK(p->lr_mult == 2 && p->decay_mult == 0.5f && p->has_lr);
    p = fire_net_param(net, 2);
    CHECK_EQ(p->index, 1);
    CHECK(p->lr_mult == 3 && p->decay_mult == 1 && !p->has_decay);
    fire_net_destroy(net);
}

TEST(layers_that_name_a_parameter_alike_share_its_memory)
{
    fire_net_t   *net = net_make(PAIR("num_output: 3", "param { name: 'w' }",
                                      "num_output: 3", "param { name: 'w' lr_mult: 5 }"),
                                 CAFFE__PHASE__TRAIN);
    fire_layer_t *a = fire_net_find_layer(net, "a"), *b = fire_net_find_layer(net, "b");
    const float  *x, *y;

    CHECK_EQ(fire_net_nparam(net), 1);
    CHECK_STR(fire_net_param(net, 0)->name, "w");
    CHECK(fire_net_param(net, 0)->lr_mult == 5);
    CHECK_OK(fire_blob_set(a->blob[0], FIRE_DATA, 7));
    CHECK_OK(fire_blob_read(a->blob[0], FIRE_DATA, FIRE_CPU, &x));
    CHECK_OK(fire_blob_read(b->blob[0], FIRE_DATA, FIRE_CPU, &y));
    CHECK(x == y);
    CHECK_NEAR(y[11], 7, 0);
    fire_net_destroy(net);
}

TEST(a_shared_parameter_must_have_one_shape)
{
    CHECK_FAILS(collect(PAIR("num_output: 3", "param { name: 'w' }", "num_output: 2",
                             "param { name: 'w' }")),
                FIRE_ERR_INVALID,
                "layer \"b\": cannot share parameter \"w\": shape 2 4 (8) here, 3 4 "
                "(12) in layer \"a\"");
}

/* 4 x 4 both ways: one of the layers has its weights transposed. */
TEST(permissive_sharing_needs_as_many_values_only)
{
    CHECK_OK(collect(PAIR("num_output: 2", "param { name: 'w' }",
                          "num_output: 2 transpose: true",
                          "param { name: 'w' share_mode: PERMISSIVE }")));
    CHECK_FAILS(collect(PAIR("num_output: 2", "param { name: 'w' }",
                             "num_output: 2 transpose: true", "param { name: 'w' }")),
                FIRE_ERR_INVALID, "cannot share parameter \"w\"");
    CHECK_FAILS(collect(PAIR("num_output: 2", "param { name: 'w' }", "num_output: 3",
                             "param { name: 'w' share_mode: PERMISSIVE }")),
                FIRE_ERR_INVALID, "cannot share parameter \"w\"");
}

TEST(sharing_layers_may_not_contradict_each_other)
{
    CHECK_FAILS(collect(PAIR("num_output: 3", "param { name: 'w' lr_mult: 1 }",
                             "num_output: 3", "param { name: 'w' lr_mult: 2 }")),
                FIRE_ERR_INVALID, "shared parameter \"w\" has lr_mult 2 here and 1");
    CHECK_FAILS(collect(PAIR("num_output: 3", "param { name: 'w' decay_mult: 0 }",
                             "num_output: 3", "param { name: 'w' decay_mult: 1 }")),
                FIRE_ERR_INVALID, "decay_mult 1 here and 0 elsewhere");
    CHECK_OK(collect(PAIR("num_output: 3", "param { name: 'w' lr_mult: 2 }",
                          "num_output: 3", "param { name: 'w' lr_mult: 2 }")));
}

TEST(statistics_do_not_learn)
{
    static const char *const text =
        "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 2 dim: 3 "
        "} } } layer { name: 'bn' type: 'BatchNorm' bottom: 'x' top: 'y' %s }";
    char whole[512];

    snprintf(whole, sizeof(whole), text, "param { lr_mult: 0 }");
    CHECK_OK(collect(whole));
    snprintf(whole, sizeof(whole), text, "param { lr_mult: 1 }");
    CHECK_FAILS(collect(whole), FIRE_ERR_INVALID, "lr_mult: 0");
}
