/* firecaffe log: tables of console logs. */
#include "program.h"

static const char text[] =
    "I1115 12:00:00.500000 9 solver.cpp:1] Solving LeNet\n"
    "I1115 12:00:00.600000 9 solver.cpp:1] Iteration 0, Testing net (#0)\n"
    "I1115 12:00:01.500000 9 solver.cpp:1]     Test net output #0: accuracy = 0.125\n"
    "I1115 12:00:01.500000 9 solver.cpp:1]     Test net output #1: loss = 2.5 (* 1 = "
    "2.5 loss)\n"
    "I1115 12:00:02.000000 9 solver.cpp:1] Iteration 0 (0 iter/s, 1s/100 iters), loss "
    "= 2.25\n"
    "I1115 12:00:02.000000 9 solver.cpp:1]     Train net output #0: loss = 2.25 (* 1 = "
    "2.25 loss)\n"
    "I1115 12:00:02.000000 9 sgd_solver.cpp:1] Iteration 0, lr = 0.01\n"
    "I1115 12:01:00.500000 9 solver.cpp:1] Iteration 100, Testing net (#0)\n"
    "I1115 12:01:00.500000 9 solver.cpp:1]     Test net output #0: accuracy = 0.75\n"
    "I1115 12:01:00.500000 9 solver.cpp:1]     Test net output #1: loss = 1e-2 (* 1 = "
    "1e-2 loss)\n";

TEST(a_caffe_log_becomes_two_tables)
{
    write_file("run.log", text);
    SH_OK("firecaffe log run.log");
    CHECK_STR(read_file("run.log.train"),
              "NumIters,Seconds,LearningRate,loss\n0,1.5,nan,2.25\n");
    CHECK_STR(read_file("run.log.test"), "NumIters,Seconds,LearningRate,accuracy,loss\n"
                                         "0,1,0.01,0.125,2.5\n100,60,0.01,0.75,0.01\n");
}

TEST(tables_go_to_another_directory_with_another_delimiter)
{
    write_file("run.log", text);
    SH_OK("mkdir tables && firecaffe log --delimiter=';' run.log tables");
    CHECK_HAS(read_file("tables/run.log.test"), "100;60;0.01;0.75;0.01\n");
}

TEST(a_training_over_new_year_has_no_negative_seconds)
{
    write_file("run.log", "I1231 23:59:59.000000 9 solver.cpp:1] Solving X\n"
                          "I0101 00:00:01.000000 9 solver.cpp:1] Iteration 5, lr = 1\n"
                          "I0101 00:00:01.000000 9 s.cpp:1]     Train net output #0: "
                          "loss = 3\n");
    SH_OK("firecaffe log run.log");
    CHECK_HAS(read_file("run.log.train"), "\n5,2,1,3\n");
}

TEST(what_is_no_training_log_is_refused)
{
    write_file("notes.txt", "Iteration 5\n");
    SH_FAILS("notes.txt: no line with \"Solving\"", "firecaffe log notes.txt");
    CHECK(!file_exists("notes.txt.train"));
    SH_FAILS("missing.log", "firecaffe log missing.log");
}

TEST(tables_have_columns_of_blanks_as_those_of_parse_log_sh)
{
    write_file("run.log", text);
    SH_OK("parse_log.sh run.log");
    CHECK_STR(read_file("run.log.train"), "#Iters Seconds TrainingLoss LearningRate\n"
                                          "0  1.5  2.25  0.01\n");
    CHECK_STR(read_file("run.log.test"), "#Iters Seconds TestAccuracy TestLoss\n"
                                         "0    1   0.125  2.5\n"
                                         "100  60  0.75   0.01\n");
}

TEST(parse_log_py_writes_into_a_directory)
{
    write_file("run.log", text);
    SH_OK("mkdir tables && parse_log.py --verbose run.log tables --delimiter=' '");
    CHECK_HAS(read_file("tables/run.log.train"), "0 1.5 nan 2.25\n");
    SH_FAILS("none/run.log.train", "parse_log.py run.log none");
}

TEST(the_seconds_of_a_log_are_listed)
{
    write_file("run.log", text);
    SH_OK("extract_seconds.py run.log seconds.txt");
    CHECK_STR(read_file("seconds.txt"), "0.100000\n1.500000\n1.500000\n60.000000\n");
    SH_FAILS("missing.log", "extract_seconds.py missing.log seconds.txt");
}
