/* test_bench.c - measurements and the tuning tables made of them. Tests
 * src/comm/measure/bench.c, src/comm/measure/tune.c. */
#include "comm/measure/bench.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "comm/select/select.h"
#include "ranks.h"
#include "test.h"

static const size_t       sizes[] = {1000, 100000};
static const char *const  algos[] = {"tree", "multicolor:colors=2:piece=4096"};
static const fire_bench_t plan    = {
       .bytes = sizes, .nbytes = 2, .algo = algos, .nalgo = 2, .repeats = 3};

static void count_result(void *arg, const fire_bench_result_t *r)
{
    int *n = arg;

    CHECK(r->seconds >= r->best && r->best > 0);
    CHECK_STR(r->algo, algos[*n % 2]);
    CHECK_EQ(r->bytes, sizes[*n / 2]);
    CHECK_NEAR(r->bus * r->seconds, 1.5 * (double)r->bytes, 1);
    (*n)++;
}

static void measure(fire_comm_t *c, void *arg)
{
    int n = 0;

    (void)arg;
    CHECK_OK(fire_comm_bench(c, &plan, count_result, &n));
    CHECK_EQ(n, 4);
}

TEST(every_size_is_measured_with_every_algorithm)
{
    run_ranks(4, &FIRE_COMM_OPTIONS_INIT, measure, NULL);
}

static void tune(fire_comm_t *c, void *arg)
{
    fire_tuning_t *t;
    fire_choice_t  choice;
    char          *text;

    (void)arg;
    CHECK_OK(fire_comm_tune(c, &plan, &text));
    CHECK_OK(fire_tuning_parse("made", text, &t));
    CHECK(fire_tuning_at(t, 3, 9999, 1, &choice)); /* of the first size */
    CHECK(fire_tuning_at(t, 3, 10001, 1, &choice));
    CHECK(!fire_tuning_at(t, 3, 10001, 2, &choice));
    CHECK(strstr(text, "\n3 10000 ") != NULL);
    fire_tuning_destroy(t);
    fire_free(text);
}

TEST(measurements_become_a_table_that_can_be_read)
{
    run_ranks(3, &FIRE_COMM_OPTIONS_INIT, tune, NULL);
}

static void misspell(fire_comm_t *c, void *arg)
{
    static const char *const bad[] = {"tree:colours=4"};
    fire_bench_t             b     = plan;
    int                      n     = 0;

    (void)arg;
    b.algo  = bad;
    b.nalgo = 1;
    CHECK_FAILS(fire_comm_bench(c, &b, count_result, &n), FIRE_ERR_PARSE, "colours=4");
    b.repeats = 0;
    CHECK_FAILS(fire_comm_bench(c, &b, count_result, &n), FIRE_ERR_INVALID, "repeats");
}

TEST(a_misspelt_algorithm_is_refused_before_anything_runs)
{
    run_ranks(2, &FIRE_COMM_OPTIONS_INIT, misspell, NULL);
}

static void keep_seconds(void *arg, const fire_bench_result_t *r)
{
    *(double *)arg = r->seconds;
}

static void rest_between(fire_comm_t *c, void *arg)
{
    fire_bench_t b = plan;
    double       start, seconds = 0;

    (void)arg;
    b.nbytes = b.nalgo = b.repeats = 1;
    start                          = fire_clock_now();
    CHECK_OK(fire_comm_bench(c, &b, keep_seconds, &seconds));
    CHECK(fire_clock_now() - start >= 0.4 + seconds);
    CHECK(seconds < 0.4);
}

TEST(hosts_rest_before_a_measurement_and_that_is_not_counted)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;

    o.ranks_per_node = 1;
    run_ranks(2, &o, rest_between, NULL);
}
