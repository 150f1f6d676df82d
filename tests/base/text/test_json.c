/* JSON, read and written. Tests src/base/text/json_writer.c too. */
#include "base/text/json.h"

#include <stdlib.h>
#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

static fire_json_t *parse(const char *text)
{
    fire_json_t *json;

    CHECK_OK(fire_json_parse(text, strlen(text), "t.json", &json));
    return json;
}

static void check_refused(const char *text, const char *message)
{
    fire_json_t *json;

    CHECK_FAILS(fire_json_parse(text, strlen(text), "t.json", &json), FIRE_ERR_PARSE,
                message);
}

TEST(every_kind_of_value_is_read)
{
    fire_json_t       *j = parse(" {\"a\": [1, -2.5e3, true, false, null, \"x\"],\n"
                                       "  \"b\": {\"c\": {}}, \"d\": []} ");
    const fire_json_t *a = fire_json_get(j, "a");

    CHECK_EQ(j->n, 3);
    CHECK_EQ(a->n, 6);
    CHECK_NEAR(a->item[0].number, 1, 0);
    CHECK_NEAR(a->item[1].number, -2500, 0);
    CHECK(a->item[2].boolean && a->item[2].kind == FIRE_JSON_BOOL);
    CHECK(!a->item[3].boolean && a->item[3].kind == FIRE_JSON_BOOL);
    CHECK_EQ(a->item[4].kind, FIRE_JSON_NULL);
    CHECK_STR(a->item[5].string, "x");
    CHECK_EQ(fire_json_get(fire_json_get(j, "b"), "c")->kind, FIRE_JSON_OBJECT);
    CHECK_EQ(fire_json_get(j, "b")->line, 2);
    CHECK_EQ(fire_json_get(j, "d")->n, 0);
    CHECK(fire_json_get(j, "e") == NULL);
    CHECK(fire_json_get(fire_json_get(j, "e"), "f") == NULL);
    fire_json_free(j);
}

TEST(escapes_become_utf8)
{
    fire_json_t *j =
        parse("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u20ac\\uD83D\\uDD25\"");

    CHECK_STR(j->string, "\"\\/\b\f\n\r\tA\xE2\x82\xAC\xF0\x9F\x94\xA5");
    fire_json_free(j);
}

TEST(errors_tell_line_and_column)
{
    check_refused("{\n  \"a\": 1,\n  b: 2}", "t.json:3:3: a name in \"");
    check_refused("", "t.json:1:1: the file ends");
    check_refused("[1 2]", "t.json:1:4: a , or ] must");
    check_refused("{\"a\" 1}", "a : must");
    check_refused("{\"a\": 1", "a , or } must");
    check_refused("[1] x", "something follows");
    check_refused("tru", "no JSON value");
    check_refused("NaN", "no JSON value");
    check_refused("-", "a digit");
    check_refused("1.", "a digit");
    check_refused("1e+", "a digit");
    check_refused("01", "something follows");
    check_refused("\"abc", "no closing");
    check_refused("\"a\nb\"", "no closing");
    check_refused("\"\\x\"", "unknown escape");
    check_refused("\"\\u12\"", "four hex digits");
    check_refused("\"\\ud800x\"", "half of a character");
    check_refused("\"\\ud800\\u0041\"", "half of a character");
    check_refused("\"\\u0000\"", "zero byte");
}

TEST(a_tower_of_brackets_is_refused_not_a_crash)
{
    size_t       n    = 1000000;
    char        *text = malloc(n);
    fire_json_t *json;

    memset(text, '[', n);
    CHECK_FAILS(fire_json_parse(text, n, "t.json", &json), FIRE_ERR_PARSE,
                "100 levels");
    free(text);
}

TEST(members_are_asked_for_by_kind)
{
    fire_json_t       *j = parse("{\"n\": 4, \"s\": \"x\", \"b\": true}");
    const fire_json_t *item;

    CHECK_OK(fire_json_want(j, "n", FIRE_JSON_NUMBER, &item));
    CHECK_NEAR(item->number, 4, 0);
    CHECK_FAILS(fire_json_want(j, "s", FIRE_JSON_NUMBER, &item), FIRE_ERR_PARSE,
                "\"s\" must be a number, not a text");
    CHECK_FAILS(fire_json_want(j, "q", FIRE_JSON_NUMBER, &item), FIRE_ERR_PARSE,
                "\"q\" is missing");
    CHECK_NEAR(fire_json_number_or(j, "n", 7), 4, 0);
    CHECK_NEAR(fire_json_number_or(j, "s", 7), 7, 0);
    CHECK_STR(fire_json_string_or(j, "s", "other"), "x");
    CHECK_STR(fire_json_string_or(j, "q", "other"), "other");
    CHECK(fire_json_bool_or(j, "b", false));
    CHECK(fire_json_bool_or(j, "q", true));
    fire_json_free(j);
}

TEST(a_file_is_loaded_and_named_in_errors)
{
    char         path[1024];
    fire_json_t *json;

    snprintf(path, sizeof(path), "%s/x.json", test_tmpdir());
    CHECK_OK(fire_file_write(path, "[1]", 3));
    CHECK_OK(fire_json_load(path, &json));
    CHECK_EQ(json->n, 1);
    fire_json_free(json);
    CHECK_OK(fire_file_write(path, "[", 1));
    CHECK_FAILS(fire_json_load(path, &json), FIRE_ERR_PARSE, "x.json:1:2");
}

static void write_sample(fire_json_writer_t *w)
{
    fire_json_open(w, NULL, '{');
    fire_json_add_string(w, "text", "a\"b\\\n\x01\xC3\xA9");
    fire_json_open(w, "list", '[');
    fire_json_add_int(w, NULL, -9007199254740993);
    fire_json_add_number(w, NULL, 0.1);
    fire_json_add_float(w, NULL, 0.1f);
    fire_json_add_number(w, NULL, INFINITY);
    fire_json_add_float(w, NULL, NAN);
    fire_json_close(w, ']');
    fire_json_open(w, "none", '{');
    fire_json_close(w, '}');
    fire_json_add_bool(w, "yes", true);
    fire_json_add_null(w, "nothing");
    fire_json_close(w, '}');
}

TEST(what_is_written_is_json_in_one_line)
{
    fire_json_writer_t w = {0};

    write_sample(&w);
    CHECK_OK(w.status);
    CHECK_STR(w.out.text, "{\"text\":\"a\\\"b\\\\\\n\\u0001\xC3\xA9\","
                          "\"list\":[-9007199254740993,0.1,0.1,null,null],"
                          "\"none\":{},\"yes\":true,\"nothing\":null}");
    fire_json_writer_fini(&w);
}

TEST(an_indented_file_reads_back_the_same)
{
    fire_json_writer_t w = {.indent = 2};
    fire_json_t       *j;

    write_sample(&w);
    CHECK_OK(w.status);
    CHECK(strstr(w.out.text, "{\n  \"text\": ") == w.out.text);
    CHECK(strstr(w.out.text, "\n    0.1,\n") != NULL);
    CHECK(strstr(w.out.text, "\"none\": {},\n") != NULL);
    j = parse(w.out.text);
    CHECK_STR(fire_json_string_or(j, "text", ""), "a\"b\\\n\x01\xC3\xA9");
    fire_json_free(j);
    fire_json_writer_fini(&w);
}

TEST(a_failed_allocation_sticks_in_the_writer)
{
    fire_json_writer_t w = {0};

    fire_alloc_fail_at(1);
    write_sample(&w);
    CHECK_EQ(w.status, FIRE_ERR_NOMEM);
    fire_json_writer_fini(&w);
}

TEST(every_failing_allocation_of_the_reader_is_survived)
{
    const char  *text = "{\"a\": [1, \"x\", {\"b\": \"y\"}]}";
    fire_json_t *json;

    for (int n = 1;; n++) {
        fire_status_t st;

        fire_alloc_fail_at(n);
        st = fire_json_parse(text, strlen(text), "t.json", &json);
        fire_alloc_fail_at(0);
        if (st == FIRE_OK) break;
        CHECK_EQ(st, FIRE_ERR_NOMEM);
    }
    fire_json_free(json);
}
