/* Caffe's own tools: every one, and every flag of each. Tests tools/cmd/time.c,
 * tools/flags/caffe.c and tools/cmd/caffe/. */
#include "fixture.h"

/* Each line: a tool, then its flags as Caffe documents them. */
static const char tools[] =
    "caffe train: gpu solver level stage snapshot weights sigint_effect sighup_effect\n"
    "caffe test: gpu model level stage weights iterations\n"
    "caffe time: gpu model phase level stage iterations\n"
    "caffe device_query: gpu\n"
    "convert_imageset: gray shuffle backend resize_width resize_height check_size "
    "encoded encode_type\n"
    "compute_image_mean: backend\n"
    "convert_mnist_data: backend\n"
    "classify.py: model_def pretrained_model gpu center_only images_dim mean_file "
    "input_scale raw_scale channel_swap ext\n"
    "detect.py: model_def pretrained_model crop_mode gpu mean_file input_scale "
    "raw_scale "
    "channel_swap context_pad\n"
    "draw_net.py: rankdir phase display_lrm\n"
    "train.py: solver snapshot timing\n"
    "parse_log.py: verbose delimiter\n"
    "resize_and_crop_images.py: image_lib input_folder output_folder "
    "output_side_length num_clients input\n"
    "summarize.py: max_width\n";

TEST(every_flag_of_caffes_tools_is_explained)
{
    SH_OK("cat >tools.txt <<'END'\n%sEND\n"
          "while IFS=: read -r tool flags; do\n"
          "  $tool --help >help || exit 1\n"
          "  for f in $flags; do grep -q -- \"--$f\" help ||"
          " { echo \"$tool: no --$f\"; exit 1; }; done\n"
          "done <tools.txt",
          tools);
}

TEST(caffe_takes_all_of_its_flags_with_every_command)
{
    SH_OK("caffe time -model $SRC/models/lenet/deploy.prototxt -iterations=1 "
          "-solver unused -sigint_effect none -snapshot unused 2>&1");
    CHECK_HAS(ran.out, "*** Benchmark ends ***");
    SH_FAILS("unknown flag --snapshot",
             "firecaffe time --model $SRC/models/lenet/deploy.prototxt --snapshot x");
}

TEST(flags_of_the_logging_library_are_accepted)
{
    SH_OK("caffe time -model $SRC/models/lenet/deploy.prototxt -iterations=1 "
          "-logtostderr=1 -stderrthreshold 0 -colorlogtostderr -vmodule=a=1 "
          "-max_log_size 10 -nolog_prefix -logbufsecs=0 2>&1");
    CHECK_HAS(ran.out, "*** Benchmark ends ***");
}

TEST(the_family_of_help_flags_gives_help)
{
    SH_OK(
        "for f in help helpshort helpfull helppackage helpxml helpon=x helpmatch=x; do "
        "caffe train --$f | grep -q '^usage:' || { echo $f; exit 1; }; done");
}

TEST(flags_can_come_from_files_and_variables)
{
    SH_OK("printf -- '--model=%%s\\n# a comment\\n--iterations=1\\n' "
          "$SRC/models/lenet/deploy.prototxt >flags; "
          "FLAGS_phase=TEST caffe time --flagfile=flags --fromenv=phase 2>&1");
    CHECK_HAS(ran.out, "*** Benchmark ends ***");
    SH_FAILS("--phase is TRAIN or TEST",
             "FLAGS_phase=WRONG caffe time --flagfile=flags --fromenv=phase");
}

TEST(tools_refuse_too_few_arguments_with_their_usage)
{
    SH_OK("for t in classification compute_image_mean convert_cifar_data "
          "convert_imageset convert_mnist_data convert_mnist_siamese_data "
          "extract_features upgrade_net_proto_binary upgrade_net_proto_text "
          "upgrade_solver_proto_text classify.py detect.py "
          "draw_net.py parse_log.py parse_log.sh extract_seconds.py summarize.py; do "
          "$t >out 2>&1 && { echo $t; exit 1; }; "
          "grep -q 'usage: firecaffe' out || { echo $t; cat out; exit 1; }; done");
}

/* create_mnist.sh, create_cifar10.sh and others call what Caffe's build leaves. */
TEST(programs_have_the_names_of_caffes_build)
{
    SH_OK("bin=$(dirname $(command -v firecaffe)); for p in tools/caffe.bin "
          "tools/extract_features.bin tools/convert_imageset.bin "
          "tools/compute_image_mean.bin examples/mnist/convert_mnist_data.bin "
          "examples/mnist/convert_mnist_data examples/cifar10/convert_cifar_data.bin "
          "examples/siamese/convert_mnist_siamese_data.bin "
          "examples/cpp_classification/classification.bin; do "
          "$bin/$p --help >out 2>&1 || { echo $p; cat out; exit 1; }; done");
    make_idx(4);
    SH_OK("$(dirname $(command -v firecaffe))/examples/mnist/convert_mnist_data.bin "
          "images.idx labels.idx db --backend=lmdb");
}
