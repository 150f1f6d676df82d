/* Weights from and to models, and shared between nets. */
#include "nets.h"

#include "model/load.h"

/* All weights and biases of a net become this value. */
static void set_params(fire_net_t *net, float value)
{
    for (int i = 0; i < fire_net_nparam(net); i++)
        CHECK_OK(fire_blob_set(fire_net_param(net, i)->blob, FIRE_DATA, value));
}

static float first_value(fire_net_t *net, int param)
{
    const float *x;

    CHECK_OK(fire_blob_read(fire_net_param(net, param)->blob, FIRE_DATA, FIRE_CPU, &x));
    return x[0];
}

TEST(weights_are_saved_and_loaded_by_the_names_of_layers)
{
    fire_net_t          *from = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    fire_net_t          *to   = net_make_file("two_products", CAFFE__PHASE__TEST);
    Caffe__NetParameter *saved;

    set_params(from, 42);
    CHECK_OK(fire_net_save(from, false, &saved));
    CHECK_OK(fire_net_load(to, saved, "x.caffemodel"));
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(first_value(to, i), 42, 0);
    fire_message_free(saved);
    fire_net_destroy(from);
    fire_net_destroy(to);
}

TEST(gradients_are_saved_on_request)
{
    fire_net_t          *net = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    Caffe__NetParameter *without, *with;

    CHECK_OK(fire_blob_set(fire_net_param(net, 0)->blob, FIRE_DIFF, 5));
    CHECK_OK(fire_net_save(net, false, &without));
    CHECK_OK(fire_net_save(net, true, &with));
    CHECK_EQ(without->layer[1]->blobs[0]->n_diff, 0);
    CHECK_EQ(with->layer[1]->blobs[0]->n_diff, 12);
    CHECK_NEAR(with->layer[1]->blobs[0]->diff[11], 5, 0);
    fire_message_free(without);
    fire_message_free(with);
    fire_net_destroy(net);
}

/* A caffemodel of the same net, changed by the caller. */
static Caffe__NetParameter *model(void)
{
    fire_net_t          *net = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    Caffe__NetParameter *saved;

    set_params(net, 42);
    CHECK_OK(fire_net_save(net, false, &saved));
    fire_net_destroy(net);
    return saved;
}

static void rename_layer(Caffe__LayerParameter *l, const char *name)
{
    CHECK(strlen(name) <= strlen(l->name));
    memcpy(l->name, name, strlen(name) + 1);
}

TEST(layers_that_only_one_side_has_are_left_alone)
{
    fire_net_t          *net   = net_make_file("two_products", CAFFE__PHASE__TEST);
    Caffe__NetParameter *saved = model();

    rename_layer(saved->layer[1], "other");
    CHECK_OK(fire_net_load(net, saved, "x.caffemodel"));
    CHECK_NEAR(first_value(net, 0), 0.5, 0);
    CHECK_NEAR(first_value(net, 1), 42, 0);
    fire_message_free(saved);
    fire_net_destroy(net);
}

TEST(a_model_is_asked_whether_it_has_all_parameters)
{
    fire_net_t          *net      = net_make_file("two_products", CAFFE__PHASE__TEST);
    Caffe__NetParameter *saved[2] = {model(), model()};

    CHECK(!fire_net_is_in(net, 0, saved));
    CHECK(fire_net_is_in(net, 1, saved));
    rename_layer(saved[0]->layer[1], "other");
    CHECK(!fire_net_is_in(net, 1, saved));
    rename_layer(saved[1]->layer[3], "other");
    CHECK(fire_net_is_in(net, 2, saved));
    fire_message_clear_field(saved[1]->layer[1]->blobs[0], "data");
    fire_message_clear_field(saved[1]->layer[1]->blobs[0], "shape");
    CHECK(!fire_net_is_in(net, 2, saved));
    for (int i = 0; i < 2; i++)
        fire_message_free(saved[i]);
    fire_net_destroy(net);
}

TEST(weights_of_another_shape_are_refused_with_advice)
{
    fire_net_t          *net   = net_make_file("two_products", CAFFE__PHASE__TEST);
    Caffe__NetParameter *saved = model();

    saved->layer[1]->blobs[0]->shape->dim[0] = 6;
    saved->layer[1]->blobs[0]->shape->dim[1] = 2;
    CHECK_FAILS(
        fire_net_load(net, saved, "x.caffemodel"), FIRE_ERR_INVALID,
        "x.caffemodel: cannot copy parameter 0 of layer \"first\": its shape is "
        "6 2 (12) in the file, 4 3 (12) in the net");
    CHECK(strstr(fire_last_error(), "rename it") != NULL);
    fire_message_free(saved);
    fire_net_destroy(net);
}

TEST(another_number_of_parameters_is_refused)
{
    fire_net_t          *net   = net_make_file("two_products", CAFFE__PHASE__TEST);
    Caffe__NetParameter *saved = model();

    rename_layer(saved->layer[1], "none");
    rename_layer(saved->layer[3], "first");
    CHECK_FAILS(fire_net_load(net, saved, "x.caffemodel"), FIRE_ERR_INVALID,
                "layer \"first\" has 2 parameters in the file, 1 in the net");
    fire_message_free(saved);
    fire_net_destroy(net);
}

TEST(a_test_net_shares_the_weights_of_the_training_net)
{
    fire_net_t *train = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    fire_net_t *test  = net_make_file("two_products", CAFFE__PHASE__TEST);

    CHECK_OK(fire_net_share(test, train));
    set_params(train, 9);
    CHECK_NEAR(first_value(test, 2), 9, 0);
    fire_net_destroy(test);
    fire_net_destroy(train);
}

TEST(a_net_with_other_shapes_cannot_share)
{
    fire_net_t *train = net_make_file("two_products", CAFFE__PHASE__TRAIN);
    fire_net_t *other = net_make(
        "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: "
        "2 dim: 5 } } } layer { name: 'first' type: 'InnerProduct' bottom: "
        "'x' top: 'y' inner_product_param { num_output: 4 bias_term: false } }",
        CAFFE__PHASE__TEST);

    CHECK_FAILS(fire_net_share(other, train), FIRE_ERR_INVALID,
                "layer \"first\" cannot share parameter 0: shape 4 5 (20) in one net, "
                "4 3 (12)");
    fire_net_destroy(other);
    fire_net_destroy(train);
}
