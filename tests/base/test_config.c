/* Options of programs compiled with this header, an older one and a newer one. */
#include "base/config.h"

#include <stddef.h>
#include "test.h"

typedef struct options {
    size_t size;
    int    a, b, c, d;
} options_t;

static options_t read(const void *from, fire_status_t want)
{
    options_t to = {sizeof(to), 1, 2, 3, 4};

    CHECK_EQ(fire_config_read(from, &to, sizeof(to), "config of a test"), want);
    CHECK_EQ(to.size, sizeof(to));
    return to;
}

TEST(no_options_leave_the_defaults)
{
    CHECK_EQ(read(NULL, FIRE_OK).b, 2);
}

TEST(options_replace_the_defaults)
{
    const options_t o = {sizeof(o), 5, 6, 7, 8};

    CHECK_EQ(read(&o, FIRE_OK).d, 8);
}

TEST(an_older_header_leaves_later_members_alone)
{
    const options_t o = {offsetof(options_t, c), 5, 6, 7, 8};

    CHECK_EQ(read(&o, FIRE_OK).b, 6);
    CHECK_EQ(read(&o, FIRE_OK).c, 3);
}

TEST(a_newer_header_may_ask_for_nothing_unknown)
{
    struct {
        options_t o;
        int       later[2];
    } n = {{sizeof(n), 5, 6, 7, 8}, {0, 0}};

    CHECK_EQ(read(&n, FIRE_OK).d, 8);
    n.later[1] = 1;
    CHECK_EQ(read(&n, FIRE_ERR_INVALID).d, 4);
    CHECK(strstr(fire_last_error(), "use a newer library") != NULL);
}

TEST(a_struct_without_a_size_is_refused)
{
    const options_t o = {0};

    read(&o, FIRE_ERR_INVALID);
    CHECK(strstr(fire_last_error(), "config of a test has size 0") != NULL);
}
