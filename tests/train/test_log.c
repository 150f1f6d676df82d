/* test_log.c - what a training writes to its run log and trace, read again. Tests
 * src/train/log.c, src/train/profile.c, src/train/measure.c. */
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text/json.h"
#include "report/run.h"
#include "run.h"

static const char solver[] =
    "net: '%s/net.prototxt' base_lr: 0.001 lr_policy: 'fixed' momentum: 0.9 "
    "max_iter: 25 display: 5 test_iter: 2 test_interval: 10 snapshot: 20 "
    "snapshot_after_train: false snapshot_prefix: '%s/snap' fire { lanes: 2 }";

static uint64_t train(run_t r)
{
    char text[4096];

    snprintf(text, sizeof(text), "%s/data", test_tmpdir());
    if (access(text, F_OK) != 0) run_data(50, 1, 12);
    run_net("log");
    r.solver = solver;
    r.solve  = true;
    return run_train(&r);
}

static fire_run_t *read_log(void)
{
    fire_run_t *run;

    CHECK_OK(fire_run_open(test_tmpdir(), &run));
    CHECK_EQ(run->skipped, 0);
    return run;
}

static const fire_curve_t *curve_of(const fire_run_t *run, int which, const char *name)
{
    for (int64_t i = 0; i < run->ncurve; i++)
        if (run->curve[i].net == which && strcmp(run->curve[i].name, name) == 0)
            return &run->curve[i];
    test_fail(__FILE__, __LINE__, "no output %s", name);
}

TEST(a_run_log_tells_the_whole_training)
{
    fire_run_t *run;

    train((run_t){.workers = 1, .log = true});
    run = read_log();
    CHECK_STR(fire_json_string_or(run->head, "net", ""), "tiny");
    CHECK_EQ(fire_json_number_or(run->head, "epoch", 0), 50);
    CHECK_EQ(fire_json_number_or(run->head, "batch", 0), 16);
    CHECK_STR(fire_json_get(run->head, "command")->item[2].string, "a b");
    CHECK_EQ(run->loss.n, 25);
    CHECK_EQ(run->loss.at[24].iter, 24);
    CHECK_EQ(run->smoothed.n, 5);
    CHECK_EQ(run->smoothed.at[1].iter, 5);
    CHECK_NEAR(run->smoothed.at[1].value, run->loss.at[5].value, 1e-3);
    CHECK_EQ(curve_of(run, 0, "accuracy")->points.n, 3);
    CHECK_EQ(curve_of(run, -1, "loss")->points.n, 5);
    CHECK_EQ(run->nsnapshot, 1);
    CHECK_EQ(run->snapshot[0].iter, 20);
    CHECK_EQ(run->state, FIRE_RUN_DONE);
    CHECK_EQ(run->measured, 25);
    CHECK(run->net != NULL && run->layers != NULL && run->timeline != NULL);
    fire_run_close(run);
}

TEST(phases_make_up_the_time_of_every_worker)
{
    fire_run_t *run;

    train((run_t){.workers = 2, .log = true});
    run = read_log();
    CHECK_EQ(fire_json_number_or(run->head, "workers", 0), 2);
    CHECK_EQ(run->nworker, 2);
    for (int i = 0; i < 2; i++) {
        const fire_run_worker_t *w   = &run->worker[i];
        double                   sum = 0;

        for (int k = 0; k < FIRE_RUN_PHASES; k++) {
            CHECK(w->phase[k] >= 0);
            sum += w->phase[k];
        }
        CHECK(w->phase[1] > 0 && w->phase[2] > 0);
        CHECK(sum <= w->seconds * 1.001);
        CHECK(w->bytes > 0 && w->hidden >= 0);
    }
    fire_run_close(run);
}

TEST(the_timeline_shows_work_and_exchange_of_all_workers)
{
    fire_run_t        *run;
    const fire_json_t *workers;

    train((run_t){.workers = 2, .log = true});
    run     = read_log();
    workers = fire_json_get(run->timeline, "workers");
    CHECK_EQ(workers->n, 2);
    for (int k = 0; k < 2; k++) {
        int exchanges = 0, backward = 0;

        for (int64_t i = 0; i < workers->item[k].n; i++) {
            const fire_json_t *span = &workers->item[k].item[i];

            exchanges += strcmp(span->item[0].string, "exchange") == 0;
            backward += strcmp(span->item[0].string, "backward") == 0;
            CHECK(span->item[3].number >= 0);
        }
        CHECK(exchanges >= 1);
        CHECK_EQ(backward, 3); /* loss, ip, conv: one iteration */
    }
    fire_run_close(run);
}

TEST(a_log_goes_on_when_a_run_does)
{
    fire_run_t *run;

    train((run_t){.workers = 1, .log = true});
    train((run_t){.workers = 1, .log = true, .resume = "20"});
    run = read_log();
    CHECK_EQ(run->loss.n, 25);
    CHECK_EQ(run->nrestart, 1);
    CHECK_EQ(run->restart[0], 20);
    fire_run_close(run);
}

TEST(logging_changes_no_bit_of_the_weights)
{
    uint64_t want = train((run_t){.workers = 2});

    CHECK(train((run_t){.workers = 2, .log = true}) == want);
}

/* ---- the trace ---- */

static fire_json_t *read_trace(void)
{
    char         path[1100];
    fire_json_t *json;

    snprintf(path, sizeof(path), "%s/trace.json", test_tmpdir());
    CHECK_OK(fire_json_load(path, &json));
    return json;
}

TEST(a_trace_is_json_with_named_lanes_for_every_worker)
{
    fire_json_t *trace;
    int          spans[2] = {0}, names = 0;

    train((run_t){.workers = 2, .log = true});
    trace = read_trace();
    CHECK_EQ(trace->kind, FIRE_JSON_ARRAY);
    for (int64_t i = 0; i < trace->n; i++) {
        const fire_json_t *e    = &trace->item[i];
        const char        *kind = fire_json_string_or(e, "ph", "");
        int                pid  = (int)fire_json_number_or(e, "pid", -1);

        CHECK(pid == 0 || pid == 1);
        names += strcmp(kind, "M") == 0;
        if (strcmp(kind, "X") != 0) continue;
        spans[pid]++;
        CHECK(fire_json_number_or(e, "dur", -1) >= 0);
    }
    CHECK(names >= 4);
    CHECK(spans[0] > 5 * 7 && spans[1] > 5 * 7);
    fire_json_free(trace);
}

/* Lanes are drawn as rows: what one holds must not overlap. */
TEST(nothing_overlaps_within_a_lane_of_the_trace)
{
    double       free_at[2][64] = {0};
    fire_json_t *trace;

    train((run_t){.workers = 2, .log = true});
    trace = read_trace();
    for (int64_t i = 0; i < trace->n; i++) {
        const fire_json_t *e   = &trace->item[i];
        int                pid = (int)fire_json_number_or(e, "pid", 0);
        int                tid = (int)fire_json_number_or(e, "tid", 0);
        double             ts  = fire_json_number_or(e, "ts", 0);

        if (strcmp(fire_json_string_or(e, "ph", ""), "X") != 0) continue;
        CHECK(ts >= free_at[pid][tid] - 0.5);
        free_at[pid][tid] = ts + fire_json_number_or(e, "dur", 0);
    }
    fire_json_free(trace);
}
