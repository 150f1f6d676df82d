/* test_tune.c - the file of measured choices: kept, merged, and ignored when
 * damaged. */
#include "device/tune.h"

#include <stdlib.h>

#include "base/file.h"
#include "test.h"

static char path[600];

static fire_tune_t *open_one(void)
{
    fire_tune_t *t;

    setenv("XDG_CACHE_HOME", test_tmpdir(), 1);
    snprintf(path, sizeof(path), "%s/firecaffe/tune/A_GPU_9-lib-7", test_tmpdir());
    CHECK_OK(fire_tune_open("A GPU/9", "lib-7", &t));
    return t;
}

TEST(a_choice_is_found_again_by_the_next_run)
{
    fire_tune_t *t = open_one();
    int          choice;

    CHECK(!fire_tune_find(t, "conv_3x3", &choice));
    CHECK_OK(fire_tune_keep(t, "conv_3x3", 5, 0.25));
    CHECK_OK(fire_tune_keep(t, "conv_1x1", 0, 0.125));
    fire_tune_close(t);
    t = open_one();
    CHECK(fire_tune_find(t, "conv_3x3", &choice));
    CHECK_EQ(choice, 5);
    CHECK(fire_tune_find(t, "conv_1x1", &choice));
    CHECK_EQ(choice, 0);
    CHECK(!fire_tune_find(t, "conv", &choice));
    fire_tune_close(t);
}

TEST(runs_beside_each_other_keep_what_both_found)
{
    fire_tune_t *a = open_one(), *b = open_one();
    int          choice;

    CHECK_OK(fire_tune_keep(a, "one", 1, 1));
    CHECK_OK(fire_tune_keep(b, "two", 2, 1));
    fire_tune_close(a);
    fire_tune_close(b);
    a = open_one();
    CHECK(fire_tune_find(a, "one", &choice) && choice == 1);
    CHECK(fire_tune_find(a, "two", &choice) && choice == 2);
    fire_tune_close(a);
}

TEST(a_damaged_file_is_not_used_and_then_replaced)
{
    static const char *const damaged[] = {"", "other\nconv 1 2\n",
                                          "firecaffe tune 1\nconv 1 2\nconv2 x\n",
                                          "firecaffe tune 1\nconv 1 2\ncut off"};
    int                      choice;

    fire_tune_close(open_one());
    for (int i = 0; i < 4; i++) {
        fire_tune_t *t = open_one();

        CHECK_OK(fire_tune_keep(t, "first", 3, 1)); /* the folder is there */
        fire_tune_close(t);
        CHECK_OK(fire_file_write(path, damaged[i], strlen(damaged[i])));
        t = open_one();
        CHECK(!fire_tune_find(t, "conv", &choice));
        CHECK_OK(fire_tune_keep(t, "new", 4, 1));
        fire_tune_close(t);
        t = open_one();
        CHECK(fire_tune_find(t, "new", &choice) && choice == 4);
        fire_tune_close(t);
    }
}

TEST(a_cache_that_cannot_be_written_is_no_error)
{
    fire_tune_t *t;
    int          choice;

    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    CHECK_OK(fire_tune_open("A GPU", "lib", &t));
    CHECK_OK(fire_tune_keep(t, "conv", 2, 1));
    CHECK(fire_tune_find(t, "conv", &choice) && choice == 2);
    fire_tune_close(t);
}
