/* Command-line options: forms, ranges, messages. */
#include "base/text/options.h"

#include <stdlib.h>
#include "base/file.h"
#include "test.h"

typedef struct values {
    const char        *solver, *weights, *out;
    int64_t            iterations;
    double             rate;
    bool               gray, check_size;
    fire_option_list_t in;
} values_t;

static const fire_option_t table[] = {
    FIRE_OPTION(values_t, solver, STRING, "", "FILE", "the solver definition"),
    FIRE_OPTION(values_t, weights, STRING, NULL, "FILE", "weights to begin with"),
    FIRE_OPTION(values_t, out, PATH, "", "DIR", "where it goes"),
    FIRE_OPTION(values_t, iterations, INT, "50", "N", "how many batches"),
    FIRE_OPTION(values_t, rate, DOUBLE, "0.5", "X", "a rate"),
    FIRE_OPTION(values_t, gray, BOOL, "false", NULL, "read images as gray"),
    FIRE_OPTION(values_t, check_size, BOOL, "true", NULL, "demand one size"),
    FIRE_OPTION(values_t, in, LIST, NULL, "BLOB=FILE", "an input"),
    {0},
};

static values_t                  v;
static fire_options_t            o;
static const fire_option_group_t groups[] = {{"Flags", table, &v}, {0}};

#define PARSE(...)                                  \
    parse((const char *[]){"program", __VA_ARGS__}, \
          sizeof((const char *[]){"program", __VA_ARGS__}) / sizeof(char *))

static fire_status_t parse(const char *const *argv, size_t argc)
{
    fire_options_fini(groups, &o);
    return fire_options_parse(groups, (int)argc, argv, &o);
}

static void done(void)
{
    fire_options_fini(groups, &o);
}

TEST(flags_that_are_not_given_keep_their_defaults)
{
    CHECK_OK(PARSE("argument"));
    CHECK_STR(v.solver, "");
    CHECK(v.weights == NULL);
    CHECK_EQ(v.iterations, 50);
    CHECK_NEAR(v.rate, 0.5, 0);
    CHECK(!v.gray && v.check_size);
    CHECK_EQ(v.in.n, 0);
    done();
}

TEST(every_way_gflags_has_to_write_a_flag_works)
{
    CHECK_OK(PARSE("-solver", "a", "--weights=b=c", "--iterations", "-3", "--rate=1e-3",
                   "--gray", "--nocheck_size"));
    CHECK_STR(v.solver, "a");
    CHECK_STR(v.weights, "b=c");
    CHECK_EQ(v.iterations, -3);
    CHECK_NEAR(v.rate, 1e-3, 0);
    CHECK(v.gray && !v.check_size);
    CHECK_OK(PARSE("--check-size=false", "-gray=1", "--solver="));
    CHECK(v.gray && !v.check_size);
    CHECK_STR(v.solver, "");
    done();
}

TEST(arguments_stand_anywhere_and_all_is_one_after_two_dashes)
{
    CHECK_OK(PARSE("a", "--gray", "b", "-", "--", "--solver", "-x"));
    CHECK_EQ(o.narg, 5);
    CHECK_STR(o.arg[0], "a");
    CHECK_STR(o.arg[1], "b");
    CHECK_STR(o.arg[2], "-");
    CHECK_STR(o.arg[3], "--solver");
    CHECK_STR(o.arg[4], "-x");
    done();
}

TEST(a_list_flag_keeps_every_use)
{
    CHECK_OK(PARSE("--in", "a=1", "--in=b=2"));
    CHECK_EQ(v.in.n, 2);
    CHECK_STR(v.in.text[0], "a=1");
    CHECK_STR(v.in.text[1], "b=2");
    done();
}

TEST(a_misspelt_flag_is_answered_with_the_nearest_one)
{
    CHECK_FAILS(PARSE("--solvr=x"), FIRE_ERR_INVALID,
                "unknown flag --solvr; did you mean --solver?");
    CHECK_FAILS(PARSE("--nosolver"), FIRE_ERR_INVALID, "unknown flag --nosolver");
    CHECK_FAILS(PARSE("--qqqqqqqqqqqq"), FIRE_ERR_INVALID,
                "unknown flag --qqqqqqqqqqqq");
    done();
}

TEST(a_value_of_the_wrong_kind_is_named)
{
    CHECK_FAILS(PARSE("--iterations=ten"), FIRE_ERR_INVALID,
                "--iterations takes a whole number, not \"ten\"");
    CHECK_FAILS(PARSE("--iterations=99999999999999999999"), FIRE_ERR_INVALID, "whole");
    CHECK_FAILS(PARSE("--rate=fast"), FIRE_ERR_INVALID, "--rate takes a number");
    CHECK_FAILS(PARSE("--gray=maybe"), FIRE_ERR_INVALID, "--gray takes true or false");
    CHECK_FAILS(PARSE("--solver"), FIRE_ERR_INVALID, "--solver needs a value");
    done();
}

TEST(a_path_must_have_a_name_and_can_be_taken_back)
{
    CHECK_OK(PARSE("--out", "a"));
    CHECK_STR(v.out, "a");
    CHECK_OK(PARSE("--out=a", "--noout"));
    CHECK_STR(v.out, "");
    CHECK_FAILS(PARSE("--out", ""), FIRE_ERR_INVALID, "--out takes DIR, not \"\"");
    CHECK_FAILS(PARSE("--out=a", "--out="), FIRE_ERR_INVALID, "--out takes");
    CHECK_FAILS(PARSE("--noout=a"), FIRE_ERR_INVALID, "unknown flag --noout");
    setenv("FLAGS_out", "", 1);
    CHECK_FAILS(PARSE("--fromenv=out"), FIRE_ERR_INVALID, "--out takes");
    done();
}

TEST(flag_files_are_read_and_later_flags_win)
{
    char        path[600], flag[620];
    const char *text = "# comment\n\n  --solver=from file\n--gray\n--iterations=7\n";

    snprintf(path, sizeof(path), "%s/flags", test_tmpdir());
    snprintf(flag, sizeof(flag), "--flagfile=%s", path);
    CHECK_OK(fire_file_write(path, text, strlen(text)));
    CHECK_OK(PARSE(flag, "--iterations=8"));
    CHECK_STR(v.solver, "from file");
    CHECK(v.gray);
    CHECK_EQ(v.iterations, 8);
    CHECK_OK(fire_file_write(path, "solver", 6));
    CHECK_FAILS(PARSE(flag), FIRE_ERR_INVALID, "\"solver\" is no flag");
    CHECK_OK(fire_file_write(path, flag, strlen(flag)));
    CHECK_FAILS(PARSE(flag), FIRE_ERR_INVALID, "include each other");
    CHECK_FAILS(PARSE("--flagfile", "/no/such"), FIRE_ERR_IO, "/no/such");
    done();
}

TEST(flags_come_from_variables_when_asked_for)
{
    setenv("FLAGS_iterations", "12", 1);
    CHECK_OK(PARSE("--fromenv=iterations", "--tryfromenv=solver"));
    CHECK_EQ(v.iterations, 12);
    CHECK_FAILS(PARSE("--fromenv=solver"), FIRE_ERR_INVALID, "FLAGS_solver is not set");
    CHECK_FAILS(PARSE("--fromenv=solvr"), FIRE_ERR_INVALID, "unknown flag");
    done();
}

TEST(help_lists_every_flag_with_its_default)
{
    fire_str_t text = {0};

    CHECK_OK(fire_options_help(groups, &text));
    CHECK(strstr(text.text, "Flags:\n") != NULL);
    CHECK(strstr(text.text, "  --solver FILE           the solver definition\n"));
    CHECK(strstr(text.text, "how many batches (default: 50)\n") != NULL);
    CHECK(
        strstr(text.text, "  --check_size            demand one size (default: true)"));
    fire_str_fini(&text);
}
