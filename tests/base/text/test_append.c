/* Files that lines are appended to. */
#include "base/alloc.h"
#include "base/text/append.h"
#include "base/file.h"
#include "test.h"

static const char *path(void)
{
    static char name[1024];

    snprintf(name, sizeof(name), "%s/lines.jsonl", test_tmpdir());
    return name;
}

static void add_line(fire_append_t *f, int64_t value)
{
    fire_json_writer_t w = {0};

    fire_json_open(&w, NULL, '{');
    fire_json_add_int(&w, "x", value);
    fire_json_close(&w, '}');
    CHECK_OK(fire_append_json(f, &w, "\n"));
    fire_json_writer_fini(&w);
}

static void check_contents(const char *want)
{
    char  *text;
    size_t n;

    CHECK_OK(fire_file_read(path(), &text, &n));
    CHECK_STR(text, want);
    fire_free(text);
}

TEST(what_was_flushed_can_be_read_while_the_file_grows)
{
    fire_append_t *f;

    CHECK_OK(fire_append_open(path(), false, &f));
    add_line(f, 1);
    check_contents("");
    CHECK_OK(fire_append_flush(f));
    check_contents("{\"x\":1}\n");
    add_line(f, 2);
    CHECK_OK(fire_append_close(f));
    check_contents("{\"x\":1}\n{\"x\":2}\n");
}

TEST(a_file_starts_again_or_goes_on_as_told)
{
    fire_append_t *f;

    for (int64_t i = 1; i <= 4; i++) {
        CHECK_OK(fire_append_open(path(), i != 3, &f));
        add_line(f, i);
        CHECK_OK(fire_append_close(f));
    }
    check_contents("{\"x\":3}\n{\"x\":4}\n");
}

TEST(going_on_after_a_cut_off_line_begins_a_new_one)
{
    fire_append_t *f;

    CHECK_OK(fire_file_write(path(), "{\"x\":1}\n{\"x\"", 12));
    CHECK_OK(fire_append_open(path(), true, &f));
    add_line(f, 2);
    CHECK_OK(fire_append_close(f));
    check_contents("{\"x\":1}\n{\"x\"\n{\"x\":2}\n");
}

TEST(a_writer_is_ready_for_the_next_value_after_a_failure)
{
    fire_json_writer_t w = {.status = FIRE_ERR_NOMEM};
    fire_append_t     *f;

    CHECK_OK(fire_append_open(path(), false, &f));
    CHECK(fire_append_json(f, &w, "\n") == FIRE_ERR_NOMEM);
    CHECK_EQ(w.status, FIRE_OK);
    fire_json_writer_fini(&w);
    add_line(f, 7);
    CHECK_OK(fire_append_close(f));
    check_contents("{\"x\":7}\n");
}

TEST(a_place_that_cannot_be_written_to_is_named)
{
    fire_append_t *f;

    CHECK_FAILS(fire_append_open("/no/such/place/run.jsonl", false, &f), FIRE_ERR_IO,
                "/no/such/place/run.jsonl");
    CHECK_OK(fire_append_open("/dev/full", true, &f));
    CHECK_OK(fire_append_add(f, "x", 1));
    CHECK_FAILS(fire_append_close(f), FIRE_ERR_IO, "/dev/full");
}
