/* test_trace.c - the events of a trace, read again. */
#include "runlog/trace.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text/json.h"
#include "test.h"

static const fire_layer_label_t label[] = {{"data", true}, {"conv", false}};
static const fire_activity_t    work[]  = {
        {0, 1, FIRE_ACTIVITY_FORWARD, 0},  {1, 3, FIRE_ACTIVITY_FORWARD, 1},
        {3, 4, FIRE_ACTIVITY_WAIT, 0},     {2, 5, FIRE_ACTIVITY_EXCHANGE, 0},
        {4, 6, FIRE_ACTIVITY_EXCHANGE, 1}, {5, 7, FIRE_ACTIVITY_EXCHANGE, 2},
};

static void write_trace(int times, double zero)
{
    const fire_activity_t *const all[] = {work};
    const int64_t                n[]   = {sizeof(work) / sizeof(work[0])};
    fire_measured_t              m     = {.nworker   = 1,
                                          .nactivity = n,
                                          .activity  = all,
                                          .zero      = zero,
                                          .layers    = {.nlayer = 2, .label = label}};
    fire_trace_t                *t;

    CHECK_OK(fire_trace_open(test_path("trace.json"), &t));
    for (int i = 0; i < times; i++, m.zero += 10)
        CHECK_OK(fire_trace_add(t, &m));
    CHECK_OK(fire_trace_close(t));
}

/* The n-th stretch of time. */
static const fire_json_t *stretch(const fire_json_t *trace, int n)
{
    for (int64_t i = 0; i < trace->n; i++)
        if (strcmp(fire_json_string_or(&trace->item[i], "ph", ""), "X") == 0 &&
            n-- == 0)
            return &trace->item[i];
    test_fail(__FILE__, __LINE__, "too few events");
}

static void check(const fire_json_t *trace, int n, const char *name, int row, double ts,
                  double dur)
{
    const fire_json_t *e = stretch(trace, n);

    CHECK_STR(fire_json_string_or(e, "name", ""), name);
    CHECK_EQ(fire_json_number_or(e, "tid", -1), row);
    CHECK_NEAR(fire_json_number_or(e, "ts", -1), ts, 1e-3);
    CHECK_NEAR(fire_json_number_or(e, "dur", -1), dur, 1e-3);
}

TEST(each_kind_of_work_has_a_row_and_times_are_microseconds)
{
    fire_json_t *trace;

    write_trace(1, 1e9);
    CHECK_OK(fire_json_load(test_path("trace.json"), &trace));
    check(trace, 0, "data", 1, 0, 1e6);
    check(trace, 1, "conv", 2, 1e6, 2e6);
    check(trace, 2, "wait", 3, 3e6, 1e6);
    fire_json_free(trace);
}

TEST(exchanges_that_overlap_are_drawn_in_different_rows)
{
    fire_json_t *trace;

    write_trace(1, 1e9);
    CHECK_OK(fire_json_load(test_path("trace.json"), &trace));
    check(trace, 3, "bucket 0", 5, 2e6, 3e6);
    check(trace, 4, "bucket 1", 6, 4e6, 2e6);
    check(trace, 5, "bucket 2", 5, 5e6, 2e6); /* bucket 0 has ended */
    fire_json_free(trace);
}

TEST(rows_are_named_once_and_time_goes_on_between_measurements)
{
    fire_json_t *trace;
    int          names = 0;

    write_trace(2, 1e9);
    CHECK_OK(fire_json_load(test_path("trace.json"), &trace));
    for (int64_t i = 0; i < trace->n; i++)
        names += strcmp(fire_json_string_or(&trace->item[i], "ph", ""), "M") == 0;
    CHECK_EQ(names, 1 + 5 + 16); /* the worker, its rows, those of exchanges */
    check(trace, 6, "data", 1, 10e6, 1e6);
    fire_json_free(trace);
}

TEST(a_trace_without_events_is_an_empty_array)
{
    char  *text;
    size_t n;

    write_trace(0, 0);
    CHECK_OK(fire_file_read(test_path("trace.json"), &text, &n));
    CHECK_STR(text, "[]\n");
    fire_free(text);
}
