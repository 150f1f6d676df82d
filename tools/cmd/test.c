/* firecaffe test - scores a trained net and logs it in the format of `caffe test`. */
#include <stdio.h>
#include "base/log.h"
#include "command.h"
#include "view/console.h"
#include "flags/net.h"
#include "flags/results.h"

typedef struct flags {
    int64_t     iterations;
    const char *run_dir;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, iterations, INT, "50", "N", "run N batches"),
    FIRE_OPTION(flags_t, run_dir, PATH, "", "DIR",
                "write the scores to DIR too, for `report`"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Net", net_options, &net_flags},
    {0},
};

/* Every element of every output, in order, summed over batches. */
typedef struct scores {
    double *sum;
    int64_t cap;
    double  loss;
} scores_t;

static fire_status_t add_batch(const fire_net_t *net, int64_t batch, scores_t *s)
{
    int64_t at = 0;

    for (int i = 0; i < fire_net_noutput(net); i++) {
        fire_blob_t *b    = fire_net_blob(net, fire_net_output(net, i));
        const char  *name = fire_net_blob_name(net, fire_net_output(net, i));
        int64_t      size = fire_net_output_size(net, i);
        const float *x, *steady;

        FIRE_TRY(fire_net_read_output(net, i, FIRE_CPU, &steady));
        FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
        FIRE_TRY(fire_grow(&s->sum, &s->cap, at + size, sizeof(*s->sum)));
        for (int64_t k = 0; k < fire_blob_count(b); k++)
            FIRE_LOG(INFO, "Batch %lld, %s = %g", (long long)batch, name, (double)x[k]);
        for (int64_t k = 0; k < size; k++, at++)
            if (steady != NULL) s->sum[at] += (double)x[k];
    }
    return FIRE_OK;
}

static fire_status_t log_score(fire_results_t *log, const char *name, double value)
{
    fire_json_writer_t *w = fire_results_begin_line(log, "test");

    if (w == NULL) return FIRE_OK;
    fire_json_add_int(w, "iter", 0);
    fire_json_add_int(w, "net", 0);
    fire_json_add_string(w, "name", name);
    fire_json_add_float(w, "value", (float)value);
    return fire_results_end_line(log);
}

static fire_status_t report(const fire_net_t *net, const scores_t *s,
                            fire_results_t *log)
{
    int64_t at = 0;

    FIRE_LOG(INFO, "Loss: %g", s->loss / (double)flags.iterations);
    for (int i = 0; i < fire_net_noutput(net); i++) {
        int         blob   = fire_net_output(net, i);
        int64_t     size   = fire_net_output_size(net, i);
        const char *name   = fire_net_blob_name(net, blob);
        double      weight = (double)fire_net_loss_weight(net, blob);

        for (int64_t k = 0; k < size && flags.iterations > 0; k++, at++) {
            double mean     = s->sum[at] / (double)flags.iterations;
            char   loss[64] = "";

            if (fire_blob_count(fire_net_blob(net, blob)) != size) continue;
            if (weight != 0)
                snprintf(loss, sizeof(loss), " (* %g = %g loss)", weight,
                         weight * mean);
            FIRE_LOG(INFO, "%s = %g%s", name, mean, loss);
            FIRE_TRY(log_score(log, name, mean));
        }
    }
    return FIRE_OK;
}

static fire_status_t run_batches(fire_net_t *net, scores_t *s, fire_results_t *log)
{
    FIRE_LOG(INFO, "Running for %lld iterations.", (long long)flags.iterations);
    for (int64_t i = 0; i < flags.iterations; i++) {
        float loss;

        fire_net_set_step(net, i);
        FIRE_TRY(fire_net_forward(net, 0, -1, &loss));
        s->loss += (double)loss;
        FIRE_TRY(add_batch(net, i, s));
        console_progress("Testing", i + 1, flags.iterations, "");
    }
    console_progress_end();
    return report(net, s, log);
}

static fire_status_t score(fire_net_t *net)
{
    const fire_results_head_t head = {
        .kind = "test", .net = fire_net_name(net), .workers = 1};
    fire_results_t *log;
    scores_t        s = {0};
    fire_status_t   st;

    FIRE_TRY(results_open(flags.run_dir, &head, &log));
    st = run_batches(net, &s, log);
    fire_free(s.sum);
    return fire_results_close(log, st);
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_net_t   *net;
    fire_status_t st;

    (void)narg, (void)arg;
    if (net_flags.model[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "Need a model definition to score: --model");
    if (net_flags.weights[0] == '\0')
        return FIRE_FAIL(FIRE_ERR_INVALID, "Need model weights to score: --weights");
    if (flags.iterations < 1)
        return FIRE_FAIL(FIRE_ERR_INVALID, "--iterations must be at least 1");
    net_flags.lean = true;
    FIRE_TRY(net_flags_open(CAFFE__PHASE__TEST, NULL, NULL, &net));
    st = score(net);
    net_flags_close(net);
    return st;
}

const command_t command_test = {
    .name      = "test",
    .arguments = "--model FILE --weights FILE",
    .summary   = "score a trained net on its test data",
    .help =
        "Runs the net of --model in the TEST phase on --iterations batches\n"
        "and logs every output and the loss, for each batch and as a mean.\n"
        "\n"
        "Examples:\n"
        "  firecaffe test --model models/lenet/train_val.prototxt \\\n"
        "      --weights models/lenet/lenet_iter_10000.caffemodel --iterations 100\n",
    .groups = groups,
    .run    = run,
};
