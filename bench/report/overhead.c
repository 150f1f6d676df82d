/* overhead.c - what a run log, a trace and TensorBoard's events cost: one training in
 * which blocks of iterations with everything on and with everything off take turns.
 *
 *     bench_overhead SOLVER DIR [blocks]
 *
 * Processor time is compared, so that other work on the machine matters little. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
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

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Pairs of blocks, the order within a pair alternating too. */
static fire_status_t measure(bench_t *b, int pairs, double *ratio)
{
    for (int i = -WARM_UP; i < pairs; i++) {
        double seconds[2];

        for (int k = 0; k < 2; k++) {
            double began = cpu_seconds();
            bool   on    = b->on;

            FIRE_TRY(fire_trainer_step(b->trainer, ITERATIONS));
            seconds[on] = cpu_seconds() - began;
            if (k == 0) swap(b);
        }
        if (i >= 0) ratio[i] = seconds[1] / seconds[0];
    }
    return FIRE_OK;
}

static fire_status_t run(const char *solver, const char *dir, int pairs)
{
    static double          ratio[MOST_BLOCKS];
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
    qsort(ratio, (size_t)pairs, sizeof(*ratio), ascending);
    printf("%d pairs of %d iterations: everything on costs %+.2f%% of processor time "
           "(median; quartiles %+.2f%% and %+.2f%%)\n",
           pairs, ITERATIONS, 100 * ratio[pairs / 2] - 100,
           100 * ratio[pairs / 4] - 100, 100 * ratio[3 * pairs / 4] - 100);
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
