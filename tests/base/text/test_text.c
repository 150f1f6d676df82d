/* Growing strings, numbers, names like others. */
#include "base/text/text.h"

#include <float.h>
#include <locale.h>
#include "base/alloc.h"
#include "test.h"

TEST(a_string_grows_by_pieces_and_formats)
{
    fire_str_t s = {0};
    char      *text;

    for (int i = 0; i < 1000; i++)
        CHECK_OK(fire_str_printf(&s, "%d,", i % 10));
    CHECK_OK(fire_str_add(&s, "a\0b", 3));
    CHECK_EQ(s.n, 2003);
    CHECK(memcmp(s.text + 1998, "9,a\0b", 6) == 0);
    CHECK_OK(fire_str_take(&s, &text));
    CHECK(s.text == NULL && s.n == 0);
    fire_free(text);
    CHECK_OK(fire_str_take(&s, &text)); /* an empty one */
    CHECK_STR(text, "");
    fire_free(text);
}

TEST(characters_become_utf8)
{
    fire_str_t s = {0};

    CHECK_OK(fire_str_add_utf8(&s, 'A'));
    CHECK_OK(fire_str_add_utf8(&s, 0xE9));
    CHECK_OK(fire_str_add_utf8(&s, 0x20AC));
    CHECK_OK(fire_str_add_utf8(&s, 0x1F525));
    CHECK_STR(s.text, "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x94\xA5");
    fire_str_fini(&s);
}

static void check_float(float value, const char *want)
{
    char text[FIRE_NUMBER_MAX];

    fire_number_print_float(value, text);
    CHECK_STR(text, want);
}

TEST(floats_print_as_short_as_they_can_be_read_back)
{
    check_float(0.1f, "0.1");
    check_float(0.00390625f, "0.00390625");
    check_float(1.0f / 3, "0.33333334");
    check_float(16777216, "16777216");
    check_float(-0.0f, "-0");
    check_float(1e-8f, "1e-08");
    check_float(FLT_MAX, "3.4028235e+38");
    check_float(INFINITY, "inf");
    check_float(-INFINITY, "-inf");
    check_float(NAN, "nan");
}

TEST(doubles_come_back_bit_by_bit)
{
    double values[] = {0.1, 1.0 / 3, DBL_MAX, DBL_MIN, 5e-324, 123456789012345678.0};
    char   text[FIRE_NUMBER_MAX];
    double back;

    for (int i = 0; i < 6; i++) {
        fire_number_print(values[i], text);
        CHECK(fire_number_parse(text, strlen(text), &back));
        CHECK(back == values[i]);
    }
    fire_number_print(0.1, text);
    CHECK_STR(text, "0.1");
}

TEST(only_a_whole_decimal_number_is_one)
{
    const char *bad[] = {"", "1x", "0x10", "inf", "1e", " 1", "1,5", "--1", "."};
    double      value;

    for (int i = 0; i < 9; i++)
        CHECK(!fire_number_parse(bad[i], strlen(bad[i]), &value));
    CHECK(fire_number_parse("2.5e-1junk", 6, &value) && value == 0.25);
    CHECK(fire_number_parse("-.5", 3, &value) && value == -0.5);
}

TEST(a_locale_with_a_comma_changes_nothing)
{
    char   text[FIRE_NUMBER_MAX];
    double value;

    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL)
        test_skip("no German locale on this machine");
    fire_number_print_float(0.5f, text);
    CHECK_STR(text, "0.5");
    CHECK(fire_number_parse("0.5", 3, &value) && value == 0.5);
}

static const char *const words[] = {"layer", "layers", "input", "name", NULL};

static const char *word_at(const void *list, int i)
{
    return ((const char *const *)list)[i];
}

TEST(a_misspelt_word_finds_its_neighbour)
{
    CHECK_STR(fire_name_nearest("laeyr", word_at, words), "layer");
    CHECK_STR(fire_name_nearest("Layer", word_at, words), "layer");
    CHECK_STR(fire_name_nearest("imput", word_at, words), "input");
    CHECK_STR(fire_name_nearest("nam", word_at, words), "name");
    CHECK(fire_name_nearest("convolution", word_at, words) == NULL);
    CHECK(fire_name_nearest("", word_at, words) == NULL);
}

TEST(names_are_listed_as_far_as_there_is_room)
{
    char all[64], some[24];

    fire_name_list(word_at, words, all, sizeof(all));
    CHECK_STR(all, "layer, layers, input, name");
    fire_name_list(word_at, words, some, sizeof(some));
    CHECK_STR(some, "layer, layers, ...");
}

TEST(a_word_of_any_length_can_be_looked_up)
{
    char long_word[300];

    memset(long_word, 'x', sizeof(long_word));
    long_word[299] = '\0';
    CHECK(fire_name_nearest(long_word, word_at, words) == NULL);
}

TEST(plain_text_holds_nothing_that_controls_a_terminal)
{
    char text[] = "a\x1b[31mb\rc\x7f\td\n\xc2\x9b"
                  "e\x9b"
                  "f \xc3\xa4 \xe2\x94\x80 \xc2";

    CHECK_STR(fire_text_make_plain(text),
              "a?[31mb?c?\td\n??e?f \xc3\xa4 \xe2\x94\x80 \xc2");
}
