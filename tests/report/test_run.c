/* A run as its log tells it, and what becomes of it. Tests src/report/csv.c,
 * src/report/points.c and src/report/shape.c too. */
#include <stdlib.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "report/csv.h"
#include "report/run.h"
#include "report/shape.h"
#include "test.h"

#define HEAD "{\"type\":\"run\",\"version\":1,\"batch\":10,\"iter\":0,\"net\":\"N\"}\n"
#define SPAN(iter, time, losses)                                                  \
    "{\"type\":\"iterations\",\"time\":" time ",\"iter\":" iter ",\"seconds\":2," \
    "\"lr\":0.1,\"loss\":[" losses "]}\n"

static const char *path(void)
{
    static char name[1024];

    snprintf(name, sizeof(name), "%s/run.jsonl", test_tmpdir());
    return name;
}

static fire_run_t *open_text(const char *text)
{
    fire_run_t *run;

    CHECK_OK(fire_file_write(path(), text, strlen(text)));
    CHECK_OK(fire_run_open(test_tmpdir(), &run));
    return run;
}

static void append(const char *text)
{
    FILE *f = fopen(path(), "a");

    CHECK(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0);
}

static char *notes_of(const fire_run_t *run)
{
    fire_json_writer_t w = {0};

    fire_json_open(&w, NULL, '[');
    fire_run_write_notes(&w, run);
    fire_json_close(&w, ']');
    CHECK_OK(w.status);
    return w.out.text;
}

static void check_note(const fire_run_t *run, const char *text)
{
    char *notes = notes_of(run);

    if (strstr(notes, text) == NULL)
        test_fail(__FILE__, __LINE__, "no \"%s\" in %s", text, notes);
    fire_free(notes);
}

TEST(every_line_adds_to_the_run)
{
    fire_run_t *run = open_text(HEAD SPAN(
        "0", "4",
        "3,2") "{\"type\":\"display\",\"time\":4,\"iter\":0,\"loss\":2.5,\"lr\":0.1,"
               "\"outputs\":[[\"loss\",3]]}\n"
               "{\"type\":\"test\",\"time\":5,\"iter\":2,\"net\":0,\"name\":"
               "\"accuracy\","
               "\"value\":0.5}\n"
               "{\"type\":\"times\",\"time\":5,\"iter\":2,\"n\":2,\"seconds\":[2,4],"
               "\"data\":[0,1],\"forward\":[1,1],\"backward\":[1,1],\"exposed\":[0,0.5]"
               ","
               "\"update\":[0,0],\"hidden\":[1,3],\"bytes\":[100,300]}\n"
               "{\"type\":\"snapshot\",\"time\":6,\"iter\":2,\"file\":\"a."
               "solverstate\"}\n"
               "{\"type\":\"end\",\"time\":7,\"iter\":2,\"status\":\"done\"}\n");

    CHECK_EQ(run->loss.n, 2);
    CHECK_NEAR(run->loss.at[0].time, 3, 1e-9); /* spread over the line's seconds */
    CHECK_NEAR(run->speed.at[0].value, 10, 1e-9);
    CHECK_EQ(run->ncurve, 2);
    CHECK_STR(run->curve[1].name, "accuracy");
    CHECK_EQ(run->nworker, 2);
    CHECK_NEAR(run->times[0].seconds, 1.5, 1e-9); /* mean of an iteration */
    CHECK_NEAR(run->times[0].bytes, 100, 1e-9);
    CHECK_NEAR(run->worker[1].phase[0], 1, 1e-9);
    CHECK_EQ(run->nsnapshot, 1);
    CHECK_EQ(run->state, FIRE_RUN_DONE);
    CHECK_EQ(run->iter, 2);
    CHECK_NEAR(run->time, 7, 1e-9);
    fire_run_close(run);
}

TEST(results_that_are_no_training_are_kept_whole)
{
    fire_run_t *run = open_text(
        HEAD "{\"type\":\"step\",\"comm\":\"rhd\",\"workers\":8,\"step_s\":0.5}\n"
             "{\"type\":\"allreduce\",\"algo\":\"tree\",\"bytes\":1000}\n");

    CHECK_EQ(run->nresult, 2);
    CHECK_NEAR(fire_json_number_or(run->result[0], "step_s", 0), 0.5, 0);
    CHECK_STR(fire_json_string_or(run->result[1], "algo", ""), "tree");
    CHECK_EQ(run->skipped, 0);
    fire_run_close(run);
}

TEST(a_run_that_was_taken_up_again_replaces_what_was_done_twice)
{
    fire_run_t *run = open_text(
        HEAD SPAN("0", "10", "5,4,3,2") "{\"type\":\"run\",\"version\":1,\"batch\":10,"
                                        "\"iter\":2}\n" SPAN("2", "1", "7,6"));

    CHECK_EQ(run->loss.n, 4);
    CHECK_NEAR(run->loss.at[2].value, 7, 0);
    CHECK_NEAR(run->loss.at[3].time, 11, 1e-9); /* time goes on */
    CHECK_EQ(run->nrestart, 1);
    CHECK_EQ(run->restart[0], 2);
    CHECK_EQ(run->state, FIRE_RUN_SILENT);
    fire_run_close(run);
}

TEST(new_lines_are_read_when_they_are_whole)
{
    fire_run_t *run = open_text(HEAD);
    bool        news;

    CHECK_OK(fire_run_poll(run, &news));
    CHECK(!news);
    append("{\"type\":\"iterations\",\"time\":1,\"iter\":0,\"lo");
    CHECK_OK(fire_run_poll(run, &news));
    CHECK_EQ(run->loss.n, 0);
    CHECK(run->cut_off);
    append("ss\":[1]}\n");
    CHECK_OK(fire_run_poll(run, &news));
    CHECK(news && run->loss.n == 1 && !run->cut_off);
    fire_run_close(run);
}

TEST(a_file_that_was_replaced_is_read_anew)
{
    fire_run_t *run = open_text(HEAD SPAN("0", "1", "1,2,3"));
    bool        news;

    CHECK_OK(fire_file_write(path(), HEAD, strlen(HEAD)));
    CHECK_OK(fire_run_poll(run, &news));
    CHECK(news);
    CHECK_EQ(run->loss.n, 0);
    CHECK_EQ(run->nrestart, 0);
    fire_run_close(run);
}

TEST(what_cannot_be_read_is_skipped_and_told)
{
    fire_run_t *run = open_text(HEAD "not json\n" SPAN(
        "0", "1", "1,null,2") "{\"type\":\"unheard of\"}\n[1,2]\n{\"type\":\"ite");

    CHECK_EQ(run->loss.n, 3);
    CHECK(isnan(run->loss.at[1].value));
    check_note(run, "3 lines could not be read, the first is line 2");
    check_note(run, "breaks off");
    fire_run_close(run);
}

TEST(a_foreign_or_empty_file_is_no_failure)
{
    fire_run_t *run = open_text("\x7f"
                                "ELF\x01\n\n\xff\xfe\n");

    check_note(run, "no run log");
    fire_run_close(run);
    run = open_text("");
    check_note(run, "empty");
    fire_run_close(run);
}

TEST(absurd_numbers_do_no_harm)
{
    fire_run_t *run =
        open_text(HEAD "{\"type\":\"iterations\",\"iter\":1e300,\"loss\":[1e999,-1]}\n"
                       "{\"type\":\"iterations\",\"iter\":-5,\"loss\":{}}\n"
                       "{\"type\":\"times\",\"n\":-1,\"seconds\":[1]}\n"
                       "{\"type\":\"times\",\"n\":1,\"seconds\":[\"x\",null]}\n"
                       "{\"type\":\"display\",\"outputs\":[[1,2],[\"a\"],7]}\n"
                       "{\"type\":\"run\",\"iter\":-3}\n");

    CHECK(run->head != NULL);
    fire_run_close(run);
}

/* A number of a net is that of a file to write; others are cast to whole ones. */
TEST(numbers_beyond_their_range_make_a_line_unreadable)
{
    fire_run_t *run =
        open_text(HEAD "{\"type\":\"test\",\"net\":2000000000,\"name\":\"a\"}\n"
                       "{\"type\":\"test\",\"net\":-1,\"name\":\"a\"}\n"
                       "{\"type\":\"test\",\"net\":1e300,\"name\":\"a\"}\n"
                       "{\"type\":\"times\",\"n\":9e18,\"seconds\":[1]}\n"
                       "{\"type\":\"times\",\"n\":1e300,\"seconds\":[1]}\n");

    CHECK_EQ(run->skipped, 5);
    CHECK_EQ(run->ncurve, 0);
    CHECK_EQ(run->measured, 0);
    fire_run_close(run);
}

TEST(a_process_whose_number_is_none_is_not_alive)
{
    char host[256] = "", text[512];

    gethostname(host, sizeof(host) - 1);
    for (int i = 0; i < 2; i++) {
        fire_run_t *run;

        snprintf(text, sizeof(text), "{\"type\":\"run\",\"host\":\"%s\",\"pid\":%s}\n",
                 host, i == 0 ? "1e300" : "0.5");
        run = open_text(text);
        CHECK_STR(fire_run_state_text(run), "killed");
        fire_run_close(run);
    }
}

TEST(tables_quote_names_and_leave_out_nets_that_are_not_there)
{
    fire_run_t *run = open_text(
        HEAD "{\"type\":\"test\",\"net\":7,\"name\":\"a,\\\"b\",\"value\":1}\n");
    char   base[1024], file[1100], *text;
    size_t n;

    snprintf(base, sizeof(base), "%s/t", test_tmpdir());
    CHECK_OK(fire_csv_write(run, base));
    snprintf(file, sizeof(file), "%s.test7.csv", base);
    CHECK_OK(fire_file_read(file, &text, &n));
    CHECK_STR(text, "NumIters,Seconds,LearningRate,\"a,\"\"b\"\n0,0,nan,1\n");
    fire_free(text);
    snprintf(file, sizeof(file), "%s.test3.csv", base);
    CHECK(access(file, F_OK) != 0);
    fire_run_close(run);
}

TEST(lines_of_another_shape_are_skipped)
{
    fire_run_t *run = open_text(
        HEAD "{\"type\":\"net\",\"layers\":3}\n"
             "{\"type\":\"net\",\"layers\":[{\"name\":\"a\"}]}\n"
             "{\"type\":\"layers\",\"forward\":[1],\"backward\":[\"x\"]}\n"
             "{\"type\":\"timeline\",\"iter\":1,\"workers\":[[[\"wait\",\"x\",1]]]}\n"
             "{\"type\":\"timeline\",\"iter\":1,\"workers\":[7]}\n"
             "{\"type\":\"step\",\"comm\":\"ring\"}\n"
             "{\"type\":\"run\",\"command\":\"train\"}\n");

    CHECK_EQ(run->skipped, 7);
    CHECK(run->net == NULL && run->layers == NULL && run->timeline == NULL);
    CHECK_EQ(run->nresult, 0);
    fire_run_close(run);
}

TEST(shapes_are_told_apart)
{
    static const struct {
        const char *json, *shape;
        bool        fits;
    } cases[] = {
        {"\"a\"", "s", true},
        {"1", "s", false},
        {"null", "n", true},
        {"[]", "[s]", true},
        {"[\"a\",1]", "[s]", false},
        {"[[1],[2,3]]", "[[n]]", true},
        {"[[1],2]", "[[n]]", false},
        {"[\"a\",1]", "(s n)", true},
        {"[\"a\"]", "(s n)", false},
        {"[\"a\",1,2]", "(s n)", false},
        {"{\"a\":1}", "{a:n b:s?}", true},
        {"{\"a\":1,\"b\":2}", "{a:n b:s?}", false},
        {"{\"b\":\"x\"}", "{a:n b:s?}", false},
        {"{\"c\":[],\"b\":[{\"d\":1}]}", "{a:[{x:s}]? b:[{d:n}]}", true},
        {"[{\"d\":1},{}]", "[{d:n}]", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fire_json_t *json;

        CHECK_OK(fire_json_parse(cases[i].json, strlen(cases[i].json), "case", &json));
        if (fire_json_fits(json, cases[i].shape) != cases[i].fits)
            test_fail(__FILE__, __LINE__, "%s, %s", cases[i].json, cases[i].shape);
        fire_json_free(json);
    }
}

TEST(a_missing_run_is_an_error_that_names_it)
{
    fire_run_t *run;

    CHECK_FAILS(fire_run_open("/no/such/run", &run), FIRE_ERR_IO, "/no/such/run");
    CHECK_FAILS(fire_run_open(test_tmpdir(), &run), FIRE_ERR_IO, "run.jsonl");
    CHECK_FAILS(fire_run_open("/dev/zero", &run), FIRE_ERR_IO,
                "cannot read \"/dev/zero\": it is not a regular file");
}

/* ---- curves made small ---- */

static fire_json_t *written(const fire_points_t *p, int most)
{
    fire_json_writer_t w = {0};
    fire_json_t       *json;

    fire_points_write(&w, NULL, p, most);
    CHECK_OK(w.status);
    CHECK_OK(fire_json_parse(w.out.text, (size_t)w.out.n, "points", &json));
    fire_json_writer_fini(&w);
    return json;
}

TEST(a_long_curve_keeps_its_extremes)
{
    fire_points_t      p = {0};
    fire_json_t       *json;
    const fire_json_t *lo, *hi;
    double             least = 1, most = -1;

    for (int i = 0; i < 100000; i++)
        CHECK_OK(fire_points_add(&p, i, i, i == 777 ? 50 : i == 99998 ? -70 : i % 2));
    json = written(&p, 100);
    lo   = fire_json_get(json, "lo");
    hi   = fire_json_get(json, "hi");
    CHECK_EQ(lo->n, 100);
    for (int i = 0; i < 100; i++) {
        least = fmin(least, lo->item[i].number);
        most  = fmax(most, hi->item[i].number);
    }
    CHECK_NEAR(least, -70, 0);
    CHECK_NEAR(most, 50, 0);
    CHECK_EQ(fire_json_get(json, "iter")->item[99].number, 99999);
    CHECK_NEAR(fire_json_get(json, "y")->item[50].number, 0.5, 1e-9);
    fire_json_free(json);
    fire_points_fini(&p);
}

TEST(a_short_curve_is_written_as_it_is)
{
    fire_points_t p = {0};
    fire_json_t  *json;

    for (int i = 0; i < 3; i++)
        CHECK_OK(fire_points_add(&p, 10 * i, i, i == 1 ? NAN : i));
    json = written(&p, 100);
    CHECK_EQ(fire_json_get(json, "y")->n, 3);
    CHECK_EQ(fire_json_get(json, "y")->item[1].kind, FIRE_JSON_NULL);
    CHECK(fire_json_get(json, "lo") == NULL);
    fire_json_free(json);
    fire_points_fini(&p);
}
