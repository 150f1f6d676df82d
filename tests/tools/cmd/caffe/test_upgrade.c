/* firecaffe upgrade: old files in the present format. */
#include "fixture.h"

static const char old_net[] =
    "name: \"old\"\ninput: \"data\"\ninput_dim: 1\ninput_dim: 1\ninput_dim: 4\n"
    "input_dim: 4\n"
    "layers { name: \"conv\" type: CONVOLUTION bottom: \"data\" top: \"conv\"\n"
    "  blobs_lr: 1 blobs_lr: 2 convolution_param { num_output: 2 kernel_size: 3 } }\n";

TEST(an_old_net_is_written_in_todays_format)
{
    write_file("old.prototxt", old_net);
    SH_OK("upgrade_net_proto_text old.prototxt new.prototxt");
    CHECK_HAS(read_file("new.prototxt"), "type: \"Convolution\"");
    CHECK_HAS(read_file("new.prototxt"), "type: \"Input\"");
    CHECK_HAS(read_file("new.prototxt"), "lr_mult: 2");
    SH_OK("firecaffe upgrade net_proto_text new.prototxt again.prototxt && "
          "cmp new.prototxt again.prototxt");
}

TEST(an_old_solver_is_written_in_todays_format)
{
    write_file("old.prototxt", "net: \"x\"\nsolver_type: ADAM\nbase_lr: 0.1\n");
    SH_OK("upgrade_solver_proto_text old.prototxt new.prototxt");
    CHECK_HAS(read_file("new.prototxt"), "type: \"Adam\"");
    CHECK(strstr(read_file("new.prototxt"), "solver_type") == NULL);
}

TEST(a_model_goes_through_unharmed)
{
    make_training();
    SH_OK("caffe train -solver solver.prototxt && "
          "upgrade_net_proto_binary snap_iter_20.caffemodel new.caffemodel");
    SH_OK("caffe test -model net.prototxt -weights new.caffemodel -iterations 8");
    CHECK_HAS(ran.err, "] accuracy = 1\n");
}

TEST(an_unknown_kind_is_refused)
{
    SH_FAILS("cannot upgrade a 'model'", "firecaffe upgrade model a b");
}
