/* What a training leaves behind, through the program: run directories, repeating,
 * reports, tables, pictures, the view in a terminal. Tests tools/cmd/watch.c too. */
#include <stdlib.h>
#include "fixture.h"

#define TRAIN "firecaffe train --solver solver.prototxt --quiet --run_dir run "

TEST(a_run_directory_keeps_log_snapshots_solver_and_net)
{
    make_training();
    SH_OK(TRAIN);
    SH_OK("cd run && ls run.jsonl solver.prototxt net.prototxt snap_iter_20.caffemodel "
          "snap_iter_20.solverstate");
    CHECK(!file_exists("snap_iter_20.caffemodel"));
    CHECK_HAS(read_file("run/solver.prototxt"), "net_param {");
    CHECK_HAS(read_file("run/run.jsonl"), "\"type\":\"end\"");
    CHECK_HAS(read_file("run/run.jsonl"), "\"status\":\"done\"");
}

TEST(a_run_is_repeated_to_the_last_bit_from_anywhere)
{
    make_training();
    SH_OK(TRAIN "--lanes 2");
    SH_OK("mkdir -p else && cd else && firecaffe train --repeat ../run --quiet");
    SH_OK("cmp run/snap_iter_20.caffemodel run-repeated/snap_iter_20.caffemodel");
    CHECK_HAS(read_file("run-repeated/solver.prototxt"), "lanes: 2");
    SH_OK("firecaffe train --repeat run --run_dir third --quiet");
    SH_OK("cmp run/snap_iter_20.caffemodel third/snap_iter_20.caffemodel");
}

/* Whatever the cores and variables of the machine on which it is repeated. */
TEST(repeating_keeps_the_number_of_threads)
{
    make_training();
    SH_OK("OMP_NUM_THREADS=2 " TRAIN);
    CHECK_HAS(read_file("run/run.jsonl"), "\"worker_threads\":2");
    SH_OK("OMP_NUM_THREADS=1 firecaffe train --repeat run --quiet");
    CHECK_HAS(read_file("run-repeated/run.jsonl"), "\"worker_threads\":2");
}

/* A run directory is data: what it says must not start or load anything. */
TEST(repeating_starts_nothing_that_the_run_names)
{
    make_training();
    SH_OK(TRAIN);
    edit_file("run/run.jsonl", "\"threads\":{",
              "\"threads\":{\"FIRE_PLUGINS\":\"evil.so\",\"OMP_NUM_THREADS\":\"x\"},\"old\":{");
    edit_file("run/run.jsonl", "\"command\":[\"firecaffe\",\"train\"",
              "\"command\":[\"/bin/false\",\"time\",\"--launcher\",\"touch "
              "started\",\"--plugin=evil.so\",\"--flagfile=evil.txt\",\"--stage\","
              "\"--launcher=touch started\",\"train\"");
    SH_OK("firecaffe train --repeat run --quiet 2>log");
    SH_OK("cmp run/snap_iter_20.caffemodel run-repeated/snap_iter_20.caffemodel");
    CHECK(!file_exists("started"));
    CHECK(strstr(read_file("log"), "evil") == NULL);
}

TEST(repeating_loads_code_only_if_the_user_says_so)
{
    make_training();
    SH_OK(TRAIN);
    SH_OK("cp run/solver.prototxt solver.txt");
    SH_OK("echo 'fire { plugin: \"evil.so\" }' >>run/solver.prototxt");
    SH_FAILS("add --trust", "firecaffe train --repeat run");
    SH_FAILS("cannot load plug-in evil.so", "firecaffe train --repeat run --trust");
    SH_OK("firecaffe report run -o page.html 2>log && grep -q 'add --trust' log");
    SH_OK("cp solver.txt run/solver.prototxt && sed -i 's/type: "
          "\"InnerProduct\"/type: \"Python\"/' run/solver.prototxt");
    SH_FAILS("in Python, which is a program", "firecaffe train --repeat run");
    SH_OK("cp solver.txt run/solver.prototxt && echo 'test_net: \"net.prototxt\"' "
          ">>run/solver.prototxt");
    SH_FAILS("names nets in other files", "firecaffe train --repeat run");
}

TEST(names_in_a_log_do_not_control_the_terminal)
{
    make_training();
    SH_OK(TRAIN);
    edit_file("run/run.jsonl", "\"net\":\"",
              "\"net\":\"\\u001b]0;evil\\u0007\\u009b2J");
    SH_OK("firecaffe watch run --once");
    CHECK_HAS(ran.out, "?]0;evil?");
    CHECK(strchr(ran.out, 033) == NULL && strstr(ran.out, "\xc2\x9b") == NULL);
    SH_FAILS("no?file", "firecaffe report 'no\x1b"
                        "file'");
}

TEST(only_trainings_are_repeated)
{
    make_training();
    SH_OK("firecaffe time --model net.prototxt --iterations 2 --run_dir times --quiet");
    SH_FAILS("holds no training", "firecaffe train --repeat times");
}

TEST(repeating_needs_a_run)
{
    SH_FAILS("nowhere", "firecaffe train --repeat nowhere");
    write_file("empty.jsonl", "{}\n");
    SH_FAILS("empty.jsonl: the log of the run holds no command line",
             "firecaffe train --repeat empty.jsonl");
}

TEST(a_new_run_sets_the_old_log_aside_and_a_resumed_one_goes_on_with_it)
{
    make_training();
    make_solver("snapshot: 10");
    SH_OK(TRAIN "&& " TRAIN);
    SH_OK("ls run/run.1.jsonl");
    SH_OK(TRAIN "--snapshot run/snap_iter_10.solverstate");
    SH_OK("grep -c '\"type\":\"run\"' run/run.jsonl");
    CHECK_STR(ran.out, "2\n");
    CHECK(!file_exists("run/run.2.jsonl"));
}

/* Both kinds of log tell the same story: iterations and outputs, as %g prints them. */
TEST(the_console_log_read_by_caffes_rules_gives_the_series_of_the_run_log)
{
    make_training();
    SH_OK("firecaffe train --solver solver.prototxt --run_dir run 2>log");
    SH_OK("firecaffe log log && firecaffe report run --csv tables");
    SH_OK("cut -d, -f1,4- log.train >a && awk -F, -v OFS=, 'NR > 1 {$4 = "
          "sprintf(\"%%g\", "
          "$4)} {print}' tables/run.train.csv | cut -d, -f1,4- >b && cmp a b");
    SH_OK(
        "cut -d, -f1,4- log.test >a && awk -F, -v OFS=, 'NR > 1 {$4 = sprintf(\"%%g\", "
        "$4); $5 = sprintf(\"%%g\", $5)} {print}' tables/run.test.csv | cut -d, -f1,4- "
        ">b && cmp a b");
    SH_OK("wc -l <tables/run.loss.csv");
    CHECK_STR(ran.out, "21\n");
}

TEST(a_report_is_one_page)
{
    make_training();
    SH_OK(TRAIN);
    SH_OK("firecaffe report run -o page.html");
    CHECK_HAS(ran.out, "page.html: 1 run");
    CHECK_HAS(read_file("page.html"), "<!DOCTYPE html>");
    CHECK_HAS(read_file("page.html"), "\"confusion\":{\"classes\":4");
    SH_FAILS("cannot open", "firecaffe report nowhere");
    SH_FAILS("needs more arguments", "firecaffe report");
}

/* Labels of an Accuracy over another axis are not one for each image. */
TEST(a_net_whose_classes_lie_elsewhere_has_no_confusion_matrix)
{
    make_training();
    edit_file("net.prototxt", "bottom: \"ip\" bottom: \"label\"\n  top: \"accuracy\"",
              "bottom: \"ip\" bottom: \"four\"\n  top: \"accuracy\"\n"
              "  accuracy_param { axis: 0 }");
    edit_file("net.prototxt", "layer { name: \"accuracy\"",
              "layer { name: \"four\" type: \"DummyData\" top: \"four\"\n"
              "  dummy_data_param { shape { dim: 4 } } include { phase: TEST } }\n"
              "layer { name: \"accuracy\"");
    SH_OK(TRAIN);
    SH_OK("firecaffe report run -o page.html");
    CHECK(strstr(read_file("page.html"), "\"confusion\":{") == NULL);
}

/* Cut off, it would let nobody in. */
TEST(a_token_that_is_too_long_is_refused)
{
    write_file("run.jsonl", "{\"type\":\"run\"}\n");
    SH_FAILS("--", "firecaffe watch run.jsonl --serve 0.0.0.0:0 --token $(yes a | head "
                   "-70 | paste -sd '')");
    CHECK(strstr(ran.err, "--token: at most 63") != NULL ||
          strstr(ran.err, "libmicrohttpd") != NULL);
}

TEST(a_page_is_served_until_a_signal_comes)
{
    write_file("run.jsonl", "{\"type\":\"run\"}\n");
    SH_OK("firecaffe watch run.jsonl --serve 127.0.0.1:0 >out 2>err & pid=$!; "
          "for i in $(seq 500); do grep -q http out && break; grep -q libmicrohttpd "
          "err && break; sleep 0.02; done; kill -TERM $pid; wait $pid; echo $? >code");
    if (strstr(read_file("err"), "libmicrohttpd") != NULL)
        test_skip("no libmicrohttpd");
    CHECK_HAS(read_file("out"), "http://127.0.0.1:");
    CHECK_STR(read_file("code"), "0\n");
}

TEST(runs_of_one_name_are_told_apart)
{
    make_training();
    SH_OK(TRAIN);
    SH_OK("mkdir -p a b c/[x] && cp -r run a && cp -r run b && cp -r run c/[x]");
    SH_OK("firecaffe report run a/run b/run --csv tables");
    SH_OK("ls tables/run.loss.csv tables/run-2.loss.csv tables/run-3.loss.csv");
    SH_OK("firecaffe report 'c/[x]' --nosnapshots");
    CHECK_HAS(ran.out, "1 run");
}

TEST(a_directory_of_runs_stands_for_them)
{
    make_training();
    SH_OK("firecaffe sweep --solver solver.prototxt --run_dir sw --rates 0.1,0.01 "
          "--quiet");
    SH_OK("firecaffe report sw -o page.html");
    CHECK_HAS(ran.out, "page.html: 2 runs");
    SH_OK("firecaffe report sw/"
          "* -o page.html");
    CHECK_HAS(ran.out, "page.html: 2 runs");
    CHECK_HAS(ran.err, "sweep.csv is not a run");
    write_file("a.txt", "");
    write_file("b.txt", "");
    SH_FAILS("none of these is a run", "firecaffe report a.txt b.txt");
}

TEST(times_of_layers_can_be_reported)
{
    make_training();
    SH_OK("firecaffe time --model net.prototxt --iterations 2 --run_dir t --quiet");
    CHECK_HAS(read_file("t/run.jsonl"), "\"kind\":\"time\"");
    CHECK_HAS(read_file("t/run.jsonl"), "\"type\":\"layers\"");
    SH_OK("firecaffe time --model net.prototxt --iterations 2 --batch 4,8 --run_dir u "
          "--quiet && firecaffe report u -o page.html");
    CHECK_HAS(ran.out, "page.html: 2 runs");
    CHECK_HAS(read_file("u/batch4/run.jsonl"), "\"batch\":4");
}

TEST(results_set_the_log_of_a_training_aside)
{
    make_training();
    SH_OK(TRAIN);
    SH_OK("firecaffe test --model net.prototxt --weights run/snap_iter_20.caffemodel "
          "--iterations 2 --run_dir run --quiet");
    CHECK_HAS(read_file("run/run.1.jsonl"), "\"kind\":\"train\"");
    CHECK_HAS(read_file("run/run.jsonl"), "\"kind\":\"test\"");
}

static void check_epoch(const char *layer, const char *records)
{
    SH_OK("cp first.prototxt net.prototxt");
    edit_file("net.prototxt", "type: \"Data\"", layer);
    edit_file("net.prototxt",
              "  transform_param { scale: 0.005 }\n"
              "  data_param { source: \"db\" batch_size: 8 backend: LMDB } }\n",
              "}\n");
    SH_OK(TRAIN);
    CHECK_HAS(read_file("run/run.jsonl"), records);
}

TEST(epochs_are_known_of_every_kind_of_data)
{
    make_training();
    SH_OK(TRAIN "&& mv net.prototxt first.prototxt");
    CHECK_HAS(read_file("run/run.jsonl"), "\"epoch\":64,");
#ifdef FIRE_HAVE_PNG
    SH_OK("for i in 0 1 2; do echo $SRC/docs/img/plan.png $i; done >images.txt");
    check_epoch("type: \"ImageData\" image_data_param { source: \"images.txt\" "
                "batch_size: 2 new_height: 8 new_width: 8 }",
                "\"epoch\":3,");
#endif
#ifdef FIRE_HAVE_HDF5
    write_file("store.prototxt",
               "layer { name: \"data\" type: \"Data\" top: \"data\" top: \"label\"\n"
               "  data_param { source: \"db\" batch_size: 12 backend: LMDB } }\n"
               "layer { name: \"out\" type: \"HDF5Output\" bottom: \"data\" bottom: "
               "\"label\" hdf5_output_param { file_name: \"rows.h5\" } }\n");
    SH_OK("firecaffe run --model store.prototxt --out blobs --quiet && echo rows.h5 "
          ">rows.txt");
    check_epoch("type: \"HDF5Data\" hdf5_data_param { source: \"rows.txt\" "
                "batch_size: 4 }",
                "\"epoch\":12,");
#endif
}

TEST(a_terminal_shows_progress_curves_and_workers)
{
    make_training();
    SH_OK(TRAIN "--workers 2");
    SH_OK("firecaffe watch run");
    CHECK_HAS(ran.out, "tiny  done  2 workers, batch 8");
    CHECK_HAS(ran.out, "20 / 20  100%");
    CHECK_HAS(ran.out, "test accuracy");
    CHECK_HAS(ran.out, "worker 1");
}

TEST(a_terminal_shows_no_progress_of_what_is_no_training)
{
    make_training();
    SH_OK("firecaffe time --model net.prototxt --iterations 2 --run_dir t --quiet");
    SH_OK("firecaffe watch t");
    CHECK_HAS(ran.out, "no training; `firecaffe report` shows it");
    CHECK(strstr(ran.out, "0 / 0") == NULL);
}

TEST(training_goes_on_when_its_log_cannot_be_written)
{
    make_training();
    make_solver("snapshot: 10");
    SH_OK(TRAIN "&& ln -sf /dev/full run/run.jsonl");
    SH_OK("firecaffe train --solver solver.prototxt --run_dir run --snapshot "
          "run/snap_iter_10.solverstate");
    CHECK_HAS(ran.err, "the run goes on without its log");
    CHECK_HAS(ran.err, "Optimization Done.");
}

TEST(a_run_directory_that_cannot_be_made_is_an_error)
{
    make_training();
    SH_FAILS("make the directory", "firecaffe train --solver solver.prototxt --run_dir "
                                   "solver.prototxt/run");
}

TEST(a_trace_and_events_are_written_where_told)
{
    make_training();
    SH_OK("firecaffe train --solver solver.prototxt --quiet --trace t.json "
          "--trace_iterations 3 --tensorboard board");
    CHECK_HAS(read_file("t.json"), "\"process_name\"");
    CHECK_EQ(count_files("board/events.out.tfevents.*"), 1);
    SH_OK("grep -c '\"cat\":\"iteration\"' t.json");
    CHECK_STR(ran.out, "5\n"); /* three, and the pair that a run log would show */
}

TEST(a_net_is_drawn)
{
    make_training();
    SH_OK("firecaffe net net.prototxt --draw net.svg && firecaffe net net.prototxt "
          "--draw "
          "net.html");
    CHECK_HAS(read_file("net.svg"), "data-layers=\"ip\"");
    CHECK_HAS(read_file("net.html"), "<!DOCTYPE html>");
    SH_FAILS("must end in .svg or .html", "firecaffe net net.prototxt --draw net.png");
}

/* Whatever is installed here: a program of that name is asked, and if it fails, not. */
TEST(graphviz_draws_a_net_where_there_is_one)
{
    make_training();
    SH_OK("mkdir bin && printf '#!/bin/sh\\ncat >asked; echo graph 1 9 9; echo node n0 "
          "2 3 "
          "1 1; echo stop\\n' >bin/dot && chmod +x bin/dot");
    SH_OK("PATH=$PWD/bin:$PATH firecaffe net net.prototxt --draw dot.svg");
    CHECK_HAS(read_file("asked"), "digraph net {");
    CHECK_HAS(read_file("dot.svg"), "viewBox=\"0 0 680 680\"");
    SH_OK("printf '#!/bin/sh\\nexit 1\\n' >bin/dot");
    SH_OK("PATH=$PWD/bin:$PATH firecaffe net net.prototxt --draw own.svg");
    CHECK_HAS(read_file("own.svg"), "data-layers=\"ip\"");
}
