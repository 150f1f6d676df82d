#include "fixture.h"

TEST(lenet_has_its_known_number_of_parameters)
{
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt");
    CHECK_HAS(ran.out, "\nparameters          431,080\n");
    CHECK_HAS(ran.out, "1 x 20 x 24 x 24");
}

/* Figures of the FireCaffe paper's nets at batch 1024. */
TEST(volumes_and_arithmetic_follow_the_papers_definitions)
{
    SH_OK(
        "firecaffe net --model $SRC/models/nin_imagenet/deploy.prototxt --batch 1024");
    CHECK_HAS(ran.out, "with backward 6.76 TFLOP");
    CHECK_HAS(ran.out, "30.4 MB of weights, 5.79 GB of inputs");
    SH_OK("firecaffe net $SRC/models/vgg19/deploy.prototxt --batch 1024");
    CHECK_HAS(ran.out, "with backward 121 TFLOP");
    CHECK_HAS(ran.out, "575 MB of weights, 42.7 GB of inputs");
}

TEST(a_shape_replaces_data_that_are_not_there)
{
    SH_OK("firecaffe net $SRC/models/lenet/train_val.prototxt --phase TRAIN "
          "--shape data=64,1,28,28");
    CHECK_HAS(ran.out, "64 x 20 x 24 x 24");
    CHECK_HAS(ran.out, "SoftmaxWithLoss");
    SH_FAILS("no layer of",
             "firecaffe net $SRC/models/lenet/deploy.prototxt --shape x=1");
    SH_FAILS("write BLOB=N,C,H,W",
             "firecaffe net $SRC/models/lenet/deploy.prototxt --shape data=1,,2");
}

TEST(explain_tells_the_kernel_of_each_layer)
{
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt --explain "
          "--kernel Convolution=ref");
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt --explain "
          "--kernel Convolution=ref | grep -E '^conv1 +Convolution +ref$'");
}

TEST(coverage_lists_every_layer_type_of_caffe_that_is_known)
{
    SH_OK("firecaffe net --coverage");
    CHECK_HAS(ran.out, "\nConvolution ");
    CHECK_HAS(ran.out, "\nSoftmaxWithLoss ");
    CHECK_HAS(ran.out, " types\n");
}

TEST(every_setting_of_ours_has_a_flag)
{
    SH_OK("sed -n '/^message FireParameter/,/^}/ "
          "s/^ *optional [a-z0-9]* \\([a-z_]*\\) = .*/\\1/p' $SRC/proto/caffe.proto "
          ">fields;"
          "test -s fields; firecaffe train --help >help;"
          "while read -r f; do grep -q -- \"--$f \" help || { echo no --$f; exit 1; }; "
          "done <fields");
}
