/* overhead.c - what a run log, a trace and TensorBoard's events cost: one training in
 * which blocks of iterations with everything on and with everything off take turns.
 *
 *     bench_overhead SOLVER DIR [pairs of blocks]
 *
 * Compared are wall-clock time, which wants the machine for itself, and processor time,
 * to which other work on the machine matters little. Blocks are short, so that what
 * disturbs one of a pair mostly disturbs the other too, and there are many pairs, so that
 * chance averages out: both are given with the interval in which they lie with 95 %. The
 * mean holds what is done now and then (a line of the log each second), the median what
 * is done always. Every other pair is a control: everything is off in both of its
 * blocks, so what it shows is what the way of measuring makes up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/clock.h"
#include "base/file.h"
#include "model/load.h"
#include "train/log.h"

/* Three iterations a block: what happens every tenth or hundredth iteration (a display)
 * meets blocks of both kinds alike. */
enum { ITERATIONS = 3, WARM_UP = 15, MOST_PAIRS = 1 << 16, USUAL_TRACE = 50 };

/* Seconds of the two blocks of a pair: off, on. */
typedef struct pair {
    double off, on;
} pair_t;

enum { COST, CONTROL, KINDS };

typedef double (*stopwatch_t)(void);

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const stopwatch_t timer[] = {fire_clock_now, cpu_seconds};
enum { TIMERS = sizeof(timer) / sizeof(timer[0]) };

typedef pair_t pairs_t[KINDS][TIMERS][MOST_PAIRS];

typedef struct bench {
    fire_trainer_t *trainer;
    fire_runlog_t  *log;
    pair_t (*pair)[TIMERS][MOST_PAIRS];
    int      blocks, iterations; /* blocks done, iterations of the present one */
    bool     on, labelled_on;    /* a control is off, whatever its label */
    uint32_t coin;
    double   began[TIMERS];
} bench_t;

/* ---- blocks ---- */

static void turn(bench_t *b, bool on)
{
    fire_trainer_set_measuring(b->trainer, on);
    b->on = on;
}

static int kind_of(int block)
{
    return block / 2 % KINDS;
}

/* A coin decides which block of a pair is on. */
static void begin_block(bench_t *b)
{
    if (b->blocks % 2 == 0) {
        b->coin        = b->coin * 1664525 + 1013904223;
        b->labelled_on = b->coin >> 31;
    } else {
        b->labelled_on = !b->labelled_on;
    }
    turn(b, b->labelled_on && kind_of(b->blocks) == COST);
    b->iterations = 0;
    for (int t = 0; t < TIMERS; t++)
        b->began[t] = timer[t]();
}

static void end_block(bench_t *b)
{
    int at = b->blocks / 2 / KINDS - WARM_UP;

    for (int t = 0; t < TIMERS && at >= 0; t++) {
        double  seconds = timer[t]() - b->began[t];
        pair_t *pair    = &b->pair[kind_of(b->blocks)][t][at];

        *(b->labelled_on ? &pair->on : &pair->off) = seconds;
    }
    b->blocks++;
}

/* Blocks change between two iterations of one training. */
static void on_event(void *arg, const fire_train_event_t *e)
{
    bench_t *b = arg;

    if (b->on) fire_train_log_event(b->log, e);
    if (e->kind != FIRE_TRAIN_ITERATION || ++b->iterations < ITERATIONS) return;
    end_block(b);
    begin_block(b);
}

static void on_measured(void *arg, const fire_measured_t *m)
{
    bench_t *b = arg;

    if (b->on) fire_runlog_add_measured(b->log, m);
}

static fire_status_t measure(bench_t *b, int pairs)
{
    begin_block(b);
    FIRE_TRY(fire_trainer_step(b->trainer,
                               (int64_t)(WARM_UP + pairs) * KINDS * 2 * ITERATIONS));
    turn(b, true);
    return FIRE_OK;
}

/* ---- figures ---- */

static int ascending(const void *a, const void *b)
{
    double x = ((const pair_t *)a)->on / ((const pair_t *)a)->off;
    double y = ((const pair_t *)b)->on / ((const pair_t *)b)->off;

    return (x > y) - (x < y);
}

/* All blocks that were on against all that were off. */
static void report_mean(const pair_t *p, int n)
{
    double off = 0, more = 0, squares = 0;

    for (int i = 0; i < n; i++) {
        off += p[i].off / n;
        more += (p[i].on - p[i].off) / n;
    }
    for (int i = 0; i < n; i++)
        squares += pow(p[i].on - p[i].off - more, 2);
    printf("mean %+.2f%% (+- %.2f%%)", 100 * more / off,
           196 * sqrt(squares / n / n) / off);
}

static double cost_at(const pair_t *p, int n, double rank)
{
    int i = rank < 0 ? 0 : rank > n - 1 ? n - 1 : (int)rank;

    return 100 * p[i].on / p[i].off - 100;
}

static void report_median(pair_t *p, int n)
{
    double middle = 0.5 * n, aside = 0.98 * sqrt(n); /* binomial, 95 % */

    qsort(p, (size_t)n, sizeof(*p), ascending);
    printf(", median %+.2f%% (%+.2f%% to %+.2f%%)", cost_at(p, n, middle),
           cost_at(p, n, middle - aside), cost_at(p, n, middle + aside));
}

static void report(int pairs, pairs_t pair)
{
    static const char *const name[TIMERS] = {"wall-clock", "processor"};
    static const char *const kind[KINDS]  = {"everything on costs",
                                             "nothing on, the control, costs"};

    printf("%d pairs of blocks of %d iterations of each kind\n", pairs, ITERATIONS);
    for (int k = 0; k < KINDS; k++) {
        printf("%s\n", kind[k]);
        for (int t = 0; t < TIMERS; t++) {
            printf("  of %s time: ", name[t]);
            report_mean(pair[k][t], pairs);
            report_median(pair[k][t], pairs);
            putchar('\n');
        }
    }
}

static fire_status_t run(const char *solver, const char *dir, int pairs)
{
    static pairs_t         pair;
    char                   log[1024], trace[1024], board[1024];
    bench_t                b = {.on = true, .pair = pair};
    fire_trainer_options_t o = FIRE_TRAINER_OPTIONS_INIT;
    fire_runlog_options_t  r = {
         .path = log, .trace = trace, .tensorboard = board, .kind = "bench"};
    Caffe__SolverParameter *param;

    snprintf(log, sizeof(log), "%s/run.jsonl", dir);
    snprintf(trace, sizeof(trace), "%s/trace.json", dir);
    snprintf(board, sizeof(board), "%s/board", dir);
    FIRE_TRY(fire_dir_make(dir));
    FIRE_TRY(fire_solver_param_load(solver, &param));
    o.measure  = true;
    o.trace    = USUAL_TRACE;
    o.arg      = &b;
    o.event    = on_event;
    o.measured = on_measured;
    FIRE_TRY(fire_trainer_create(param, &o, &b.trainer));
    FIRE_TRY(fire_train_log_open(&r, b.trainer, &b.log));
    FIRE_TRY(measure(&b, pairs));
    report(pairs, pair);
    fire_runlog_close(b.log, FIRE_OK);
    fire_trainer_destroy(b.trainer);
    fire_message_free(param);
    return FIRE_OK;
}

int main(int argc, char **argv)
{
    int pairs = argc > 3 ? atoi(argv[3]) : 2000;

    if (argc < 3 || pairs < 1 || pairs > MOST_PAIRS) {
        fprintf(stderr, "usage: bench_overhead SOLVER DIR [pairs of blocks]\n");
        return 2;
    }
    if (run(argv[1], argv[2], pairs) >= 0) return 0;
    fprintf(stderr, "%s\n", fire_last_error());
    return 1;
}
