/* What a training leaves behind, through the program: run directories, repeating,
 * reports, tables, pictures, the view in a terminal. */
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

TEST(repeating_needs_a_run)
{
    SH_FAILS("nowhere", "firecaffe train --repeat nowhere");
    write_file("empty.jsonl", "{}\n");
    SH_FAILS("no command line", "firecaffe train --repeat empty.jsonl");
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
