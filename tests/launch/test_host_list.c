/* test_host_list.c - lists of hosts, and how workers are shared out to them. */
#include "launch/host_list.h"

#include "test.h"

/* What so many workers get at this time. */
static void check_fill(fire_host_list_t *l, double now, int64_t workers,
                       const char *want)
{
    fire_str_t text = {0};
    int        n;

    CHECK_OK(fire_host_list_fill(l, now, workers, true, &text, &n));
    CHECK_STR(text.text != NULL ? text.text : "", want);
    fire_str_fini(&text);
}

TEST(hosts_are_read_as_open_mpi_and_mpich_write_them)
{
    fire_host_list_t l = {0};

    CHECK_OK(fire_host_list_read(&l, "# all\na slots=4 max_slots=8\n b:2 \n\nc 3\n"
                                     "d.e-f_1   # new\na\n"));
    CHECK_EQ(l.n, 4);
    CHECK_EQ(l.host[0].slots, 5);
    CHECK_EQ(fire_host_list_slots(&l, 0), 11);
    check_fill(&l, 0, 8, "a:5,b:2,c:1");
    CHECK(l.host[2].used && !l.host[3].used);
    CHECK_OK(fire_host_list_read(&l, "c,d.e-f_1:7"));
    check_fill(&l, 0, 100, "c:1,d.e-f_1:7");
    CHECK(!l.host[0].listed);
    fire_host_list_fini(&l);
}

/* They become words of a command line. */
TEST(what_is_no_name_of_a_host_is_refused)
{
    static const char *const wrong[] = {"--prefix", "a;b", "a:x", "$(id)",
                                        "a b/c:2,/d"};
    fire_host_list_t         l       = {0};

    for (int i = 0; i < 5; i++)
        CHECK_FAILS(fire_host_list_read(&l, wrong[i]), FIRE_ERR_INVALID, "is no host");
    fire_host_list_fini(&l);
}

TEST(a_host_is_left_out_for_longer_each_time)
{
    fire_host_list_t l = {0};

    CHECK_OK(fire_host_list_read(&l, "a:2,b:2"));
    fire_host_leave_out(&l.host[0], 100, 60);
    check_fill(&l, 159, 4, "b:2");
    check_fill(&l, 160, 4, "a:2,b:2");
    fire_host_leave_out(&l.host[0], 200, 60);
    CHECK(!fire_host_is_good(&l.host[0], 319));
    CHECK(fire_host_is_good(&l.host[0], 320));
    for (int i = 0; i < 20; i++)
        fire_host_leave_out(&l.host[0], 1000, 60);
    CHECK(fire_host_is_good(&l.host[0], 1600)); /* ten times at most */
    fire_host_list_fini(&l);
}
