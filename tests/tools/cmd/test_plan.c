/* firecaffe plan: predictions, and those of the paper. */
#include <stdlib.h>
#include "program.h"

#define PLAN                                                              \
    "firecaffe plan --model $SRC/models/%s/train_val.prototxt --machine " \
    "$SRC/machines/%s.json "
/* As in the FireCaffe paper: whole messages along a tree, nothing overlaps. */
#define PAPER "--comm tree:piece=1000000000 --overlap off --bucket_mb 0 --json "

/* The number behind a key in what was printed last. */
static double number(const char *key)
{
    char        quoted[64];
    const char *at;

    snprintf(quoted, sizeof(quoted), "\"%s\":", key);
    at = strstr(ran.out, quoted);
    if (at == NULL) test_fail(__FILE__, __LINE__, "no %s in %.2000s", key, ran.out);
    return strtod(at + strlen(quoted), NULL);
}

static void check_speedup(const char *net, const char *how, double published)
{
    double got;

    SH_OK(PLAN PAPER "%s", net, "titan_k20x", how);
    got = number("speedup");
    if (fabs(got / published - 1) > 0.15)
        test_fail(__FILE__, __LINE__, "%s %s: %.1f times, published %.0f", net, how,
                  got, published);
}

/* Calibrated on one GPU and on GoogLeNet's computing time at 8 images a GPU. GoogLeNet
 * on 32 is not among them: the published 16 is missed (docs/scaling.md). */
TEST(three_speedups_on_titan_are_the_published_ones)
{
    check_speedup("nin_imagenet", "--workers 32", 23);
    check_speedup("nin_imagenet", "--workers 128", 39);
    check_speedup("googlenet", "--workers 128", 47);
}

TEST(speedups_count_from_the_baseline_that_is_given)
{
    double rate;

    SH_OK(PLAN PAPER "--workers 32", "googlenet", "titan_k20x");
    rate = number("samples_per_s");
    CHECK(strstr(ran.out, "baseline") == NULL);
    SH_OK(PLAN PAPER "--workers 32 --baseline 65.8", "googlenet", "titan_k20x");
    CHECK_NEAR(number("baseline_samples_per_s"), 65.8, 0);
    CHECK_NEAR(number("speedup"), rate / 65.8, 1e-3);
    CHECK_NEAR(number("efficiency"), rate / 65.8 / 32, 1e-4);
    SH_OK(PLAN "--workers 1,4 --baseline 1e3", "lenet", "h200x8");
    CHECK_HAS(ran.out,
              "Speed-up and efficiency count from 1000 samples/s (--baseline)");
    CHECK_HAS(ran.out, " times the rate of --baseline.");
    SH_OK(PLAN "--workers 1,4", "lenet", "h200x8");
    CHECK_HAS(ran.out, "count from one worker's predicted step");
    CHECK_HAS(ran.out, " times one worker.");
}

TEST(a_baseline_is_a_number_above_0)
{
    static const char *const bad[] = {"0",   "-48",   "nan",    "inf", "1e999",
                                      "48x", "quick", "1e-999", "''"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        SH_FAILS("--baseline takes samples/s, a number above 0, not",
                 PLAN "--workers 2 --baseline=%s", "lenet", "h200x8", bad[i]);
    SH_FAILS("--baseline takes samples/s", "firecaffe plan --machine measure "
                                           "--baseline 0");
}

TEST(one_gpu_of_titan_trains_at_its_known_rate)
{
    SH_OK(PLAN PAPER "--workers 1", "googlenet", "titan_k20x");
    CHECK_NEAR(number("samples_per_s"), 48, 0.5);
    SH_OK(PLAN PAPER "--workers 1", "nin_imagenet", "titan_k20x");
    CHECK_NEAR(number("samples_per_s"), 116, 2);
}

TEST(a_plan_shows_volumes_rows_and_what_to_use)
{
    SH_OK(PLAN "--workers 1,8 --batch 256", "alexnet", "ethernet10");
    CHECK_HAS(ran.out, "|W| ");
    CHECK_HAS(ran.out, "multicolor");
    CHECK_HAS(ran.out, "Recommended for a batch of 256: ");
    CHECK_HAS(ran.out, "Next bottleneck: ");
    CHECK_HAS(ran.out, "Model parallelism would move fewer bytes for: fc6");
}

TEST(every_machine_file_can_be_planned_on)
{
    static const char *const machines[] = {"titan_k20x", "ibm_p100", "ethernet10",
                                           "infiniband100", "h200x8"};

    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        SH_OK(PLAN "--workers 16 --batch 32/worker --json", "lenet", machines[i]);
        CHECK(number("samples_per_s") > 0);
    }
}

TEST(plan_says_what_is_wrong)
{
    SH_FAILS("--machine FILE",
             "firecaffe plan --model $SRC/models/lenet/train_val.prototxt");
    write_file("m.json", "{\"name\": \"m\", \"topology\": {\"kind\": \"star\"}}");
    SH_FAILS("m.json:1: field \"net\" is missing",
             "firecaffe plan --model $SRC/models/lenet/train_val.prototxt --machine "
             "m.json");
    SH_FAILS("--workers: \"x\" is not a number of at least 1", PLAN "--workers x",
             "lenet", "h200x8");
    SH_FAILS("unknown collective algorithm", PLAN "--comm oak", "lenet", "h200x8");
    SH_FAILS("is not known here", PLAN "--comm mpi", "lenet", "h200x8");
}

#define LENET "--model $SRC/models/lenet/train_val.prototxt --shape data=8,1,28,28 "

TEST(measured_layers_are_what_is_planned_with)
{
    SH_OK("firecaffe time " LENET "--batch 4,8 --iterations 1 --workers 2 --json > "
          "times.json");
    CHECK_HAS(read_file("times.json"), "\"name\": \"conv1\"");
    SH_OK("firecaffe plan " LENET "--machine $SRC/machines/h200x8.json --times "
          "times.json --batch 8 --workers 1 --json");
    CHECK(number("compute_s") > 1e-5); /* this CPU is slower than that GPU */
    SH_OK("sed -i '/meeting_s/d; s/\"forward_s\"/\"meeting_s\": 100, &/' times.json");
    SH_OK("firecaffe plan " LENET "--machine $SRC/machines/h200x8.json --times "
          "times.json --batch 8 --workers 2 --comm tree --json");
    CHECK(number("compute_s") >= 100); /* the slowest decides; six digits are printed */
    SH_OK("sed -i s/conv1/other/ times.json");
    SH_FAILS("layer \"conv1\" of the net is missing",
             "firecaffe plan " LENET "--machine $SRC/machines/h200x8.json --times "
             "times.json");
}

TEST(the_machine_at_hand_is_measured_only_among_several_workers)
{
    SH_FAILS("mpirun -np 2", "firecaffe plan --machine measure");
}

TEST(predictions_are_kept_for_the_report)
{
    SH_OK("firecaffe plan " LENET
          "--machine $SRC/machines/ethernet10.json --workers 1,4 --comm tree,rhd "
          "--baseline 123.5 --run_dir plans");
    CHECK_HAS(ran.out, "wire MB");
    CHECK_HAS(read_file("plans/run.jsonl"), "\"kind\":\"plan\"");
    CHECK_HAS(read_file("plans/run.jsonl"), "\"type\":\"step\"");
    CHECK_HAS(read_file("plans/run.jsonl"), "\"baseline_samples_per_s\":123.5");
    CHECK_HAS(read_file("plans/run.jsonl"), "\"status\":\"done\"");
    SH_OK(
        "firecaffe report plans -o plan.html && grep -c '\"comm\":\"rhd\"' plan.html");
}

TEST(layers_are_printed_for_the_simulator)
{
    SH_OK("firecaffe plan " LENET
          "--machine $SRC/machines/h200x8.json --workers 2 --comm tree --layers");
    CHECK_HAS(ran.out, " conv1\n");
    CHECK_HAS(ran.out, "2080 "); /* 20 filters of 5 x 5, and biases */
}
