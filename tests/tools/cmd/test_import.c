/* firecaffe import onnx as a user runs it. */
#include "program.h"

TEST(import_writes_a_net_that_runs)
{
    SH_OK("firecaffe export onnx $SRC/models/lenet/deploy.prototxt -o lenet.onnx");
    SH_OK("firecaffe import onnx lenet.onnx -o lenet --batch 2");
    CHECK(strstr(ran.out, "wrote lenet/deploy.prototxt") != NULL);
    SH_OK("firecaffe net lenet/deploy.prototxt --weights lenet/net.caffemodel");
    CHECK(strstr(ran.out, "2 x 10") != NULL);
    CHECK(file_exists("lenet/train_val.prototxt"));
    CHECK(file_exists("lenet/solver.prototxt"));
    SH_OK(
        "firecaffe net lenet/train_val.prototxt --phase TRAIN --shape data=4,1,28,28");
}

TEST(import_says_what_is_wrong)
{
    SH_FAILS("Need a folder", "firecaffe import onnx some.onnx");
    SH_FAILS("cannot open \"missing.onnx\"", "firecaffe import onnx missing.onnx -o d");
    write_file("text.onnx", "layer {}");
    SH_FAILS("text.onnx: ", "firecaffe import onnx text.onnx -o d");
    CHECK(!file_exists("d/deploy.prototxt"));
}
