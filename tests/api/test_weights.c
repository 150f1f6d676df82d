/* Weights from and to memory and HDF5 files, nets as text, shared parameters, by the
 * public headers alone. */
#include <fire/fire.h>
#include <stdlib.h>
#include "test.h"

static const char text[] =
    "name: 'two' "
    "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 2 } } "
    "} "
    "layer { name: 'a' type: 'InnerProduct' bottom: 'x' top: 'a' "
    "  param { name: 'w' } param { name: 'b' } "
    "  inner_product_param { num_output: 2 weight_filler { value: 1 } } } "
    "layer { name: 'c' type: 'InnerProduct' bottom: 'a' top: 'c' "
    "  param { name: 'w' } param { name: 'b' } inner_product_param { num_output: 2 } } "
    "layer { name: 'd' type: 'InnerProduct' bottom: 'a' top: 'd' "
    "  inner_product_param { num_output: 2 weight_filler { value: 1 } } "
    "  exclude { phase: TRAIN } }";

static fire_net_t *make(const char *prototxt)
{
    fire_net_t *net;

    CHECK_OK(fire_net_from_text(prototxt, strlen(prototxt), NULL, &net));
    return net;
}

static fire_blob_t *param(fire_net_t *net, const char *layer, int i)
{
    return fire_net_layer_param(net, fire_net_layer_number(net, layer), i);
}

static float *values(fire_blob_t *b, fire_part_t part)
{
    float *x;

    CHECK_OK(fire_blob_update(b, part, FIRE_CPU, &x));
    return x;
}

TEST(weights_go_through_memory)
{
    fire_net_t  *from = make(text), *to = make(text), *third;
    fire_view_t *seen;
    void        *bytes;
    size_t       n;

    values(param(from, "a", 0), FIRE_DATA)[3] = 7;
    values(param(from, "d", 1), FIRE_DATA)[1] = 8;
    CHECK_OK(fire_blob_view(param(to, "a", 0), FIRE_DATA, FIRE_CPU, &seen));
    CHECK_OK(fire_net_save_message(from, true, &bytes, &n));
    CHECK_OK(fire_net_load_message(to, bytes, n));
    CHECK(fire_view_values(seen)[3] == 7);
    CHECK(values(param(to, "c", 0), FIRE_DATA)[3] == 7);
    CHECK(values(param(to, "d", 1), FIRE_DATA)[1] == 8);
    CHECK_OK(fire_net_from_message(bytes, n, NULL, &third));
    CHECK(values(param(third, "d", 1), FIRE_DATA)[1] == 8);
    CHECK(fire_net_load_message(to, "\xff", 1) == FIRE_ERR_PARSE);
    fire_free(bytes);
    fire_free(NULL);
    fire_view_destroy(seen);
    fire_net_destroy(from);
    fire_net_destroy(to);
    fire_net_destroy(third);
}

TEST(weights_go_through_hdf5_files_of_any_name)
{
    fire_net_t *from = make(text), *to = make(text);
    FILE       *f;

    values(param(from, "a", 0), FIRE_DATA)[3] = 7;
    values(param(from, "a", 0), FIRE_DIFF)[2] = 5;
    if (fire_net_save_hdf5(from, test_path("weights"), true) == FIRE_ERR_UNSUPPORTED)
        test_skip("a build without HDF5");
    CHECK_OK(fire_net_save_hdf5(from, test_path("weights"), true));
    CHECK_OK(fire_net_load_hdf5(to, test_path("weights")));
    CHECK(values(param(to, "c", 0), FIRE_DATA)[3] == 7);
    f = fopen(test_path("bad"), "w");
    CHECK(f != NULL && fputs("no HDF5", f) > 0 && fclose(f) == 0);
    CHECK(fire_net_load_hdf5(to, test_path("bad")) < 0);
    CHECK(strstr(fire_last_error(), "bad") != NULL);
    fire_net_destroy(from);
    fire_net_destroy(to);
}

TEST(the_text_of_a_net_gives_the_same_net_without_weights)
{
    fire_net_t *net = make(text), *again;
    char       *prototxt, *other;
    void       *bytes;
    size_t      n;

    CHECK_OK(fire_net_save_text(net, &prototxt));
    again = make(prototxt);
    CHECK(strcmp(fire_net_name(again), "two") == 0);
    CHECK_EQ(fire_net_nlayer(again), fire_net_nlayer(net));
    CHECK(fire_net_layer_number(again, "a_a_0_split") > 0);
    CHECK(param(again, "c", 0) != NULL);
    CHECK_OK(fire_net_save_message(net, false, &bytes, &n));
    fire_net_destroy(net);
    CHECK_OK(fire_net_from_message(bytes, n, NULL, &net));
    CHECK_OK(fire_net_save_text(net, &other));
    CHECK(strcmp(prototxt, other) == 0);
    CHECK(strstr(other, "blobs") == NULL);
    fire_free(bytes);
    fire_free(prototxt);
    fire_free(other);
    fire_net_destroy(net);
    fire_net_destroy(again);
}

TEST(one_parameter_is_shared_by_all_layers_that_use_it)
{
    const int64_t dim[] = {2, 2};
    fire_net_t   *net   = make(text);
    fire_blob_t  *w;

    CHECK_OK(fire_blob_create(&w));
    CHECK(fire_net_share_param(net, fire_net_layer_number(net, "a"), 0, w) ==
          FIRE_ERR_INVALID);
    CHECK(strstr(fire_last_error(), "2 2 (4)") != NULL);
    CHECK_OK(fire_blob_reshape(w, 2, dim));
    CHECK_OK(fire_net_share_param(net, fire_net_layer_number(net, "a"), 0, w));
    values(w, FIRE_DATA)[1] = 3;
    CHECK(values(param(net, "c", 0), FIRE_DATA)[1] == 3);
    CHECK(values(param(net, "d", 0), FIRE_DATA)[1] == 1);
    fire_blob_destroy(w);
    CHECK(values(param(net, "a", 0), FIRE_DATA)[1] == 3);
    fire_net_destroy(net);
}

TEST(a_net_tells_its_inputs_and_loss_weights)
{
    fire_net_t *net = make(
        "input: 'p' input_shape { dim: 1 } input: 'q' input_shape { dim: 1 } "
        "layer { name: 'l' type: 'EuclideanLoss' bottom: 'p' bottom: 'q' top: 'loss' "
        "loss_weight: 0.5 }");

    CHECK_EQ(fire_net_ninput(net), 2);
    CHECK(strcmp(fire_net_blob_name(net, fire_net_input(net, 1)), "q") == 0);
    CHECK_EQ(fire_net_noutput(net), 1);
    CHECK(fire_net_loss_weight(net, fire_net_output(net, 0)) == 0.5f);
    CHECK(fire_net_loss_weight(net, fire_net_input(net, 0)) == 0);
    fire_net_destroy(net);
}

TEST(a_memory_data_layer_reads_arrays_of_the_caller)
{
    static const float data[] = {1, 2, 3, 4}, labels[] = {5, 6, 7, 8};
    fire_net_t        *net = make(
               "layer { name: 'm' type: 'MemoryData' top: 'x' top: 'y' memory_data_param { "
                      "batch_size: 2 channels: 1 height: 1 width: 1 } } "
                      "layer { name: 's' type: 'Silence' bottom: 'x' bottom: 'y' }");

    CHECK(fire_net_forward(net, 0, -1, NULL) == FIRE_ERR_INVALID);
    CHECK_OK(fire_net_set_arrays(net, 0, data, labels, 4));
    CHECK_OK(fire_net_forward(net, 0, -1, NULL));
    CHECK(values(fire_net_find_blob(net, "x"), FIRE_DATA)[1] == 2);
    CHECK(values(fire_net_find_blob(net, "y"), FIRE_DATA)[1] == 6);
    CHECK(fire_net_set_arrays(net, 0, data, labels, 3) == FIRE_ERR_INVALID);
    CHECK(strstr(fire_last_error(), "layer \"m\"") != NULL);
    CHECK(fire_net_set_arrays(net, 1, data, labels, 4) == FIRE_ERR_INVALID);
    CHECK(strstr(fire_last_error(), "only MemoryData") != NULL);
    fire_net_destroy(net);
}
