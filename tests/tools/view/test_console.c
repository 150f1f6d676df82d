/* What a person sees, and glog's variables. */
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt"

TEST(quiet_and_minloglevel_silence_information)
{
    make_training();
    SH_OK(TRAIN " --quiet");
    CHECK_STR(ran.err, "");
    SH_OK(TRAIN " --minloglevel=1");
    CHECK_STR(ran.err, "");
    SH_OK("GLOG_minloglevel=2 " TRAIN);
    CHECK_STR(ran.err, "");
}

TEST(the_log_also_goes_to_a_file_when_asked_for)
{
    make_training();
    SH_OK("mkdir logs && " TRAIN " --log_dir logs 2>log");
    SH_OK("tail -n +4 logs/firecaffe.INFO | cmp - log");
    CHECK_HAS(read_file("logs/firecaffe.INFO"), "Log file created at: ");
    CHECK_EQ(count_files("logs/firecaffe.*.log.INFO.*"), 1);
    SH_OK("mkdir l2 && GLOG_log_dir=l2 caffe train -solver solver.prototxt");
    CHECK_EQ(count_files("l2/caffe.*.log.INFO.*"), 1);
    SH_OK("mkdir l3 && GLOG_log_dir=l3 GLOG_logtostderr=1 " TRAIN);
    CHECK_EQ(count_files("l3/*"), 0);
}

/* `script` gives the program a terminal. */
static void on_terminal(const char *environment)
{
    make_training();
    edit_file("solver.prototxt", "max_iter: 20", "max_iter: 300");
    if (sh("command -v script") != 0) test_skip("no script(1)");
    if (sh("script -qec true /dev/null") != 0)
        test_skip("no pseudo-terminal can be opened");
    SH_OK("%s script -qec '" TRAIN "' /dev/null", environment);
}

TEST(a_terminal_gets_a_progress_bar)
{
    on_terminal("TERM=xterm");
    CHECK_HAS(ran.out, "\rTraining [=");
    CHECK_HAS(ran.out, "images/s");
    CHECK_HAS(ran.out, "ETA ");
    CHECK_HAS(ran.out, "loss ");
}

TEST(a_pipe_gets_plain_lines)
{
    make_training();
    SH_OK(TRAIN);
    CHECK(strchr(ran.err, '\r') == NULL && strchr(ran.err, '\033') == NULL);
}

TEST(colours_can_be_refused)
{
    on_terminal("NO_COLOR=1");
    CHECK(strstr(ran.out, "\033[0m") == NULL);
}
