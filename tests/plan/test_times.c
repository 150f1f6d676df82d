/* Measured seconds of layers, from the JSON that `firecaffe time --json` prints. */
#include "base/file.h"
#include "plans.h"

/* An entry of "times" in which every layer takes 2 s forward and 1 s backward. */
#define LAYER(name) "{\"name\": \"" name "\", \"forward_s\": 2, \"backward_s\": 1}"
#define TIMES(batch, first)                                          \
    "{\"batch\": " batch ", \"forward_s\": 9, \"backward_s\": 4.5, " \
    "\"meeting_s\": 0.5, \"layers\": [" first                        \
    ", " LAYER("conv") ", " LAYER("relu") ", " LAYER("fc") "]}"

static fire_status_t read_times(const char *json, fire_plan_t *p)
{
    fire_net_t   *net = two_layers();
    fire_status_t st;

    CHECK_OK(fire_file_write(test_path("times.json"), json, strlen(json)));
    *p = make_plan(net, "ethernet10");
    st = fire_plan_net_time(&p->net, &p->cluster, test_path("times.json"));
    fire_net_destroy(net);
    return st;
}

TEST(times_are_sorted_by_batch)
{
    fire_plan_t p;

    CHECK_OK(read_times("{\"workers\": 1, \"times\": [" TIMES(
                            "8", LAYER("data")) "," TIMES("4", LAYER("data")) "]}",
                        &p));
    CHECK_EQ(p.net.ntiming, 2);
    CHECK_EQ(p.net.timing[0].batch, 4);
    CHECK_EQ(p.net.timing[1].batch, 8);
    CHECK_NEAR(p.net.timing[0].forward[1], 2, 0);
    CHECK_NEAR(p.net.timing[0].backward[3], 1, 0);
    CHECK_NEAR(p.net.timing[0].other, 9 + 4.5 - 4 * 3, 1e-12); /* between layers */
    CHECK_NEAR(p.net.timing[0].meeting, 0.5, 0);
    fire_plan_fini(&p);
}

TEST(a_file_of_another_net_is_refused)
{
    fire_plan_t p;

    CHECK_FAILS(read_times("{\"times\": [" TIMES("8", LAYER("image")) "]}", &p),
                FIRE_ERR_PARSE, "layer \"data\" of the net is missing");
    fire_plan_fini(&p);
}

TEST(a_batch_given_twice_or_of_nothing_is_refused)
{
    fire_plan_t p;

    CHECK_FAILS(read_times("{\"times\": [" TIMES("8", LAYER("data")) "," TIMES(
                               "8", LAYER("data")) "]}",
                           &p),
                FIRE_ERR_PARSE, "8");
    fire_plan_fini(&p);
    CHECK_FAILS(read_times("{\"times\": [" TIMES("0", LAYER("data")) "]}", &p),
                FIRE_ERR_PARSE, "0");
    fire_plan_fini(&p);
}
