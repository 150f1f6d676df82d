/* Creating a net, and what is asked of it by name. */
#include "nets.h"

TEST(blobs_and_layers_are_found_by_name_or_not_at_all)
{
    fire_net_t *net = net_make_file("two_products", CAFFE__PHASE__TEST);

    CHECK(fire_net_find_blob(net, "second") != NULL);
    CHECK(fire_net_find_layer(net, "second") != NULL);
    CHECK(fire_net_find_blob(net, "third") == NULL);
    CHECK(fire_net_find_layer(net, "third") == NULL);
    fire_net_destroy(net);
}

TEST(a_net_keeps_a_copy_of_its_prototxt)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *p = net_file("two_products");
    fire_net_t          *net;

    CHECK_OK(fire_net_create(p, &o, &net));
    fire_message_free(p);
    CHECK_STR(fire_net_layer_name(net, 1), "first");
    fire_net_destroy(net);
}

TEST(layers_of_other_stages_do_not_belong_to_the_net)
{
    fire_net_options_t   o       = FIRE_NET_OPTIONS_INIT;
    const char          *stage[] = {"deploy"};
    Caffe__NetParameter *p =
        net_param("layer { name: 'a' type: 'Input' top: 'a' input_param { shape { dim: "
                  "1 } } } layer { name: 'b' type: 'ReLU' bottom: 'a' top: 'b' include "
                  "{ stage: 'deploy' } }");
    fire_net_t *without, *with;

    CHECK_OK(fire_net_create(p, &o, &without));
    o.nstage = 1;
    o.stage  = stage;
    CHECK_OK(fire_net_create(p, &o, &with));
    CHECK_EQ(fire_net_nlayer(without), 1);
    CHECK_EQ(fire_net_nlayer(with), 2);
    fire_net_destroy(without);
    fire_net_destroy(with);
    fire_message_free(p);
}

TEST(an_output_of_another_size_than_at_first_is_not_read)
{
    fire_net_t *net =
        net_make("layer { name: 'in' type: 'Input' top: 'x' input_param { "
                 "shape { dim: 2 } } }",
                 CAFFE__PHASE__TEST);
    const float *x;

    CHECK_OK(fire_net_read_output(net, 0, FIRE_CPU, &x));
    CHECK(x != NULL);
    CHECK_OK(fire_blob_reshape(fire_net_find_blob(net, "x"), 1, (int64_t[]){3}));
    CHECK_OK(fire_net_read_output(net, 0, FIRE_CPU, &x));
    CHECK(x == NULL);
    fire_net_destroy(net);
}

TEST(a_precision_that_the_cpu_lacks_is_refused)
{
    fire_net_options_t   o = FIRE_NET_OPTIONS_INIT;
    Caffe__NetParameter *p = net_file("two_products");
    fire_net_t          *net;

    o.ctx.precision = FIRE_F16;
    CHECK_FAILS(fire_net_create(p, &o, &net), FIRE_ERR_UNSUPPORTED, "fp16 is for GPUs");
    fire_message_free(p);
}
