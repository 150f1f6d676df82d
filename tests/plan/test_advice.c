/* The words that follow from a plan. */
#include "plans.h"

static const char *const tree[]  = {"tree"};
static const int         upto8[] = {1, 2, 4, 8};

static char *advise(fire_plan_t *p, int batch)
{
    static char text[4096];
    fire_str_t  out = {0};

    fill_plan(p, batch, 4, upto8, 1, tree);
    CHECK_OK(fire_plan_advise(p, batch, &out));
    snprintf(text, sizeof(text), "%s", out.n > 0 ? out.text : "");
    fire_str_fini(&out);
    return text;
}

TEST(a_slow_network_is_named_as_the_bottleneck)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");
    const char *text;

    p.cluster.net.latency = 1; /* seconds */
    text                  = advise(&p, 64);
    CHECK(strstr(text, "Recommended for a batch of 64: 1 worker") != NULL);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(an_input_that_starves_workers_is_named_as_the_bottleneck)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");

    p.cluster.compute.input = 10; /* samples/s */
    CHECK(strstr(advise(&p, 64), "Next bottleneck: the input") != NULL);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(layers_with_more_weights_than_inputs_are_listed)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");

    /* A batch of 1: |W| = 72 > |D| = 64 of conv, 96 > 32 of fc. */
    CHECK(strstr(advise(&p, 1), "fewer bytes for: conv, fc (|D| < |W|)") != NULL);
    fire_plan_fini(&p);
    p = make_plan(net, "ethernet10");
    CHECK(strstr(advise(&p, 64), "fewer bytes in every layer") != NULL);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}

TEST(a_batch_without_rows_gets_no_advice)
{
    fire_net_t *net = two_layers();
    fire_plan_t p   = make_plan(net, "ethernet10");
    fire_str_t  out = {0};

    CHECK_OK(fire_plan_advise(&p, 64, &out));
    CHECK_EQ(out.n, 0);
    fire_plan_fini(&p);
    fire_net_destroy(net);
}
