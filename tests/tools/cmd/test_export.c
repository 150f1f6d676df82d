/* firecaffe export onnx as a user runs it. */
#include "program.h"

TEST(export_writes_a_model)
{
    SH_OK("firecaffe export onnx $SRC/models/lenet/deploy.prototxt -o lenet.onnx");
    CHECK(strstr(ran.out, "wrote lenet.onnx") != NULL);
    CHECK(file_exists("lenet.onnx"));
    SH_OK("firecaffe export onnx --model $SRC/models/lenet/deploy.prototxt -o e.onnx "
          "--batch 4 --opset 13 --fold --external");
    CHECK(file_exists("e.onnx.data"));
}

TEST(export_of_a_training_net_takes_shapes_for_its_data)
{
    write_file(
        "net.prototxt",
        "layer { name: 'd' type: 'Data' top: 'x' top: 'label' transform_param { scale: "
        "0.5 } data_param { source: 'nowhere' batch_size: 4 } } "
        "layer { name: 'ip' type: 'InnerProduct' bottom: 'x' top: 'y' "
        "inner_product_param { num_output: 2 } }");
    SH_OK("firecaffe export onnx net.prototxt -o n.onnx --shape x=4,3,5,5 "
          "--with_transform");
    CHECK(file_exists("n.onnx"));
}

TEST(export_says_what_is_wrong)
{
    write_file(
        "bad.prototxt",
        "layer { name: 'in' type: 'Input' top: 'x' input_param { shape { dim: 1 dim: 3 "
        "dim: 4 dim: 4 } } } layer { name: 'col' type: 'Im2col' bottom: 'x' top: 'y' "
        "convolution_param { kernel_size: 3 } }");
    SH_FAILS("bad.prototxt: layer \"col\" (Im2col): ONNX has no operator",
             "firecaffe export onnx bad.prototxt -o bad.onnx");
    CHECK(!file_exists("bad.onnx"));
    SH_OK("firecaffe export onnx bad.prototxt -o good.onnx --custom_ops");
    SH_FAILS("Need a file to write", "firecaffe export onnx bad.prototxt");
    SH_FAILS("--opset must be 13 to 22",
             "firecaffe export onnx bad.prototxt -o b.onnx --opset 9");
    SH_FAILS("--batch \"many\"",
             "firecaffe export onnx bad.prototxt -o b.onnx --batch many");
}
