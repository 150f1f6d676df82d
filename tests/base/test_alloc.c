/* Allocation that can be made to fail, and arrays that grow. */
#include "base/alloc.h"
#include "test.h"

TEST(memory_is_zeroed_and_aligned)
{
    char *p;

    CHECK_OK(FIRE_NEW(&p, 1000));
    CHECK_EQ((uintptr_t)p % 64, 0);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(p[i], 0);
    fire_free(p);
}

TEST(a_size_that_overflows_is_an_error_not_a_small_block)
{
    void *p;

    CHECK_FAILS(fire_alloc(SIZE_MAX / 2, 4, "weights", &p), FIRE_ERR_NOMEM, "weights");
}

TEST(the_chosen_allocation_fails_and_only_that_one)
{
    void *a, *b;

    fire_alloc_fail_at(2);
    CHECK_OK(fire_alloc(1, 1, "first", &a));
    CHECK_FAILS(fire_alloc(1, 1, "second", &b), FIRE_ERR_NOMEM, "second");
    CHECK_OK(fire_alloc(1, 1, "third", &b));
    fire_free(a);
    fire_free(b);
}

TEST(growing_keeps_what_was_there)
{
    int    *array = NULL;
    int64_t cap   = 0;

    for (int i = 0; i < 100; i++) {
        CHECK_OK(fire_grow(&array, &cap, i + 1, sizeof(*array)));
        array[i] = i;
    }
    for (int i = 0; i < 100; i++)
        CHECK_EQ(array[i], i);
    fire_free(array);
}
