/* test_rundir.c - run directories and the logs of earlier runs in them. */
#include "runlog/rundir.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

static void put(const char *name, const char *text)
{
    CHECK_OK(fire_file_write(test_path(name), text, strlen(text)));
}

TEST(a_run_directory_is_made_with_those_above_it)
{
    CHECK_OK(fire_run_dir_clear(test_path("a/b/run")));
    CHECK_EQ(access(test_path("a/b/run"), W_OK), 0);
    CHECK_OK(fire_run_dir_clear(test_path("a/b/run"))); /* once more is no error */
}

TEST(the_log_of_an_earlier_run_gets_the_first_free_number)
{
    char  *text;
    size_t n;

    CHECK_OK(fire_run_dir_clear(test_path("run")));
    put("run/run.jsonl", "first");
    CHECK_OK(fire_run_dir_clear(test_path("run")));
    CHECK(access(test_path("run/run.jsonl"), F_OK) != 0);
    put("run/run.jsonl", "second");
    CHECK_OK(fire_run_dir_clear(test_path("run")));
    CHECK_OK(fire_file_read(test_path("run/run.1.jsonl"), &text, &n));
    CHECK_STR(text, "first");
    fire_free(text);
    CHECK_OK(fire_file_read(test_path("run/run.2.jsonl"), &text, &n));
    CHECK_STR(text, "second");
    fire_free(text);
}

TEST(a_directory_that_cannot_be_made_is_named)
{
    CHECK_FAILS(fire_run_dir_clear("/dev/null/run"), FIRE_ERR_IO, "/dev/null");
}
