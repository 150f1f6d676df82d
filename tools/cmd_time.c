/* firecaffe time - forward and backward of every layer, in the words of
 * `caffe time`. */
#include "base/clock.h"
#include "base/log.h"
#include "command.h"
#include "console.h"
#include "net_flags.h"

typedef struct flags {
    int64_t iterations;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, iterations, INT, "50", "N", "passes to average over"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* Seconds, summed over passes; the hooks of the net take them. */
typedef struct stopwatch {
    double  begin, forward, backward;
    double *layer_forward, *layer_backward; /* [nlayer] */
} stopwatch_t;

static fire_status_t begin(void *arg, int layer)
{
    (void)layer;
    ((stopwatch_t *)arg)->begin = fire_clock_now();
    return FIRE_OK;
}

static fire_status_t after_forward(void *arg, int layer)
{
    stopwatch_t *w = arg;

    w->layer_forward[layer] += fire_clock_now() - w->begin;
    return FIRE_OK;
}

/* Called for layers without a gradient too, for which nothing began. */
static fire_status_t after_backward(void *arg, int layer)
{
    stopwatch_t *w = arg;

    if (w->begin > 0) w->layer_backward[layer] += fire_clock_now() - w->begin;
    w->begin = 0;
    return FIRE_OK;
}

static fire_status_t pass(fire_net_t *net, stopwatch_t *w, float *loss_p)
{
    double t0 = fire_clock_now(), t1;

    FIRE_TRY(fire_net_clear_diffs(net));
    FIRE_TRY(fire_net_forward(net, 0, -1, loss_p));
    t1 = fire_clock_now();
    w->forward += t1 - t0;
    w->begin = 0;
    FIRE_TRY(fire_net_backward(net, -1, 0));
    w->backward += fire_clock_now() - t1;
    net->moment.step++;
    return FIRE_OK;
}

static double ms_per_pass(double seconds)
{
    return seconds * 1000 / (double)flags.iterations;
}

static void report(const fire_net_t *net, const stopwatch_t *w)
{
    FIRE_LOG(INFO, "Average time per layer: ");
    for (int i = 0; i < net->nlayer; i++) {
        const char *name = net->layer[i].base.param->name;

        FIRE_LOG(INFO, "%10s\tforward: %g ms.", name, ms_per_pass(w->layer_forward[i]));
        FIRE_LOG(INFO, "%10s\tbackward: %g ms.", name,
                 ms_per_pass(w->layer_backward[i]));
    }
    FIRE_LOG(INFO, "Average Forward pass: %g ms.", ms_per_pass(w->forward));
    FIRE_LOG(INFO, "Average Backward pass: %g ms.", ms_per_pass(w->backward));
    FIRE_LOG(INFO, "Average Forward-Backward: %g ms.",
             ms_per_pass(w->forward + w->backward));
    FIRE_LOG(INFO, "Total Time: %g ms.", (w->forward + w->backward) * 1000);
}

static fire_status_t measure(fire_net_t *net, stopwatch_t *w)
{
    float loss;

    FIRE_LOG(INFO, "Performing Forward");
    FIRE_TRY(pass(net, w, &loss));
    FIRE_LOG(INFO, "Initial loss: %g", (double)loss);
    FIRE_LOG(INFO, "*** Benchmark begins ***");
    FIRE_LOG(INFO, "Testing for %lld iterations.", (long long)flags.iterations);
    w->forward = w->backward = 0; /* the first pass allocates and warms up */
    net->watch = (fire_net_hooks_t){w, begin, after_forward, begin, after_backward};
    for (int64_t i = 0; i < flags.iterations; i++) {
        double before = w->forward + w->backward;

        FIRE_TRY(pass(net, w, &loss));
        FIRE_LOG(INFO, "Iteration: %lld forward-backward time: %g ms.",
                 (long long)i + 1, (w->forward + w->backward - before) * 1000);
        console_progress("Timing", i + 1, flags.iterations, "");
    }
    console_progress_end();
    report(net, w);
    FIRE_LOG(INFO, "*** Benchmark ends ***");
    return FIRE_OK;
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_net_t   *net;
    stopwatch_t   w = {0};
    fire_status_t st;

    (void)narg, (void)arg;
    if (flags.iterations < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--iterations must be at least 1");
    net_flags.lean = true;
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TRAIN, NULL, NULL, &net));
    FIRE_TRY_GOTO(st, FIRE_NEW(&w.layer_forward, net->nlayer), done);
    FIRE_TRY_GOTO(st, FIRE_NEW(&w.layer_backward, net->nlayer), done);
    st = measure(net, &w);
done:
    fire_free(w.layer_forward);
    fire_free(w.layer_backward);
    net_flags_close(net);
    return st;
}

const command_t command_time = {
    .name      = "time",
    .arguments = "--model FILE",
    .summary   = "measure forward and backward of every layer",
    .help =
        "Runs the net --iterations times forward and backward, after one pass that is\n"
        "not counted, and gives the mean time of every layer. The phase is TRAIN "
        "unless\n"
        "--phase=TEST. A net without a loss has no backward pass.\n"
        "\n"
        "Examples:\n"
        "  firecaffe time --model models/alexnet/deploy.prototxt --iterations 10\n"
        "  firecaffe time --model net.prototxt --kernel Convolution=ref --threads 1\n",
    .groups = groups,
    .run    = run,
};
