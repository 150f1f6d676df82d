/* ONNX by the public headers alone. Tests src/onnx/export.c. */
#include <fire/fire.h>
#include "test.h"

static const char text[] = "layer { name: 'in' type: 'Input' top: 'x' input_param { "
                           "shape { dim: 2 dim: 3 } } } "
                           "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: "
                           "'y' inner_product_param { "
                           "  num_output: 4 } }";

TEST(a_net_is_exported_to_a_file)
{
    fire_onnx_export_config_t c = FIRE_ONNX_EXPORT_CONFIG_INIT;
    fire_net_t               *net;
    FILE                     *f;

    CHECK_OK(fire_net_from_text(text, strlen(text), NULL, &net));
    CHECK_OK(fire_onnx_export(net, test_path("a.onnx"), NULL));
    f = fopen(test_path("a.onnx"), "r");
    CHECK(f != NULL);
    fclose(f);
    c.size = 4;
    CHECK_FAILS(fire_onnx_export(net, test_path("b.onnx"), &c), FIRE_ERR_INVALID,
                "a config of 4 bytes");
    fire_net_destroy(net);
}

TEST(a_file_is_imported_to_a_folder)
{
    fire_onnx_import_config_t c   = FIRE_ONNX_IMPORT_CONFIG_INIT;
    fire_net_t               *net = NULL;

    CHECK_OK(fire_net_from_text(text, strlen(text), NULL, &net));
    CHECK_OK(fire_onnx_export(net, test_path("a.onnx"), NULL));
    fire_net_destroy(net);
    c.batch = 5;
    CHECK_OK(fire_onnx_import(test_path("a.onnx"), test_path("a"), &c));
    CHECK_OK(fire_net_from_file(test_path("a/deploy.prototxt"), NULL, &net));
    CHECK_OK(fire_net_load_file(net, test_path("a/net.caffemodel")));
    CHECK_EQ(fire_blob_dims(fire_net_find_blob(net, "y"))[0], 5);
    CHECK_EQ(fire_blob_dims(fire_net_find_blob(net, "y"))[1], 4);
    fire_net_destroy(net);
    c.size = 4;
    CHECK_FAILS(fire_onnx_import(test_path("a.onnx"), test_path("b"), &c),
                FIRE_ERR_INVALID, "a config of 4 bytes");
}

TEST(a_net_in_phase_train_is_not_exported)
{
    fire_net_config_t c = FIRE_NET_CONFIG_INIT;
    fire_net_t       *net;

    c.phase = FIRE_TRAIN;
    CHECK_OK(fire_net_from_text(text, strlen(text), &c, &net));
    CHECK_FAILS(fire_onnx_export(net, test_path("a.onnx"), NULL), FIRE_ERR_INVALID,
                "phase TEST");
    fire_net_destroy(net);
}
