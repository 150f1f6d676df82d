/* Tables from a console log in glog's format. */
#include "base/file.h"
#include "runlog/console_log.h"
#include "test.h"

#define START "I1115 12:00:00.500000 9 solver.cpp:1] Solving LeNet\n"

static fire_status_t read_log(const char *text, fire_console_log_t *log)
{
    CHECK_OK(fire_file_write(test_path("run.log"), text, strlen(text)));
    return fire_console_log_read(test_path("run.log"), log);
}

/* clang-format off */
static const char one_test_and_one_display[] =
    START
    "I1115 12:00:00.600000 9 solver.cpp:1] Iteration 0, Testing net (#0)\n"
    "I1115 12:00:01.500000 9 solver.cpp:1]   Test net output #0: accuracy = 0.125\n"
    "I1115 12:00:01.500000 9 solver.cpp:1]   Test net output #1: loss = 2.5\n"
    "I1115 12:00:02.000000 9 solver.cpp:1] Iteration 0 (0 iter/s), loss = 2.25\n"
    "I1115 12:00:02.000000 9 solver.cpp:1]   Train net output #0: loss = 2.125\n"
    "I1115 12:00:02.000000 9 solver.cpp:1] Iteration 0, lr = 0.01\n";

static const char without_rate[] =
    START
    "I1115 12:00:02.000000 9 solver.cpp:1] Iteration 7\n"
    "I1115 12:00:02.000000 9 solver.cpp:1]   Train net output #0: loss = 1\n";
/* clang-format on */

TEST(each_display_and_each_test_is_a_row)
{
    fire_console_log_t log;
    const double      *row;

    CHECK_OK(read_log(one_test_and_one_display, &log));
    CHECK_EQ(log.test.nrow, 1);
    CHECK_EQ(log.test.noutput, 2);
    CHECK_STR(log.test.output[1], "loss");
    row = fire_console_row(&log.test, 0);
    CHECK_NEAR(row[FIRE_LOG_SECONDS], 1, 1e-9);
    CHECK_NEAR(row[FIRE_LOG_OUTPUT], 0.125, 0);
    CHECK_NEAR(row[FIRE_LOG_OUTPUT + 1], 2.5, 0);
    CHECK_EQ(log.train.nrow, 1);
    CHECK_NEAR(fire_console_row(&log.train, 0)[FIRE_LOG_OUTPUT], 2.125, 0);
    CHECK_EQ(log.loss.nrow, 1);
    row = fire_console_row(&log.loss, 0);
    CHECK_NEAR(row[FIRE_LOG_OUTPUT], 2.25, 0);
    CHECK_NEAR(row[FIRE_LOG_RATE], 0.01, 0); /* its line comes after the loss's */
    CHECK_EQ(log.nseconds, 3);
    fire_console_log_fini(&log);
}

TEST(what_a_row_lacks_is_not_a_number)
{
    fire_console_log_t log;

    CHECK_OK(read_log(without_rate, &log));
    CHECK(isnan(fire_console_row(&log.train, 0)[FIRE_LOG_RATE]));
    CHECK_NEAR(fire_console_row(&log.train, 0)[FIRE_LOG_ITERATION], 7, 0);
    fire_console_log_fini(&log);
}

TEST(a_training_over_new_year_has_no_negative_seconds)
{
    fire_console_log_t log;

    CHECK_OK(read_log("I1231 23:59:59.000000 9 s.cpp:1] Solving X\n"
                      "I0101 00:00:01.000000 9 s.cpp:1] Iteration 5, lr = 1\n",
                      &log));
    CHECK_NEAR(log.seconds[0], 2, 1e-9);
    fire_console_log_fini(&log);
}

TEST(a_file_that_is_no_log_is_refused)
{
    fire_console_log_t log;

    CHECK_FAILS(read_log("Iteration 5, lr = 1\n", &log), FIRE_ERR_PARSE, "Solving");
}
