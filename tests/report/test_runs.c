/* Which runs a report has, by the paths it was given. */
#include "base/file.h"
#include "report/runs.h"
#include "test.h"

static const char log_text[] =
    "{\"type\":\"run\",\"version\":1,\"kind\":\"train\",\"started\":0,\"net\":\"n\","
    "\"workers\":1,\"lanes\":1,\"batch\":8,\"iter\":0,\"max_iter\":12}\n"
    "{\"type\":\"net\",\"time\":0,\"layers\":[{\"name\":\"data\",\"type\":\"Input\","
    "\"bottoms\":[],\"tops\":[\"data\"],\"shapes\":[[1,2]]}]}\n";

static const char *make_run(const char *dir)
{
    char path[600];

    CHECK_OK(fire_dir_make(test_path(dir)));
    snprintf(path, sizeof(path), "%s/run.jsonl", test_path(dir));
    CHECK_OK(fire_file_write(path, log_text, sizeof(log_text) - 1));
    return test_path(dir);
}

TEST(a_run_is_a_directory_or_its_log)
{
    char          log[600];
    fire_report_t r;

    snprintf(log, sizeof(log), "%s/run.jsonl", make_run("one"));
    CHECK_OK(fire_report_open(2, (const char *[]){make_run("two"), log}, &r));
    CHECK_EQ(r.nrun, 2);
    CHECK(strcmp(r.run[0]->name, r.run[1]->name) != 0);
    fire_report_close(&r);
}

TEST(a_directory_of_runs_is_all_of_them_under_different_names)
{
    fire_report_t r;
    const char   *dir = test_path("sweep"), *both[2] = {dir, dir};

    CHECK_OK(fire_dir_make(dir));
    make_run("sweep/a");
    make_run("sweep/b");
    CHECK_OK(fire_report_open(2, both, &r));
    CHECK_EQ(r.nrun, 4);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(r.run[i]->name, r.run[k]->name) != 0);
    fire_report_close(&r);
}

TEST(a_net_in_the_log_is_drawn)
{
    fire_report_t r;

    CHECK_OK(fire_report_open(1, (const char *[]){make_run("one")}, &r));
    CHECK(r.extra[0].graph != NULL && strstr(r.extra[0].graph, "<svg") != NULL);
    CHECK_OK(fire_report_read_snapshots(&r)); /* there is none: nothing is added */
    CHECK(r.extra[0].filters == NULL);
    fire_report_close(&r);
}

TEST(other_files_among_several_are_left_out)
{
    fire_report_t r;

    CHECK_OK(fire_file_write(test_path("sweep.csv"), "x", 1));
    CHECK_OK(fire_report_open(
        2, (const char *[]){make_run("one"), test_path("sweep.csv")}, &r));
    CHECK_EQ(r.nrun, 1);
    fire_report_close(&r);
    CHECK_FAILS(
        fire_report_open(
            2, (const char *[]){test_path("sweep.csv"), test_path("sweep.csv")}, &r),
        FIRE_ERR_INVALID, "none of these is a run");
}
