/* The report as one file. Tests src/report/data.c too. */
#include "report/page.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

static char *filled(const char *data)
{
    char  *page, *text;
    size_t n;

    CHECK_OK(fire_page_fill(data, &page, &n));
    text = calloc(n + 1, 1);
    CHECK(text != NULL);
    memcpy(text, page, n);
    fire_free(page);
    return text;
}

TEST(data_are_put_into_the_page_once)
{
    char       *page = filled("{\"runs\":\"mark\"}");
    const char *at   = strstr(page, "{\"runs\":\"mark\"}");

    CHECK(at != NULL && strstr(at + 1, "{\"runs\":\"mark\"}") == NULL);
    CHECK(strstr(page, "@DATA@") == NULL);
    CHECK(strstr(page, "</html>") != NULL);
    free(page);
}

/* Or a layer of that name would end the script that holds the data. */
TEST(data_cannot_end_their_script)
{
    char *page = filled("[\"</script><b>\"]");

    CHECK(strstr(page, "[\"\\u003c/script>\\u003cb>\"]") != NULL);
    free(page);
}

TEST(a_run_and_what_is_known_beyond_its_log_are_in_the_data)
{
    static const char log[] =
        "{\"type\":\"run\",\"version\":1,\"batch\":10,\"iter\":0,\"net\":\"N\"}\n"
        "{\"type\":\"iterations\",\"time\":1,\"iter\":2,\"seconds\":2,\"lr\":0.1,"
        "\"loss\":[3,2]}\n";
    fire_run_t        *run;
    fire_run_extra_t   extra  = {.filters = "{\"n\":7}"};
    fire_report_t      report = {.nrun = 1, .run = &run, .extra = &extra};
    fire_json_writer_t w      = {0};
    fire_json_t       *json;
    const fire_json_t *first;

    CHECK_OK(fire_file_write(test_path("run.jsonl"), log, sizeof(log) - 1));
    CHECK_OK(fire_run_open(test_tmpdir(), &run));
    fire_report_write(&w, &report);
    CHECK_OK(w.status);
    CHECK_OK(fire_json_parse(w.out.text, (size_t)w.out.n, "data", &json));
    first = &fire_json_get(json, "runs")->item[0];
    CHECK_NEAR(fire_json_number_or(fire_json_get(first, "filters"), "n", 0), 7, 0);
    CHECK(fire_json_get(first, "loss") != NULL);
    CHECK(fire_json_get(first, "confusion") == NULL);
    fire_json_free(json);
    fire_json_writer_fini(&w);
    fire_run_close(run);
}
