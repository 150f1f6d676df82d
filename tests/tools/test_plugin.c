/* Plug-ins through the program: the example trains, alone and on two workers, with the
 * same bits; how it is found; one message for each fault. Tests src/layers/plugin/ and
 * tools/flags/net.c. */
#include <stdlib.h>
#include "fixture.h"

#define PLUGINS  FIRE_BUILD_DIR "/tests/plugins/"
#define RMS_NORM PLUGINS "rms_norm.so"
#define TRAIN    "firecaffe train --solver solver.prototxt "

/* The fixture's net with an RMSNorm before its InnerProduct. */
static void make_normalised(const char *more)
{
    make_training();
    make_solver(more);
    edit_file("net.prototxt", "bottom: \"data\" top: \"ip\"",
              "bottom: \"norm\" top: \"ip\"");
    edit_file(
        "net.prototxt", "layer { name: \"ip\"",
        "layer { name: \"norm\" type: \"RMSNorm\" bottom: \"data\" top: \"norm\"\n"
        "  rms_norm_param { eps: 1e-4 } }\nlayer { name: \"ip\"");
}

TEST(the_example_trains_alike_on_one_and_two_workers)
{
    make_normalised("fire { lanes: 2 }\n");
    SH_OK(TRAIN "--plugin " RMS_NORM " 2>log && mkdir one && mv snap_iter_* one");
    SH_OK("grep -q 'Test net output #0: accuracy = 1$' log");
    SH_OK(TRAIN "--plugin " RMS_NORM " --workers 2 && "
                "cmp snap_iter_20.caffemodel one/snap_iter_20.caffemodel && "
                "cmp snap_iter_20.solverstate one/snap_iter_20.solverstate");
}

TEST(gamma_learns_and_a_snapshot_holds_the_settings)
{
    make_normalised("snapshot: 10\n");
    SH_OK(TRAIN "--plugin " RMS_NORM " && mkdir straight && "
                "mv snap_iter_20.caffemodel straight && "
                "firecaffe train --solver solver.prototxt --plugin " RMS_NORM
                " --snapshot snap_iter_10.solverstate && "
                "cmp snap_iter_20.caffemodel straight/snap_iter_20.caffemodel");
    SH_OK("grep -aq 'rms_norm_param' snap_iter_20.caffemodel");
    SH_OK("firecaffe test --model net.prototxt --weights snap_iter_20.caffemodel "
          "--iterations 8 --plugin " RMS_NORM " 2>log; grep -q 'accuracy = 1$' log");
    SH_OK("firecaffe time --model net.prototxt --iterations 2 --plugin " RMS_NORM);
}

TEST(the_environment_and_the_solver_name_plug_ins_too)
{
    make_normalised("");
    SH_OK("FIRE_PLUGINS=" RMS_NORM " " TRAIN "&& mkdir flag && mv snap_iter_* flag");
    make_solver("fire { plugin: \"" RMS_NORM "\" }\n");
    SH_OK(TRAIN "&& cmp snap_iter_20.caffemodel flag/snap_iter_20.caffemodel");
    SH_OK("cp " RMS_NORM " here.so && firecaffe net net.prototxt --plugin here.so");
    CHECK_HAS(ran.out, "norm                       RMSNorm          8 x 1 x 8 x 8");
}

/* The solver in a run directory names plug-ins by absolute paths, for `report` and
 * `--repeat`. */
TEST(a_run_directory_tells_which_plug_ins_it_needs)
{
    make_normalised("");
    SH_OK("cp " RMS_NORM " here.so && " TRAIN "--plugin here.so --run_dir run");
    SH_OK("grep -q 'plugin: \"/.*/here.so\"' run/solver.prototxt");
    SH_OK("firecaffe report run --trust -o run.html 2>log; ! grep -q confusion log");
    SH_FAILS("here.so\", which is a program", "firecaffe train --repeat run");
    SH_OK("firecaffe train --repeat run --trust && "
          "cmp run/snap_iter_20.caffemodel run-repeated/snap_iter_20.caffemodel");
}

TEST(coverage_lists_the_types_of_plug_ins)
{
    SH_OK("firecaffe net --coverage --plugin " RMS_NORM);
    CHECK_HAS(ran.out, "of plug-in rms_norm (" RMS_NORM "): RMSNorm: division by");
    CHECK_HAS(ran.out, "\nRMSNorm                  ref ");
    CHECK_HAS(ran.out, "BVLC Caffe: 61 of 61 types");
    CHECK_HAS(ran.out, "\nothers: ");
}

TEST(kernels_of_a_plug_in_can_be_asked_for)
{
    make_normalised("");
    SH_OK(
        "firecaffe net net.prototxt --explain --kernel RMSNorm=ref --plugin " RMS_NORM);
    CHECK_HAS(ran.out, "norm                       RMSNorm          ref");
    SH_FAILS("--kernel RMSNorm=fast: there is no such kernel",
             "firecaffe net net.prototxt --kernel RMSNorm=fast --plugin " RMS_NORM);
}

TEST(each_fault_is_one_clear_message)
{
    make_normalised("");
    SH_FAILS("layer \"norm\" (RMSNorm): unknown layer type \"RMSNorm\"", TRAIN);
    SH_FAILS("cannot load plug-in none.so: No such file or directory",
             TRAIN "--plugin none.so");
    SH_FAILS("version.so: is made for version 2 of the plug-in interface, this library",
             TRAIN "--plugin " PLUGINS "version.so");
    SH_FAILS("no_entry.so: has no entry; it must define",
             TRAIN "--plugin " PLUGINS "no_entry.so");
    SH_FAILS("taken.so: the layer type \"ReLU\" is taken by the library itself",
             TRAIN "--plugin " PLUGINS "taken.so");
    edit_file("net.prototxt", "eps: 1e-4", "esp: 1e-4");
    SH_FAILS(
        "net.prototxt: layer \"norm\" (RMSNorm): rms_norm_param has no key \"esp\"; "
        "did you mean \"eps\"?",
        "firecaffe net net.prototxt --plugin " RMS_NORM);
    edit_file("net.prototxt", "esp: 1e-4", "eps: \"small\"");
    SH_FAILS("rms_norm_param: eps needs a number, not \"small\"",
             "firecaffe net net.prototxt --plugin " RMS_NORM);
    edit_file("net.prototxt", "eps: \"small\"", "eps: 0");
    SH_FAILS("layer \"norm\" (RMSNorm): eps is 0; it must be above 0",
             "firecaffe net net.prototxt --plugin " RMS_NORM);
}
