/* `firecaffe check-layer`: nets given and made, what is printed, and the exit status. */
#include "fixture.h"

#define PLUGINS     FIRE_BUILD_DIR "/tests/plugins/"
#define CHECK_LAYER "firecaffe check-layer "

TEST(the_example_plug_in_passes)
{
    SH_OK(CHECK_LAYER "--type RMSNorm --plugin " PLUGINS "rms_norm.so");
    CHECK_HAS(ran.out, "kernel ref\n  ok      gradients equal finite differences");
    CHECK_HAS(ran.out, "11 checks passed, 0 failed\n");
    SH_OK(CHECK_LAYER "$SRC/examples/plugin/rms_norm.prototxt --plugin " PLUGINS
                      "rms_norm.so --quiet");
    CHECK_STR(ran.out, "11 checks passed, 0 failed\n");
}

TEST(a_layer_with_a_fault_fails)
{
    SH_FAILS("2 of 23 checks of the layer failed",
             CHECK_LAYER "--type Wrong --plugin " PLUGINS "wrong.so --quiet "
                         "--settings \"wrong_param { fault: 'overwrite' }\"");
    CHECK_HAS(ran.out, "kernel fast\n  FAILED  backward adds to diffs of parameters");
}

TEST(layers_of_the_library_can_be_checked)
{
    SH_OK(CHECK_LAYER "--type Eltwise --bottom 2,3 --bottom 2,3 --quiet");
    SH_OK(CHECK_LAYER "--type SoftmaxWithLoss --bottom 4,5 --bottom 4 "
                      "--fill bottom1=0,5,int --quiet");
    SH_OK(CHECK_LAYER "--type Log --fill bottom0=1,2 --phase TEST --quiet");
}

TEST(wrong_flags_are_refused)
{
    SH_FAILS("give either a net file or --type", CHECK_LAYER);
    SH_FAILS("give either a net file or --type",
             CHECK_LAYER "--type ReLU net.prototxt");
    SH_FAILS("unknown layer type \"Relu\"; did you mean \"ReLU\"?",
             CHECK_LAYER "--type Relu");
    SH_FAILS("--fill \"x=2,1\": write BLOB=LOW,HIGH",
             CHECK_LAYER "--type ReLU --fill x=2,1");
    SH_FAILS("--fill \"x=1,2,3\": write BLOB=LOW,HIGH",
             CHECK_LAYER "--type ReLU --fill x=1,2,3");
    SH_FAILS("--step and --tolerance must be above 0",
             CHECK_LAYER "--type ReLU --step 0");
    SH_FAILS("the net around the layer:", CHECK_LAYER "--type ReLU --settings '{'");
    SH_FAILS("none.prototxt", CHECK_LAYER "none.prototxt");
}
