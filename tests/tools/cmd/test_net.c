/* firecaffe net: layers, shapes, kernels, coverage. */
#include "fixture.h"

TEST(lenet_has_its_known_number_of_parameters)
{
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt");
    CHECK_HAS(ran.out, "\nparameters          431,080\n");
    CHECK_HAS(ran.out, "1 x 20 x 24 x 24");
}

/* Learned weights; running statistics are not counted. Data need not be there. */
TEST(every_included_net_loads_with_its_known_number_of_parameters)
{
    static const char *const nets[][2] = {
        {"lenet", "431,080"},          {"alexnet", "60,965,224"},
        {"caffenet", "60,965,224"},    {"vgg16", "138,357,544"},
        {"vgg19", "143,667,240"},      {"googlenet", "13,378,280"},
        {"nin_imagenet", "7,595,176"}, {"squeezenet", "1,235,496"},
        {"resnet18", "11,689,512"},    {"resnet50", "25,557,032"},
        {"resnet101", "44,549,160"},   {"resnet152", "60,192,808"},
        {"mobilenet_v1", "4,231,976"}, {"mobilenet_v2", "3,504,872"},
        {"cifar10_quick", "145,578"},  {"cifar10_full", "89,578"},
        {"nin_cifar10", "966,986"},
    };

    for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
        char want[64];

        SH_OK("firecaffe net --model $SRC/models/%s/train_val.prototxt --phase TRAIN "
              "--batch 1",
              nets[i][0]);
        snprintf(want, sizeof(want), "\nparameters          %s", nets[i][1]);
        CHECK_HAS(ran.out, want);
    }
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
    SH_OK("firecaffe net $SRC/models/lenet/train_val.prototxt --phase TRAIN "
          "--shape data=64,1,28,28 --shape label=64,1");
    CHECK_HAS(ran.out, "64 x 20 x 24 x 24");
    SH_FAILS("no data layer of",
             "firecaffe net $SRC/models/lenet/deploy.prototxt --shape x=1");
    SH_FAILS("write BLOB=N,C,H,W",
             "firecaffe net $SRC/models/lenet/deploy.prototxt --shape data=1,,2");
}

TEST(another_batch_reaches_every_kind_of_data_layer)
{
    write_file(
        "net.prototxt",
        "layer { name: \"m\" type: \"MemoryData\" top: \"m\" top: \"l\"\n"
        "  memory_data_param { batch_size: 2 channels: 3 height: 4 width: 5 } }\n"
        "layer { name: \"d\" type: \"DummyData\" top: \"d\"\n"
        "  dummy_data_param { shape { dim: 2 dim: 9 } } }\n"
        "layer { name: \"old\" type: \"DummyData\" top: \"o\"\n"
        "  dummy_data_param { num: 2 channels: 1 height: 1 width: 8 } }\n");
    SH_OK("firecaffe net net.prototxt --batch 6");
    CHECK_HAS(ran.out, " 6 x 3 x 4 x 5 ");
    CHECK_HAS(ran.out, " 6 x 9 ");
    CHECK_HAS(ran.out, " 6 x 1 x 1 x 8 ");
    write_file("none.prototxt", "layer { name: \"p\" type: \"Parameter\" top: \"p\"\n"
                                "  parameter_param { shape { dim: 3 } } }\n");
    SH_OK("firecaffe net none.prototxt");
    SH_FAILS("none.prototxt: no layer has a batch size",
             "firecaffe net none.prototxt --batch 6");
}

TEST(explain_tells_the_kernel_of_each_layer)
{
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt --explain "
          "--kernel Convolution=ref");
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt --explain "
          "--kernel Convolution=ref | grep -E '^conv1 +Convolution +ref$'");
}

TEST(explain_tells_once_that_kernels_need_a_gpu)
{
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt --explain");
    CHECK(strstr(ran.out, "needs a GPU") == NULL);
    CHECK_HAS(ran.out, "kernels for GPUs are not shown: they need --gpu\n");
}

TEST(missing_images_of_unknown_shape_are_asked_for)
{
    write_file("net.prototxt",
               "layer { name: \"d\" type: \"Data\" top: \"data\" top: \"label\"\n"
               "  data_param { source: \"nowhere\" batch_size: 4 backend: LMDB } }\n");
    SH_FAILS("cannot read LMDB \"nowhere\"", "firecaffe net net.prototxt");
    CHECK_HAS(ran.err, "give the shape of its images: --shape data=N,C,H,W");
    SH_OK("firecaffe net net.prototxt --shape data=4,3,8,8");
}

/* Filling CaffeNet's takes a second, and is of no use for its shapes. */
TEST(weights_get_no_values_for_a_table)
{
    write_file("net.prototxt",
               "layer { name: \"p\" type: \"Parameter\" top: \"p\" parameter_param {\n"
               "  shape { dim: 3 } } }\n"
               "layer { name: \"i\" type: \"InnerProduct\" bottom: \"p\" top: \"i\"\n"
               "  inner_product_param { num_output: 2 axis: 0 weight_filler {\n"
               "    type: \"gausian\" } } }\n");
    SH_FAILS("unknown filler \"gausian\"", "firecaffe net net.prototxt");
}

TEST(explain_counts_conversions_between_formats)
{
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt --explain --kernel all=ref");
    CHECK_HAS(ran.out, "all                        0 in a pass forward\n");
}

TEST(the_table_ends_with_the_memory_that_a_pass_needs)
{
    SH_OK("firecaffe net $SRC/models/lenet/deploy.prototxt --batch 1");
    CHECK_HAS(ran.out, "memory              61.4 kB of blobs at most, when running; ");
    CHECK_HAS(ran.out, "1.72 MB of parameters\n");
}

TEST(coverage_shows_that_every_layer_type_is_tested)
{
    SH_OK("firecaffe net --coverage");
    CHECK_HAS(ran.out, "\nConvolution ");
    CHECK_HAS(ran.out, "BVLC Caffe: 61 of 61 types; ref kernel 61, ");
    CHECK_HAS(ran.out, "golden 61 (60 recorded, 1* computed), gradient 50 of the 50 "
                       "that have one, wrong use 61\n");
    SH_OK(
        "firecaffe net --coverage | sed -n '/^others/{N;s/\\n *//;p}' >others;"
        "grep -qE '^others: ([0-9]+) of \\1 types; ref kernel \\1, .*;golden \\1 \\(0 "
        "recorded, \\1\\* computed\\), gradient ([0-9]+) of the \\2 that have one, "
        "wrong use \\1$' others");
}

/* Each row ends with the numbers of golden, gradient and wrong cases. */
TEST(no_column_of_the_coverage_is_empty_for_any_type)
{
    SH_OK("firecaffe net --coverage >table;"
          "sed -n '2,/^BVLC/p' table | sed 's/\\([0-9]\\)  [A-Za-z].*$/\\1/' |"
          "grep '^[A-Z].* [0-9]*$' | grep -v BVLC >rows;"
          "test $(wc -l <rows) = "
          "$(awk '/ types;/ {sub(/.*: /, \"\"); sum += $1} END {print sum}' table);"
          "awk '$2 != \"ref\" || $(NF-2) !~ /^[1-9][0-9]*\\*?$/ || "
          "$(NF-1) !~ /^([1-9][0-9]*|-)$/ || $NF !~ /^[1-9][0-9]*$/ "
          "{print; bad = 1} END {exit bad}' rows >&2");
}

TEST(coverage_names_the_fork_of_every_type_that_bvlc_has_not)
{
    SH_OK("firecaffe net --coverage >table; grep -q '^Correlation .*  FlowNet2$' table;"
          "sed -n '/^of Caffe/,/^$/p' table | grep '^[A-Z]' >forks; test -s forks;"
          "! grep -v '[0-9]  [A-Za-z]' forks");
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
