/* test_runlog.c - each line of run.jsonl, from values that no training measured. Tests
 * src/runlog/runlog.c, src/runlog/runlog_head.c, src/runlog/runlog_times.c. */
#include "runlog/runlog.h"

#include "base/alloc.h"
#include "base/file.h"
#include "test.h"

enum { MOST_LINES = 32 };

/* run.jsonl, read again. */
typedef struct lines {
    fire_json_t *line[MOST_LINES];
    int          n;
} lines_t;

static lines_t read_lines(void)
{
    lines_t l = {.n = 0};
    char   *text, *at, *line;

    CHECK_OK(fire_file_read_text(test_path("run.jsonl"), &text));
    for (at = text; (line = strsep(&at, "\n")) != NULL && line[0] != '\0'; l.n++) {
        CHECK(l.n < MOST_LINES);
        CHECK_OK(fire_json_parse(line, strlen(line), "run.jsonl", &l.line[l.n]));
    }
    fire_free(text);
    return l;
}

static void free_lines(lines_t *l)
{
    for (int i = 0; i < l->n; i++)
        fire_json_free(l->line[i]);
}

/* The n-th line of a type, n counts from 0. */
static const fire_json_t *find(const lines_t *l, const char *type, int n)
{
    for (int i = 0; i < l->n; i++)
        if (strcmp(fire_json_string_or(l->line[i], "type", ""), type) == 0 && n-- == 0)
            return l->line[i];
    test_fail(__FILE__, __LINE__, "no line of type %s", type);
}

static double number(const fire_json_t *line, const char *key)
{
    return fire_json_number_or(line, key, NAN);
}

static fire_runlog_t *open_log(bool append)
{
    static const char *const    argv[]  = {"firecaffe", "train"};
    const fire_runlog_options_t options = {.path   = test_path("run.jsonl"),
                                           .append = append,
                                           .kind   = "train",
                                           .argc   = 2,
                                           .argv   = argv};
    const fire_runlog_head_t    head    = {.net         = "tiny",
                                           .workers     = 2,
                                           .lanes       = 4,
                                           .threads     = 3,
                                           .batch       = 64,
                                           .epoch       = 1000,
                                           .iter        = 5,
                                           .max_iter    = 8,
                                           .seed        = 7,
                                           .solver      = "base_lr: 1\n",
                                           .environment = {.mpi = "MPI 1.2"}};
    fire_runlog_t              *log;

    CHECK_OK(fire_runlog_open(&options, &head, &log));
    return log;
}

TEST(the_first_line_says_what_runs_and_where)
{
    const fire_json_t *run;
    lines_t            l;

    fire_runlog_close(open_log(false), FIRE_OK);
    l   = read_lines();
    run = find(&l, "run", 0);
    CHECK(l.line[0] == run);
    CHECK_EQ(number(run, "version"), FIRE_RUNLOG_VERSION);
    CHECK_STR(fire_json_string_or(run, "kind", ""), "train");
    CHECK_STR(fire_json_string_or(run, "net", ""), "tiny");
    CHECK_EQ(number(run, "workers"), 2);
    CHECK_EQ(number(run, "lanes"), 4);
    CHECK_EQ(number(run, "worker_threads"), 3);
    CHECK_EQ(number(run, "batch"), 64);
    CHECK_EQ(number(run, "epoch"), 1000);
    CHECK_EQ(number(run, "max_iter"), 8);
    CHECK_EQ(number(run, "seed"), 7);
    CHECK(number(run, "started") > 1.5e9);
    CHECK_EQ(fire_json_get(run, "command")->n, 2);
    CHECK_STR(fire_json_string_or(run, "solver", ""), "base_lr: 1\n");
    CHECK(fire_json_get(run, "model") == NULL); /* the solver contains no net */
    free_lines(&l);
}

/* Losses are collected; a snapshot writes those so far. */
TEST(losses_of_several_iterations_are_one_line)
{
    fire_runlog_t     *log = open_log(false);
    const fire_json_t *it;
    lines_t            l;

    fire_runlog_add_iteration(log, 6, 2.5, 0.1, 0.25);
    fire_runlog_add_iteration(log, 7, 1.5, 0.05, 0.5);
    fire_runlog_add_snapshot(log, 7, "a.solverstate");
    fire_runlog_close(log, FIRE_OK);
    l  = read_lines();
    it = find(&l, "iterations", 0);
    CHECK_EQ(number(it, "iter"), 5); /* of the first loss */
    CHECK_NEAR(number(it, "seconds"), 0.75, 1e-9);
    CHECK_NEAR(number(it, "lr"), 0.05, 1e-7);
    CHECK_EQ(fire_json_get(it, "loss")->n, 2);
    CHECK_NEAR(fire_json_get(it, "loss")->item[1].number, 1.5, 1e-9);
    CHECK_STR(fire_json_string_or(find(&l, "snapshot", 0), "file", ""),
              "a.solverstate");
    free_lines(&l);
}

TEST(display_and_test_lines_hold_outputs_by_name)
{
    const fire_named_value_t output[] = {{"loss1", 3}, {"loss2", 4}};
    fire_runlog_t           *log      = open_log(false);
    const fire_json_t       *d, *t;
    lines_t                  l;

    fire_runlog_add_display(
        log, &(fire_runlog_display_t){
                 .iter = 6, .loss = 3.5, .lr = 0.5, .noutput = 2, .output = output});
    fire_runlog_add_display(
        log, &(fire_runlog_display_t){.iter = 7, .loss = 3, .loss_scale = 1024});
    fire_runlog_add_test(log, 7, 1, "accuracy", 0.75);
    fire_runlog_close(log, FIRE_OK);
    l = read_lines();
    d = find(&l, "display", 0);
    CHECK_EQ(number(d, "iter"), 5);
    CHECK_NEAR(number(d, "loss"), 3.5, 0);
    CHECK_STR(fire_json_get(d, "outputs")->item[1].item[0].string, "loss2");
    CHECK_NEAR(fire_json_get(d, "outputs")->item[1].item[1].number, 4, 0);
    CHECK(fire_json_get(d, "loss_scale") == NULL);
    CHECK_EQ(number(find(&l, "display", 1), "loss_scale"), 1024);
    t = find(&l, "test", 0);
    CHECK_EQ(number(t, "iter"), 7);
    CHECK_EQ(number(t, "net"), 1);
    CHECK_STR(fire_json_string_or(t, "name", ""), "accuracy");
    CHECK_NEAR(number(t, "value"), 0.75, 0);
    free_lines(&l);
}

static void check_end(int64_t iter, fire_status_t outcome, const char *want)
{
    fire_runlog_t *log = open_log(false);
    lines_t        l;

    fire_runlog_add_iteration(log, iter, 1, 1, 1);
    fire_runlog_close(log, outcome);
    l = read_lines();
    CHECK_STR(fire_json_string_or(find(&l, "end", 0), "status", ""), want);
    CHECK_EQ(number(find(&l, "end", 0), "iter"), iter);
    if (outcome < 0)
        CHECK_STR(fire_json_string_or(find(&l, "end", 0), "message", ""), "disk full");
    free_lines(&l);
}

TEST(the_last_line_says_how_the_run_ended)
{
    check_end(8, FIRE_OK, "done");
    check_end(7, FIRE_OK, "stopped");
    check_end(7, FIRE_FAIL(FIRE_ERR_IO, "disk full"), "failed");
}

TEST(a_resumed_run_appends_to_its_log)
{
    lines_t l;

    fire_runlog_close(open_log(false), FIRE_OK);
    fire_runlog_close(open_log(true), FIRE_OK);
    l = read_lines();
    CHECK(find(&l, "run", 1) != find(&l, "run", 0));
    free_lines(&l);
}

/* ---- times ---- */

/* Two workers, whose second begins the iteration 0.5 s later. */
static const fire_activity_t first[] = {
    {1.0, 1.1, FIRE_ACTIVITY_FORWARD, 0},  {1.1, 1.4, FIRE_ACTIVITY_FORWARD, 1},
    {1.4, 1.9, FIRE_ACTIVITY_BACKWARD, 1}, {1.0, 2.0, FIRE_ACTIVITY_ITERATION, 0},
    {1.5, 2.5, FIRE_ACTIVITY_EXCHANGE, 3},
};
static const fire_activity_t second[] = {
    {0.2, 0.3, FIRE_ACTIVITY_UPDATE, 0}, /* of the iteration before */
    {1.5, 1.6, FIRE_ACTIVITY_FORWARD, 0},
    {1.5, 2.0, FIRE_ACTIVITY_ITERATION, 0},
};
static const fire_layer_label_t label[]    = {{"data", true}, {"conv", false}};
static const double             forward[]  = {0.5, 3};
static const double             backward[] = {0, 5};
static const fire_times_t       times[]    = {
             {.seconds = 2, .phase = {0.1, 0.4, 0.8, 0.2, 0.5}, .hidden = 0.25, .bytes = 100},
             {.seconds = 3, .phase = {0.2, 0.5, 0.9, 0.3, 0.6}, .hidden = 0.5, .bytes = 200}};
static const fire_activity_t *const activity[]  = {first, second};
static const int64_t                nactivity[] = {5, 3};
static const fire_measured_t        measured    = {.iterations = 10,
                                                   .nworker    = 2,
                                                   .times      = times,
                                                   .nactivity  = nactivity,
                                                   .activity   = activity,
                                                   .zero       = 1e9,
                                                   .timeline   = true,
                                                   .layers     = {.nlayer   = 2,
                                                                  .label    = label,
                                                                  .forward  = forward,
                                                                  .backward = backward,
                                                                  .passes   = 10}};

static double of_worker(const fire_json_t *line, const char *key, int worker)
{
    return fire_json_get(line, key)->item[worker].number;
}

TEST(times_of_several_measurements_are_added_up_per_worker)
{
    fire_runlog_t     *log = open_log(false);
    const fire_json_t *t;
    lines_t            l;

    fire_runlog_add_measured(log, &measured);
    fire_runlog_add_measured(log, &measured);
    fire_runlog_close(log, FIRE_OK);
    l = read_lines();
    t = find(&l, "times", 0);
    CHECK_EQ(number(t, "n"), 20);
    CHECK_NEAR(of_worker(t, "seconds", 1), 6, 1e-9);
    CHECK_NEAR(of_worker(t, "data", 0), 0.2, 1e-9);
    CHECK_NEAR(of_worker(t, "forward", 0), 0.8, 1e-9);
    CHECK_NEAR(of_worker(t, "backward", 1), 1.8, 1e-9);
    CHECK_NEAR(of_worker(t, "exposed", 1), 0.6, 1e-9);
    CHECK_NEAR(of_worker(t, "update", 0), 1, 1e-9);
    CHECK_NEAR(of_worker(t, "hidden", 1), 1, 1e-9);
    CHECK_EQ(of_worker(t, "bytes", 1), 400);
    free_lines(&l);
}

TEST(layer_times_are_means_of_a_pass)
{
    fire_runlog_t     *log = open_log(false);
    const fire_json_t *t;
    lines_t            l;

    fire_runlog_add_measured(log, &measured);
    fire_runlog_close(log, FIRE_OK);
    l = read_lines();
    t = find(&l, "layers", 0);
    CHECK_NEAR(of_worker(t, "forward", 1), 0.3, 1e-9);
    CHECK_NEAR(of_worker(t, "backward", 1), 0.5, 1e-9);
    free_lines(&l);
}

static void check_span(const fire_json_t *span, const char *kind, const char *name,
                       double begin, double seconds)
{
    CHECK_STR(span->item[0].string, kind);
    CHECK_STR(span->item[1].string, name);
    CHECK_NEAR(span->item[2].number, begin, 1e-4);
    CHECK_NEAR(span->item[3].number, seconds, 1e-4);
}

TEST(a_timeline_shows_one_iteration_from_the_first_workers_begin)
{
    fire_runlog_t     *log = open_log(false);
    const fire_json_t *workers;
    lines_t            l;

    fire_runlog_add_measured(log, &measured);
    fire_runlog_close(log, FIRE_OK);
    l       = read_lines();
    workers = fire_json_get(find(&l, "timeline", 0), "workers");
    CHECK_EQ(workers->n, 2);
    CHECK_EQ(workers->item[0].n, 4);
    check_span(&workers->item[0].item[0], "forward", "data", 0, 0.1);
    check_span(&workers->item[0].item[3], "exchange", "bucket 3", 0.5, 1);
    CHECK_EQ(workers->item[1].n, 1); /* not the update before it */
    check_span(&workers->item[1].item[0], "forward", "data", 0.5, 0.1);
    free_lines(&l);
}

TEST(a_line_of_the_callers_is_written_with_type_and_time)
{
    fire_runlog_t      *log = open_log(false);
    fire_json_writer_t *w   = fire_runlog_begin_line(log, "net");
    lines_t             l;

    fire_json_add_int(w, "layers", 3);
    fire_runlog_end_line(log);
    fire_runlog_close(log, FIRE_OK);
    l = read_lines();
    CHECK_EQ(number(find(&l, "net", 0), "layers"), 3);
    CHECK(number(find(&l, "net", 0), "time") >= 0);
    free_lines(&l);
}

TEST(a_log_that_cannot_be_opened_is_an_error_that_names_it)
{
    const fire_runlog_options_t o    = {.path = "/dev/null/run.jsonl", .kind = "train"};
    const fire_runlog_head_t    head = {.net = "", .solver = ""};
    fire_runlog_t              *log;

    CHECK_FAILS(fire_runlog_open(&o, &head, &log), FIRE_ERR_IO, "/dev/null/run.jsonl");
}
