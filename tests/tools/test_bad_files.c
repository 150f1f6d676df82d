/* Files and nets that cannot be used. Each ends with one message that names the file,
 * line or layer and says what to do, exit status 1, no crash and no half-written file.
 * Tests tools/flags/. */
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt --quiet"

static void no_leftovers(void)
{
    CHECK_EQ(count_files("*.tmp*"), 0);
    CHECK_EQ(count_files("snap_iter_*"), 0);
}

/* ---- files that are not there, or not what they should be ---- */

TEST(a_solver_file_that_is_missing)
{
    SH_FAILS("nowhere.prototxt", "firecaffe train --solver nowhere.prototxt");
    SH_FAILS("Need a solver definition", "firecaffe train");
}

TEST(a_net_file_that_is_missing)
{
    make_solver("");
    SH_FAILS("net.prototxt", TRAIN);
    no_leftovers();
}

TEST(a_directory_in_the_place_of_a_file)
{
    SH_FAILS("it is a directory", "firecaffe train --solver /");
}

TEST(a_misspelt_field)
{
    make_training();
    edit_file("solver.prototxt", "momentum", "momentun");
    SH_FAILS("solver.prototxt:6:1: ", TRAIN);
    CHECK_HAS(ran.err, "momentum");
    no_leftovers();
}

TEST(a_value_of_the_wrong_type)
{
    make_training();
    edit_file("net.prototxt", "num_output: 4", "num_output: \"four\"");
    SH_FAILS("net.prototxt:6:", TRAIN);
    no_leftovers();
}

/* As a damaged .caffemodel has them. */
TEST(weights_that_contradict_their_own_shape)
{
    static const char net[] =
        "layer { name: \"d\" type: \"Input\" top: \"d\"\n"
        "  input_param { shape { dim: 1 dim: 3 } } }\n"
        "layer { name: \"ip\" type: \"InnerProduct\" bottom: \"d\" top: \"ip\"\n"
        "  inner_product_param { num_output: 2 bias_term: false }\n"
        "  blobs { shape { dim: 2 dim: 3 } data: 1 } }\n";

    write_file("net.prototxt", net);
    SH_FAILS("parameter 0 of layer \"ip\": 1 values, but its shape has 6",
             "firecaffe net net.prototxt");
    edit_file("net.prototxt", "dim: 2 dim: 3", "dim: -2 dim: 3");
    SH_FAILS("parameter 0 of layer \"ip\": dimension 0 is -2",
             "firecaffe net net.prototxt");
    edit_file("net.prototxt", "dim: -2 dim: 3",
              "dim: 4611686018427387904 dim: 4611686018427387904");
    SH_FAILS("parameter 0 of layer \"ip\": dimension 1 is 4611686018427387904",
             "firecaffe net net.prototxt");
}

TEST(a_bracket_that_is_never_closed)
{
    make_training();
    edit_file("net.prototxt", "top: \"loss\" }", "top: \"loss\"");
    SH_FAILS("net.prototxt:", TRAIN);
}

TEST(a_file_that_is_no_text)
{
    SH_FAILS("solver.prototxt:1:",
             "head -c 300 /bin/sh >solver.prototxt; firecaffe train --solver "
             "solver.prototxt");
}

TEST(an_enum_value_that_does_not_exist)
{
    make_training();
    edit_file("net.prototxt", "backend: LMDB", "backend: SQLITE");
    SH_FAILS("net.prototxt:4:", TRAIN);
    CHECK_HAS(ran.err, "SQLITE");
}

/* ---- nets that cannot be ---- */

TEST(an_unknown_layer_type)
{
    make_training();
    edit_file("net.prototxt", "InnerProduct", "InerProduct");
    SH_FAILS("layer \"ip\"", TRAIN);
    CHECK_HAS(ran.err, "InerProduct");
    CHECK_HAS(ran.err, "InnerProduct");
}

TEST(a_bottom_that_nobody_makes)
{
    make_training();
    edit_file("net.prototxt", "bottom: \"data\"", "bottom: \"dato\"");
    SH_FAILS("dato", TRAIN);
    CHECK_HAS(ran.err, "\"ip\"");
}

TEST(shapes_that_do_not_fit_together)
{
    make_training();
    edit_file(
        "net.prototxt", "layer { name: \"accuracy\"",
        "layer { name: \"sum\" type: \"Eltwise\" bottom: \"ip\" bottom: \"data\" top: "
        "\"sum\" }\nlayer { name: \"accuracy\"");
    SH_FAILS("layer \"sum\" (Eltwise)", TRAIN);
}

TEST(a_kernel_larger_than_its_image)
{
    make_training();
    edit_file(
        "net.prototxt", "layer { name: \"ip\"",
        "layer { name: \"conv\" type: \"Convolution\" bottom: \"data\" top: \"conv\"\n"
        "convolution_param { num_output: 2 kernel_size: 11 } }\nlayer { name: "
        "\"ip\"");
    SH_FAILS("layer \"conv\" (Convolution)", TRAIN);
}

TEST(a_label_that_is_no_class)
{
    make_training();
    edit_file("net.prototxt", "num_output: 4", "num_output: 3");
    SH_FAILS("layer \"accuracy\" (Accuracy): label 3", TRAIN);
    make_solver("test_initialization: false\n");
    SH_FAILS("layer \"loss\" (SoftmaxWithLoss): label 3", TRAIN);
    no_leftovers();
}

TEST(a_batch_size_of_zero)
{
    make_training();
    edit_file("net.prototxt", "batch_size: 8", "batch_size: 0");
    SH_FAILS("batch_size", TRAIN);
}
