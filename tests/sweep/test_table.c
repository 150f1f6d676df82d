/* Results of points, from logs that the test writes itself. */
#include "base/alloc.h"
#include "base/file.h"
#include "sweeps.h"

#define HEAD                                                                          \
    "{\"type\":\"run\",\"version\":1,\"kind\":\"train\",\"started\":0,\"net\":\"n\"," \
    "\"workers\":1,\"lanes\":1,\"batch\":8,\"iter\":0,\"max_iter\":12}\n"
#define TEST_LINE(iter, value)                                                    \
    "{\"type\":\"test\",\"time\":1,\"iter\":" iter ",\"net\":0,\"name\":\"acc\"," \
    "\"value\":" value "}\n"
#define END(status) \
    "{\"type\":\"end\",\"time\":2,\"iter\":12,\"status\":\"" status "\"}\n"

static void write_log(const fire_sweep_t *s, int point, const char *text)
{
    char *dir, *path;

    CHECK_OK(fire_sweep_dir(s, point, &dir));
    CHECK_OK(fire_dir_make(s->dir));
    CHECK_OK(fire_dir_make(dir));
    CHECK_OK(fire_asprintf(&path, "%s/run.jsonl", dir));
    CHECK_OK(fire_file_write(path, text, strlen(text)));
    fire_free(path);
    fire_free(dir);
}

TEST(a_point_without_a_log_is_open)
{
    fire_sweep_t        s = make_sweep("", "");
    fire_point_result_t r;

    CHECK_OK(fire_sweep_read_result(&s, 0, &r));
    CHECK_EQ(r.outcome, FIRE_POINT_OPEN);
    CHECK(!fire_point_is_finished(&r));
    CHECK(isnan(r.last));
    fire_sweep_close(&s);
}

TEST(the_last_and_the_best_value_of_a_test_are_kept)
{
    fire_sweep_t        s = make_sweep("", "");
    fire_point_result_t r;

    write_log(&s, 0,
              HEAD TEST_LINE("0", "0.25") TEST_LINE("6", "0.75") TEST_LINE("12", "0.5")
                  END("done"));
    CHECK_OK(fire_sweep_read_result(&s, 0, &r));
    CHECK_EQ(r.outcome, FIRE_POINT_DONE);
    CHECK_STR(r.measure, "acc");
    CHECK_NEAR(r.last, 0.5, 0);
    CHECK_NEAR(r.best, 0.75, 0);
    fire_sweep_close(&s);
}

TEST(the_table_names_the_highest_point)
{
    fire_sweep_t        s = make_sweep("8,16", "0.1,0.2");
    fire_point_result_t r[4];
    fire_str_t          out = {0};

    write_log(&s, 0, HEAD TEST_LINE("12", "0.5") END("done"));
    write_log(&s, 1, HEAD TEST_LINE("12", "0.875") END("done"));
    write_log(&s, 2, HEAD END("failed"));
    for (int i = 0; i < 4; i++)
        CHECK_OK(fire_sweep_read_result(&s, i, &r[i]));
    CHECK_OK(fire_sweep_table(&s, r, &out));
    CHECK(strstr(out.text, "acc at the end; rows: batch, columns: learning rate, "
                           "times batch / 8\n") != NULL);
    CHECK(strstr(out.text, "\n         8       0.5000       0.8750") != NULL);
    CHECK(strstr(out.text, "\n        16       failed            -") != NULL);
    CHECK(strstr(out.text, "grid/batch8_lr0.2\n") != NULL);
    fire_str_fini(&out);
    fire_sweep_close(&s);
}

TEST(the_csv_has_a_line_for_each_point)
{
    fire_sweep_t        s = make_sweep("", "0.1,0.2");
    fire_point_result_t r[2];
    char               *text, *path;
    size_t              n;

    write_log(&s, 0, HEAD TEST_LINE("12", "0.5") END("done"));
    for (int i = 0; i < 2; i++)
        CHECK_OK(fire_sweep_read_result(&s, i, &r[i]));
    CHECK_OK(fire_dir_make(s.dir));
    CHECK_OK(fire_sweep_save_csv(&s, r));
    CHECK_OK(fire_asprintf(&path, "%s/sweep.csv", s.dir));
    CHECK_OK(fire_file_read(path, &text, &n));
    CHECK(strncmp(text, "run,batch,lr,outcome,iterations,measure,last,best,", 50) == 0);
    CHECK(strstr(text, "\nbatch8_lr0.1,8,0.1,done,") != NULL);
    CHECK(strstr(text, "\nbatch8_lr0.2,8,0.2,open,") != NULL);
    fire_free(text);
    fire_free(path);
    fire_sweep_close(&s);
}
