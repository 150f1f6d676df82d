/* Files with pictures of nets. What Graphviz draws is not tested: it may not be there. */
#include "base/alloc.h"
#include "base/file.h"
#include "report/graph/draw.h"
#include "test.h"

static void describe(fire_json_writer_t *w)
{
    fire_json_open(w, NULL, '[');
    fire_json_open(w, NULL, '{');
    fire_json_add_string(w, "name", "data");
    fire_json_add_string(w, "type", "Input");
    fire_json_open(w, "bottoms", '[');
    fire_json_close(w, ']');
    fire_json_open(w, "tops", '[');
    fire_json_add_string(w, NULL, "data");
    fire_json_close(w, ']');
    fire_json_open(w, "shapes", '[');
    fire_json_close(w, ']');
    fire_json_close(w, '}');
    fire_json_close(w, ']');
}

static fire_status_t draw(const char *path)
{
    fire_json_writer_t w = {0};
    fire_status_t      st;

    describe(&w);
    st = fire_draw_file(&w, "TB", path);
    fire_json_writer_fini(&w);
    return st;
}

static void check_begins(const char *name, const char *text)
{
    char  *got;
    size_t n;

    CHECK_OK(draw(test_path(name)));
    CHECK_OK(fire_file_read(test_path(name), &got, &n));
    if (strncmp(got, text, strlen(text)) != 0)
        test_fail(__FILE__, __LINE__, "%s begins with \"%.40s\"", name, got);
    fire_free(got);
}

TEST(the_ending_of_the_name_is_the_format)
{
    check_begins("net.svg", "<svg");
    check_begins("net.html", "<!DOCTYPE html>");
    check_begins("net.dot", "digraph");
}

TEST(a_name_without_an_ending_is_refused)
{
    CHECK_FAILS(draw(test_path("net")), FIRE_ERR_INVALID,
                "must end in .svg, .html or .dot");
}

TEST(a_format_that_nobody_knows_names_those_that_need_nothing)
{
    CHECK_FAILS(draw(test_path("net.nothing")), FIRE_ERR_UNSUPPORTED,
                ".svg, .html and .dot need nothing");
}
