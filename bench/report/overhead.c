/* overhead.c - what a run log, a trace and TensorBoard's events cost: one training in
 * which blocks of iterations with everything on and with everything off take turns.
 *
 *     bench_overhead SOLVER DIR [blocks]
 *
 * Compared are wall-clock time, which wants the machine for itself, and processor time,
 * to which other work on the machine matters little. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/clock.h"
#include "base/file.h"
#include "model/load.h"
#include "train/runlog.h"

enum { ITERATIONS = 20, WARM_UP = 3, MOST_BLOCKS = 4096 };

typedef struct bench {
    fire_trainer_t  *trainer;
    fire_profile_t  *profile; /* while it is off */
    fire_net_hooks_t watch;
    fire_runlog_t   *log;
    bool             on;
} bench_t;

static void on_event(void *arg, const fire_train_event_t *e)
{
    const bench_t *b = arg;

    if (b->on) fire_runlog_event(b->log, e);
}

static void swap(bench_t *b)
{
    fire_profile_t  *profile = b->trainer->profile;
    fire_net_hooks_t watch   = b->trainer->net->watch;

    b->trainer->profile    = b->profile;
    b->trainer->net->watch = b->watch;
    b->profile             = profile;
    b->watch               = watch;
    b->on                  = !b->on;
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef double (*stopwatch_t)(void);

static const stopwatch_t timer[] = {fire_clock_now, cpu_seconds};
enum { TIMERS = sizeof(timer) / sizeof(timer[0]) };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Pairs of blocks, the order within a pair alternating too. */
static fire_status_t measure(bench_t *b, int pairs, double (*ratio)[MOST_BLOCKS])
{
    for (int i = -WARM_UP; i < pairs; i++) {
        double seconds[TIMERS][2];

        for (int k = 0; k < 2; k++) {
            double began[TIMERS];
            bool   on = b->on;

            for (int t = 0; t < TIMERS; t++)
                began[t] = timer[t]();
            FIRE_TRY(fire_trainer_step(b->trainer, ITERATIONS));
            for (int t = 0; t < TIMERS; t++)
                seconds[t][on] = timer[t]() - began[t];
            if (k == 0) swap(b);
        }
        for (int t = 0; t < TIMERS && i >= 0; t++)
            ratio[t][i] = seconds[t][1] / seconds[t][0];
    }
    return FIRE_OK;
}

static void report(int pairs, double (*ratio)[MOST_BLOCKS])
{
    static const char *const name[TIMERS] = {"wall-clock", "processor"};

    printf("%d pairs of %d iterations; everything on costs\n", pairs, ITERATIONS);
    for (int t = 0; t < TIMERS; t++) {
        double *r = ratio[t];

        qsort(r, (size_t)pairs, sizeof(*r), ascending);
        printf("  %+.2f%% of %s time (median; quartiles %+.2f%% and %+.2f%%)\n",
               100 * r[pairs / 2] - 100, name[t], 100 * r[pairs / 4] - 100,
               100 * r[3 * pairs / 4] - 100);
    }
}

static fire_status_t run(const char *solver, const char *dir, int pairs)
{
    static double          ratio[TIMERS][MOST_BLOCKS];
    char                   log[1024], trace[1024], board[1024];
    bench_t                b = {.on = true};
    fire_trainer_options_t o = FIRE_TRAINER_OPTIONS_INIT;
    fire_runlog_options_t  r = {
         .path = log, .trace = trace, .tensorboard = board, .kind = "bench"};
    Caffe__SolverParameter *param;

    snprintf(log, sizeof(log), "%s/run.jsonl", dir);
    snprintf(trace, sizeof(trace), "%s/trace.json", dir);
    snprintf(board, sizeof(board), "%s/board", dir);
    FIRE_TRY(fire_dir_make(dir));
    FIRE_TRY(fire_solver_param_load(solver, &param));
    o.measure = true;
    o.trace   = ITERATIONS; /* of every block: more than a user would ask for */
    o.arg     = &b;
    o.event   = on_event;
    FIRE_TRY(fire_trainer_create(param, &o, &b.trainer));
    FIRE_TRY(fire_runlog_open(&r, b.trainer, &b.log));
    FIRE_TRY(measure(&b, pairs, ratio));
    report(pairs, ratio);
    if (!b.on) swap(&b);
    fire_runlog_close(b.log, FIRE_OK);
    fire_trainer_destroy(b.trainer);
    fire_message_free(param);
    return FIRE_OK;
}

int main(int argc, char **argv)
{
    int pairs = argc > 3 ? atoi(argv[3]) : 40;

    if (argc < 3 || pairs < 1 || pairs > MOST_BLOCKS) {
        fprintf(stderr, "usage: bench_overhead SOLVER DIR [pairs of blocks]\n");
        return 2;
    }
    if (run(argv[1], argv[2], pairs) >= 0) return 0;
    fprintf(stderr, "%s\n", fire_last_error());
    return 1;
}
