/* Tests src/model/values/values.c and src/model/values/values_text.c: settings whose keys no schema
 * knows. */
#include "base/alloc.h"
#include "model/values/values.h"
#include "test.h"

static fire_values_t *tree(const char *text)
{
    fire_values_t *v = NULL;

    CHECK_OK(fire_values_create("plugin_param", &v));
    CHECK_OK(fire_values_parse(v, text, strlen(text), "text"));
    return v;
}

static void check_refused(const char *text, const char *message)
{
    fire_values_t *v = NULL;

    CHECK_OK(fire_values_create("plugin_param", &v));
    CHECK_FAILS(fire_values_parse(v, text, strlen(text), "net.prototxt"),
                FIRE_ERR_PARSE, message);
    fire_values_destroy(v);
}

TEST(values_are_found_by_their_keys)
{
    fire_values_t *v =
        tree("a: 3 b: -0.5, c: \"x\" 'y'; d: MAX e: true f: 0x10 g: 1e3f");
    int64_t     i;
    double      x;
    bool        yes;
    const char *text;

    CHECK_OK(fire_values_int(v, "a", 7, &i));
    CHECK_EQ(i, 3);
    CHECK_OK(fire_values_int(v, "f", 7, &i));
    CHECK_EQ(i, 16);
    CHECK_OK(fire_values_number(v, "a", 7, &x));
    CHECK_NEAR(x, 3, 0);
    CHECK_OK(fire_values_number(v, "b", 7, &x));
    CHECK_NEAR(x, -0.5, 0);
    CHECK_OK(fire_values_number(v, "g", 7, &x));
    CHECK_NEAR(x, 1000, 0);
    CHECK_OK(fire_values_text(v, "c", "", &text));
    CHECK_STR(text, "xy");
    CHECK_OK(fire_values_text(v, "d", "", &text));
    CHECK_STR(text, "MAX");
    CHECK_OK(fire_values_bool(v, "e", false, &yes));
    CHECK(yes);
    CHECK_OK(fire_values_check(v));
    fire_values_destroy(v);
}

TEST(a_key_that_is_not_given_has_the_preset)
{
    fire_values_t *v = tree("");
    int64_t        i;
    double         x;
    bool           yes;
    const char    *text;

    CHECK_OK(fire_values_int(v, "a", 7, &i));
    CHECK_OK(fire_values_number(v, "a", 0.5, &x));
    CHECK_OK(fire_values_bool(v, "a", true, &yes));
    CHECK_OK(fire_values_text(v, "a", "none", &text));
    CHECK(i == 7 && x == 0.5 && yes);
    CHECK_STR(text, "none");
    CHECK_EQ(fire_values_count(v, "a"), 0);
    fire_values_destroy(v);
}

TEST(lists_and_repeated_keys_are_the_same)
{
    fire_values_t *v = tree("a: [1, 2] b: 1 a: 3 w: ['x', Y] none: []");
    int64_t        i;
    double         x;
    const char    *text;

    CHECK_EQ(fire_values_count(v, "a"), 3);
    CHECK_OK(fire_values_int_at(v, "a", 2, &i));
    CHECK_EQ(i, 3);
    CHECK_OK(fire_values_number_at(v, "a", 1, &x));
    CHECK_NEAR(x, 2, 0);
    CHECK_OK(fire_values_text_at(v, "w", 1, &text));
    CHECK_STR(text, "Y");
    CHECK_EQ(fire_values_count(v, "none"), 0);
    CHECK_FAILS(fire_values_int_at(v, "a", 3, &i), FIRE_ERR_INVALID,
                "plugin_param: value 4 of a is missing");
    CHECK_FAILS(fire_values_int(v, "a", 0, &i), FIRE_ERR_INVALID,
                "plugin_param: a is given 3 times, it takes one");
    fire_values_destroy(v);
}

TEST(a_group_is_a_tree_of_its_own)
{
    fire_values_t *v = tree("window { size: 3 at < x: 1 > } window: { size: 5 }"), *g,
                  *at;
    int64_t i;

    CHECK_EQ(fire_values_count(v, "window"), 2);
    CHECK_OK(fire_values_group(v, "window", 1, &g));
    CHECK_OK(fire_values_int(g, "size", 0, &i));
    CHECK_EQ(i, 5);
    CHECK_OK(fire_values_group(v, "window", 0, &g));
    CHECK_OK(fire_values_int(g, "size", 0, &i));
    CHECK_OK(fire_values_group(g, "at", 0, &at));
    CHECK_FAILS(fire_values_check(v), FIRE_ERR_INVALID,
                "plugin_param.window.at has no key \"x\"; it has no keys");
    CHECK_OK(fire_values_int(at, "x", 0, &i));
    CHECK_EQ(i, 1);
    CHECK_OK(fire_values_check(v));
    CHECK_OK(fire_values_group(v, "window", 2, &g));
    CHECK(g == NULL);
    fire_values_destroy(v);
}

TEST(a_value_of_another_kind_is_refused_by_its_key)
{
    fire_values_t *v = tree("a: 'x' b: 1.5 c { } d: 9223372036854775808 "
                            "e: -9223372036854775808 f: yes g: inf");
    int64_t        i;
    double         x;
    bool           yes;
    const char    *text;
    fire_values_t *g;

    CHECK_FAILS(fire_values_number(v, "a", 0, &x), FIRE_ERR_INVALID,
                "plugin_param: a needs a number, not \"x\"");
    CHECK_FAILS(fire_values_int(v, "b", 0, &i), FIRE_ERR_INVALID,
                "b needs an integer, not \"1.5\"");
    CHECK_FAILS(fire_values_number(v, "c", 0, &x), FIRE_ERR_INVALID,
                "c needs a number, not { ... }");
    CHECK_FAILS(fire_values_text(v, "b", "", &text), FIRE_ERR_INVALID,
                "b needs a text, not \"1.5\"");
    CHECK_FAILS(fire_values_group(v, "b", 0, &g), FIRE_ERR_INVALID,
                "b needs { ... }, not \"1.5\"");
    CHECK_FAILS(fire_values_int(v, "d", 0, &i), FIRE_ERR_INVALID,
                "d needs an integer, not \"9223372036854775808\"");
    CHECK_FAILS(fire_values_bool(v, "f", false, &yes), FIRE_ERR_INVALID,
                "f needs true or false, not \"yes\"");
    CHECK_OK(fire_values_int(v, "e", 0, &i));
    CHECK_EQ(i, INT64_MIN);
    CHECK_OK(fire_values_number(v, "g", 0, &x));
    CHECK(isinf(x));
    fire_values_destroy(v);
}

TEST(a_key_that_nobody_asks_for_is_unknown)
{
    fire_values_t *v = tree("alpah: 2");
    double         x;

    CHECK_OK(fire_values_number(v, "alpha", 0, &x));
    CHECK_FAILS(fire_values_check(v), FIRE_ERR_INVALID,
                "plugin_param has no key \"alpah\"; did you mean \"alpha\"?");
    fire_values_destroy(v);
    v = tree("zoom: 2");
    CHECK_OK(fire_values_number(v, "alpha", 0, &x));
    CHECK_OK(fire_values_number(v, "beta", 0, &x));
    CHECK_FAILS(fire_values_check(v), FIRE_ERR_INVALID,
                "plugin_param has no key \"zoom\"; it has: alpha, beta");
    fire_values_destroy(v);
    v = tree("filler { type: 'xavier' more { a: 1 } } zoom: 2");
    fire_values_trust(v, "filler");
    CHECK_FAILS(fire_values_check(v), FIRE_ERR_INVALID, "no key \"zoom\"");
    fire_values_destroy(v);
}

TEST(damaged_text_is_refused_with_its_place)
{
    check_refused("a: 1\n b 2", "net.prototxt:2:4: \"b\" needs \":\" and a value");
    check_refused("a:", "\"a\" needs a value, but the text ends here");
    check_refused("a: -'x'", "\"a\" needs a value, not \"'x'\"");
    check_refused("a: [1 2]", "\"a\" needs \",\" or \"]\" here, not \"2\"");
    check_refused("a { b: 1",
                  "the text ends inside \"plugin_param.a\"; a } is missing");
    check_refused("a { b: 1 >",
                  "a key of \"plugin_param.a\" must stand here, not \">\"");
    check_refused("}", "a key of \"plugin_param\" must stand here");
    check_refused("a: 'x\\0y'", "holds a zero byte");
    check_refused(
        "a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{a{",
        "more than 32 groups inside one another");
}

TEST(text_printed_and_read_again_is_the_same)
{
    static const char given[] = "a:[1,-2.50] b<c:'q\"\\n' d:X>";
    static const char want[]  = "a: 1\na: -2.50\nb {\n  c: \"q\\\"\\n\"\n  d: X\n}\n";
    fire_values_t    *v       = tree(given);
    fire_str_t        once = {0}, twice = {0};

    CHECK_OK(fire_values_print(v, 0, &once));
    CHECK_STR(once.text, want);
    fire_values_destroy(v);
    v = tree(once.text);
    CHECK_OK(fire_values_print(v, 0, &twice));
    CHECK_STR(twice.text, want);
    fire_values_destroy(v);
    fire_str_fini(&once);
    fire_str_fini(&twice);
}

/* Each allocation fails once. */
TEST(a_tree_survives_lack_of_memory)
{
    static const char text[] = "a: 1 b { c: 'x' d: [1, 2] }";

    for (int64_t n = 1;; n++) {
        fire_values_t *v = NULL;
        fire_status_t  st;

        fire_alloc_fail_at(n);
        st = fire_values_create("plugin_param", &v);
        if (st >= 0) st = fire_values_parse(v, text, sizeof(text) - 1, "text");
        fire_alloc_fail_at(0);
        fire_values_destroy(v);
        if (st == FIRE_OK) break;
        CHECK_EQ(st, FIRE_ERR_NOMEM);
    }
}
