/* test_pool.c - what pools give, reuse and merge, and what they say when memory is
 * out. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/alloc.h"
#include "device/pool.h"
#include "test.h"

static char *take(fire_pool_t *p, size_t bytes)
{
    void *ptr;

    CHECK_OK(fire_pool_take(p, bytes, &ptr));
    CHECK_EQ((uintptr_t)ptr % 64, 0);
    memset(ptr, 0xab, bytes);
    return ptr;
}

TEST(a_pool_gives_the_same_memory_again)
{
    fire_pool_t *p;
    char        *a, *b;

    CHECK_OK(fire_pool_create(&p));
    a = take(p, 1000);
    b = take(p, 1000);
    CHECK(a != b);
    fire_pool_give(p, a);
    CHECK(take(p, 900) == a);
    fire_pool_release(p);
}

TEST(neighbouring_gaps_of_a_pool_are_merged)
{
    fire_pool_t *p;
    char        *a, *b, *c;
    size_t       peak;

    CHECK_OK(fire_pool_create(&p));
    a    = take(p, 1000);
    b    = take(p, 1000);
    c    = take(p, 1000);
    peak = fire_pool_peak(p);
    fire_pool_give(p, a);
    fire_pool_give(p, c);
    fire_pool_give(p, b);
    CHECK(take(p, 3000) == a);
    CHECK_EQ(fire_pool_peak(p), peak);
    fire_pool_release(p);
}

static char *take_lasting(fire_pool_t *p, size_t bytes)
{
    void *ptr;

    CHECK_OK(fire_pool_take_lasting(p, bytes, &ptr));
    CHECK_EQ((uintptr_t)ptr % 64, 0);
    memset(ptr, 0xcd, bytes);
    return ptr;
}

TEST(lasting_memory_comes_from_the_other_end)
{
    fire_pool_t *p;
    char        *a, *b, *c, *d;
    size_t       peak;

    CHECK_OK(fire_pool_create(&p));
    a = take(p, 1000);
    b = take_lasting(p, 3000);
    c = take_lasting(p, 1000);
    CHECK(a < c && c < b);
    peak = fire_pool_peak(p);
    CHECK(peak >= 5000 && peak < 6000);
    fire_pool_give(p, a);
    CHECK(take(p, 1000) == a);
    fire_pool_give(p, b);
    d = take_lasting(p, 1000);
    CHECK(d > b && d < b + 3000);
    fire_pool_give(p, d);
    CHECK(take_lasting(p, 3000) == b);
    CHECK_EQ(fire_pool_peak(p), peak);
    CHECK_FAILS(fire_pool_take_lasting(p, SIZE_MAX / 2, (void **)&d), FIRE_ERR_NOMEM,
                "out of memory");
    fire_pool_release(p);
}

TEST(a_pool_is_freed_with_its_last_reference)
{
    fire_pool_t *p;
    char        *a;

    CHECK_OK(fire_pool_create(&p));
    CHECK(fire_pool_retain(p) == p);
    a = take(p, 64);
    fire_pool_release(p);
    CHECK_EQ((unsigned char)a[0], 0xab);
    fire_pool_give(p, a);
    fire_pool_release(p);
    CHECK(fire_pool_retain(NULL) == NULL);
    fire_pool_release(NULL);
}

TEST(a_pool_says_when_there_is_no_memory)
{
    fire_pool_t *p;
    void        *ptr;

    CHECK_OK(fire_pool_create(&p));
    CHECK_FAILS(fire_pool_take(p, SIZE_MAX / 2, &ptr), FIRE_ERR_NOMEM, "out of memory");
    fire_pool_release(p);
    fire_alloc_fail_at(3);
    CHECK_FAILS(fire_pool_create(&p), FIRE_ERR_NOMEM, "out of memory");
    fire_alloc_fail_at(0);
}

static rlim_t addresses_in_use(void)
{
    unsigned long pages = 0;
    FILE         *f     = fopen("/proc/self/statm", "r");

    CHECK(f != NULL);
    CHECK_EQ(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Batch systems limit the address space. oneDNN crashes where it gets no memory. */
TEST(pools_leave_addresses_to_others_where_they_are_limited)
{
    struct rlimit before, tight;
    fire_pool_t  *a, *b;
    void         *other;

    CHECK_EQ(getrlimit(RLIMIT_AS, &before), 0);
    tight          = before;
    tight.rlim_cur = addresses_in_use() + ((rlim_t)4 << 30);
    CHECK_EQ(setrlimit(RLIMIT_AS, &tight), 0);
    CHECK_OK(fire_pool_create(&a));
    CHECK_OK(fire_pool_create(&b));
    CHECK_OK(fire_alloc_raw((size_t)1 << 30, "test", &other));
    CHECK_EQ(setrlimit(RLIMIT_AS, &before), 0);
    fire_free(other);
    fire_pool_release(a);
    fire_pool_release(b);
}
