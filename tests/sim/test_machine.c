/* Machine files, right and wrong. */
#include "base/text/json.h"
#include "sim/machine.h"
#include "test.h"

#define NET     "\"net\": {\"latency_us\": 2, \"bandwidth_gb_s\": 5}"
#define COMPUTE "\"compute\": {\"gflop_s\": 1000, \"memory_gb_s\": 100}"
#define STAR    "\"topology\": {\"kind\": \"star\"}"

static fire_status_t parse(const char *text, fire_cluster_t *c)
{
    fire_json_t  *json;
    fire_status_t st;

    CHECK_OK(fire_json_parse(text, strlen(text), "m.json", &json));
    st = fire_cluster_parse(json, "m.json", c);
    fire_json_free(json);
    return st;
}

TEST(a_machine_file_gives_seconds_and_bytes)
{
    fire_cluster_t c;

    CHECK_OK(parse("{\"name\": \"x\", " STAR ", " NET ", " COMPUTE "}", &c));
    CHECK_STR(c.name, "x");
    CHECK_EQ(c.per_node, 1);
    CHECK_NEAR(c.net.latency, 2e-6, 1e-12);
    CHECK_NEAR(c.net.bandwidth, 5e9, 1);
    CHECK_NEAR(c.node.bandwidth, 5e9, 1);
    CHECK_NEAR(c.compute.flops, 1e12, 1);
}

TEST(topologies_have_fields_of_their_own)
{
    fire_cluster_t c;

    CHECK_OK(parse("{\"name\": \"x\", \"topology\": {\"kind\": \"fat_tree\", \"leaf\": "
                   "16, \"oversubscription\": 2}, " NET ", " COMPUTE "}",
                   &c));
    CHECK_EQ(c.leaf, 16);
    CHECK_NEAR(c.oversubscription, 2, 0);
    CHECK_OK(parse("{\"name\": \"x\", \"topology\": {\"kind\": \"torus\", \"dims\": "
                   "[8, 4]}, " NET ", " COMPUTE "}",
                   &c));
    CHECK_EQ(c.dims[0], 8);
    CHECK_EQ(c.dims[2], 1);
}

TEST(wrong_fields_are_named_with_their_line)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{" STAR ", " NET ", " COMPUTE "}", "\"name\" is missing"},
        {"{\"name\": 3, " STAR ", " NET ", " COMPUTE "}", "\"name\" must be a text"},
        {"{\"name\": \"x\", " NET ", " COMPUTE "}", "\"topology\" is missing"},
        {"{\"name\": \"x\", \"topology\": {\"kind\": \"moon\"}, " NET ", " COMPUTE "}",
         "\"topology.kind\" must be star, fat_tree or torus"},
        {"{\"name\": \"x\", \"topology\": {\"kind\": \"fat_tree\"}, " NET ", " COMPUTE
         "}",
         "\"topology.leaf\" is missing"},
        {"{\"name\": \"x\", \"topology\": {\"kind\": \"torus\", \"dims\": [99]}, " NET
         ", " COMPUTE "}",
         "\"topology.dims\" must be 1 to 32 each"},
        {"{\"name\": \"x\", " STAR ",\n\"net\": {\"latency_us\": 2}, " COMPUTE "}",
         "m.json:2: field \"net.bandwidth_gb_s\" is missing"},
        {"{\"name\": \"x\", " STAR ", \"net\": {\"latency_us\": -2, "
         "\"bandwidth_gb_s\": 5}, " COMPUTE "}",
         "\"net.latency_us\" is -2, must be at least 0"},
        {"{\"name\": \"x\", " STAR ", \"net\": {\"latency_us\": 2, \"bandwidth_gb_s\": "
         "\"5\"}, " COMPUTE "}",
         "\"net.bandwidth_gb_s\" must be a number"},
        {"{\"name\": \"x\", " STAR ", \"net\": {\"latency_us\": 2, \"bandwidth\": 5, "
         "\"bandwidth_gb_s\": 5}, " COMPUTE "}",
         "\"net.bandwidth\" is not known"},
        {"{\"name\": \"x\", \"nodes\": 4, " STAR ", " NET ", " COMPUTE "}",
         "\"nodes\" is not known"},
        {"{\"name\": \"x\", \"workers_per_node\": 8, " STAR ", " NET ", " COMPUTE "}",
         "\"node\" is missing"},
        {"[]", "one object"},
    };
    fire_cluster_t c;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_FAILS(parse(cases[i].text, &c), FIRE_ERR_PARSE, cases[i].message);
}

TEST(workers_of_a_node_may_share_cores_and_memory)
{
    fire_cluster_t c;

    CHECK_OK(parse("{\"name\": \"m\", " STAR ", " NET ", " COMPUTE
                   ", \"workers_per_node\": 4, \"cores_per_node\": 8,"
                   " \"cores_per_worker\": 3, \"shared_memory\": true,"
                   " \"node\": {\"latency_us\": 1, \"bandwidth_gb_s\": 1}}",
                   &c));
    CHECK(c.shared);
    CHECK_NEAR(fire_cluster_crowd(&c, 2), 1, 0);
    CHECK_NEAR(fire_cluster_crowd(&c, 4), 1.5, 0);
    CHECK_NEAR(fire_cluster_crowd(&c, 64), 1.5, 0); /* four a node */
    CHECK(!fire_cluster_is_full(&c, 2));
    CHECK(fire_cluster_is_full(&c, 3));
    c.cores = 0;
    CHECK_NEAR(fire_cluster_crowd(&c, 4), 1, 0);
    CHECK(!fire_cluster_is_full(&c, 4));
    CHECK_FAILS(parse("{\"name\": \"m\", " STAR ", " NET ", " COMPUTE
                      ", \"shared_memory\": 1}",
                      &c),
                FIRE_ERR_PARSE, "\"shared_memory\" must be true or false");
}
