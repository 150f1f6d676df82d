/* firecaffe bench allreduce: its table and its file. */
#include "program.h"

#define BENCH "firecaffe bench allreduce --workers 2 --repeats 1 "

TEST(bench_prints_a_line_per_size_and_algorithm)
{
    SH_OK(BENCH "--bytes 1K,64K --algo tree,ring:piece=4096");
    CHECK_HAS(ran.out, "2 workers, transport threads");
    CHECK_HAS(ran.out, "        1000  tree ");
    CHECK_HAS(ran.out, "       64000  ring:piece=4096 ");
}

TEST(a_table_from_bench_steers_auto)
{
    SH_OK(BENCH "--bytes 1K --canonical --tune table && cat table");
    CHECK_HAS(ran.out, "# firecaffe tuning 1\n2 0 ");
    CHECK_HAS(ran.out, " rhd");
    CHECK(strstr(ran.out, "ring") == NULL);
}

TEST(bench_refuses_what_it_cannot_measure)
{
    SH_FAILS("a single worker exchanges nothing", "firecaffe bench allreduce");
    SH_FAILS("is not a size", BENCH "--bytes 30Q");
    SH_FAILS("is not a size", BENCH "--bytes 30MM");
    SH_FAILS("unknown collective algorithm", BENCH "--algo oak");
    SH_FAILS("is not a size", BENCH "--bytes nan");
    SH_FAILS("--repeats", "firecaffe bench allreduce --workers 2 --repeats 0");
    SH_FAILS("--repeats", "firecaffe bench allreduce --workers 2 --repeats 4294967297");
}

TEST(results_are_kept_for_the_report)
{
    SH_OK(BENCH "--bytes 1K --algo tree --run_dir sums");
    CHECK_HAS(read_file("sums/run.jsonl"), "\"kind\":\"bench\"");
    CHECK_HAS(read_file("sums/run.jsonl"), "\"type\":\"allreduce\"");
    CHECK_HAS(read_file("sums/run.jsonl"), "\"algo\":\"tree\",\"bytes\":1000");
    SH_OK("firecaffe report sums -o sums.html");
}
