/* The log of a command that does not train. */
#include <unistd.h>
#include "base/alloc.h"
#include "base/file.h"
#include "runlog/results.h"
#include "test.h"

static void write_environment(fire_json_writer_t *w)
{
    fire_json_add_string(w, "host", "here");
}

static const char *const         argv[] = {"firecaffe", "time"};
static const fire_results_head_t head   = {.kind              = "time",
                                           .net               = "lenet",
                                           .workers           = 2,
                                           .batch             = 64,
                                           .argc              = 2,
                                           .argv              = argv,
                                           .write_environment = write_environment};

/* The n-th line of run.jsonl; end it with fire_json_free(). */
static fire_json_t *line(int n)
{
    char         path[600], *text, *at;
    size_t       size;
    fire_json_t *json;

    snprintf(path, sizeof(path), "%s/run.jsonl", test_path("run"));
    CHECK_OK(fire_file_read(path, &text, &size));
    for (at = text; n > 0; n--)
        at = strchr(at, '\n') + 1;
    CHECK_OK(fire_json_parse(at, strcspn(at, "\n"), "run.jsonl", &json));
    fire_free(text);
    return json;
}

static void check_string(int n, const char *key, const char *want)
{
    fire_json_t *json = line(n);

    CHECK_STR(fire_json_string_or(json, key, ""), want);
    fire_json_free(json);
}

TEST(the_first_line_names_command_net_and_machine)
{
    fire_results_t *r;
    fire_json_t    *json;

    CHECK_OK(fire_results_open(test_path("run"), &head, &r));
    CHECK_OK(fire_results_close(r, FIRE_OK));
    check_string(0, "type", "run");
    check_string(0, "kind", "time");
    check_string(0, "net", "lenet");
    check_string(0, "host", "here");
    json = line(0);
    CHECK_NEAR(fire_json_number_or(json, "workers", 0), 2, 0);
    CHECK_NEAR(fire_json_number_or(json, "batch", 0), 64, 0);
    CHECK_EQ(fire_json_get(json, "command")->n, 2);
    fire_json_free(json);
}

TEST(results_follow_and_the_last_line_says_how_it_ended)
{
    fire_results_t     *r;
    fire_json_writer_t *w;

    CHECK_OK(fire_results_open(test_path("run"), &head, &r));
    w = fire_results_begin_line(r, "layers");
    fire_json_add_string(w, "unit", "s");
    CHECK_OK(fire_results_end_line(r));
    CHECK_OK(fire_results_close(r, FIRE_OK));
    check_string(1, "type", "layers");
    check_string(1, "unit", "s");
    check_string(2, "type", "end");
    check_string(2, "status", "done");
}

TEST(a_failure_is_kept_with_its_message)
{
    fire_results_t *r;

    CHECK_OK(fire_results_open(test_path("run"), &head, &r));
    CHECK_EQ(fire_results_close(r, FIRE_FAIL(FIRE_ERR_IO, "disk full")), FIRE_ERR_IO);
    check_string(1, "status", "failed");
    check_string(1, "message", "disk full");
}

TEST(without_a_directory_nothing_is_written)
{
    fire_results_t *r;

    CHECK_OK(fire_results_open("", &head, &r));
    CHECK(r == NULL && fire_results_begin_line(r, "test") == NULL);
    CHECK_OK(fire_results_end_line(r));
    CHECK_EQ(fire_results_close(r, FIRE_ERR_PARSE), FIRE_ERR_PARSE);
    CHECK(access(test_path("run"), F_OK) != 0);
}
