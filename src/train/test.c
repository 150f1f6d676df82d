/* test.c - the test phase: outputs of a test net, averaged over test_iter batches.
 *
 * Workers share the batches: worker r computes batches r, r + size, r + 2 size ... Each
 * batch has a row [outputs ..., loss], zero on all workers but the one that computed
 * it. An allreduce of all rows is therefore exact, and every worker adds the rows in
 * the order of the batches: the means do not depend on the number of workers. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "train/average_precision.h"
#include "train/trainer_state.h"

static int64_t count_outputs(const fire_net_t *net)
{
    int64_t n = 0;

    for (int i = 0; i < net->noutput; i++)
        n += net->output_size[i];
    return n;
}

static fire_status_t read_outputs(const fire_net_t *net, float *out)
{
    for (int i = 0; i < net->noutput; i++) {
        const float *x;

        FIRE_TRY(fire_net_read_output(net, i, FIRE_CPU, &x));
        if (x != NULL) memcpy(out, x, (size_t)net->output_size[i] * sizeof(*x));
        out += net->output_size[i];
    }
    return FIRE_OK;
}

/* One output's mean, in Caffe's words; k counts outputs. */
static void log_mean(fire_trainer_t *t, int which, int k, const char *name,
                     double weight, double mean)
{
    char loss[64] = "";

    if (weight != 0)
        snprintf(loss, sizeof(loss), " (* %g = %g loss)", weight, weight * mean);
    FIRE_LOG(INFO, "    Test net output #%d: %s = %g%s", k, name, mean, loss);
    fire_follow_value(t, name, weight, mean);
    fire_trainer_emit(t, (fire_train_event_t){.kind     = FIRE_TRAIN_TEST,
                                              .test_net = which,
                                              .name     = name,
                                              .value    = mean});
}

static void report(fire_trainer_t *t, int which, const float *sum)
{
    const fire_net_t *net = t->test[which].net;
    int               k   = 0;

    for (int i = 0; i < net->noutput; i++) {
        const fire_net_blob_t *b      = &net->blob[net->output[i]];
        float                  weight = fire_net_loss_weight(net, net->output[i]);

        if (fire_blob_count(b->blob) != net->output_size[i]) {
            FIRE_LOG(INFO, "    Test net output #%d: %s has no mean: its size changes",
                     k++, b->name);
            sum += net->output_size[i];
            continue;
        }
        for (int64_t j = 0; j < net->output_size[i]; j++, sum++)
            log_mean(t, which, k++, b->name, (double)weight,
                     (double)(*sum / (float)t->test[which].iterations));
    }
}

/* The first batch of this test. Each test continues with the data after the last one,
 * as in Caffe. It is a function of the iteration, so a resumed run tests with the same
 * images as an uninterrupted one. */
static int64_t first_step(const fire_trainer_t *t, int which)
{
    int64_t nth =
        t->param->test_interval > 0 ? t->solver->iter / t->param->test_interval : 0;

    if (!t->param->test_initialization && nth > 0) nth--;
    return nth * t->test[which].iterations;
}

/* row: [iterations][width], zeroed. */
static fire_status_t run(fire_trainer_t *t, int which, float *row, int64_t width)
{
    fire_net_t *net  = t->test[which].net;
    int64_t     step = first_step(t, which);
    int         n    = t->test[which].iterations;

    net->moment.step_stride = fire_trainer_size(t);
    fire_trainer_watch(t, net);
    for (int i = fire_trainer_rank(t); i < n; i += fire_trainer_size(t)) {
        net->moment.step = step + i;
        FIRE_TRY(fire_net_run_forward(net, 0, -1, &row[i * width + width - 1]));
        FIRE_TRY(read_outputs(net, row + i * width));
        if (fire_trainer_size(t) > 1) continue;
        t->stopped = fire_trainer_take_stop(t);
        if (t->stopped) break;
    }
    return FIRE_OK;
}

static fire_status_t test(fire_trainer_t *t, int which, float *row, int64_t width)
{
    int n = t->test[which].iterations;

    FIRE_TRY(run(t, which, row, width));
    if (t->stopped) {
        FIRE_LOG(INFO, "Test interrupted.");
        return FIRE_OK;
    }
    if (fire_trainer_size(t) > 1)
        FIRE_TRY(
            fire_comm_allreduce(t->options.comm, "tree", row, (size_t)(n * width)));
    for (int i = 1; i < n; i++)
        for (int64_t k = 0; k < width; k++)
            row[k] += row[i * width + k];
    if (t->param->test_compute_loss)
        FIRE_LOG(INFO, "Test loss: %g", (double)(row[width - 1] / (float)n));
    report(t, which, row);
    return FIRE_OK;
}

/* ---- detection ---- */

static fire_status_t add_detections(fire_trainer_t *t, int which,
                                    fire_average_precision_t **d)
{
    fire_net_t *net = t->test[which].net;

    fire_trainer_watch(t, net);
    for (int i = 0; i < t->test[which].iterations; i++) {
        net->moment.step = first_step(t, which) + i;
        FIRE_TRY(fire_net_run_forward(net, 0, -1, NULL));
        for (int k = 0; k < net->noutput; k++) {
            fire_blob_t *b = net->blob[net->output[k]].blob;
            const float *x;

            FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
            FIRE_TRY(fire_average_precision_add(d[k], b->count, x));
        }
    }
    return FIRE_OK;
}

/* Average precision is not a mean over batches, so every worker computes all of
 * them. */
static fire_status_t test_detection(fire_trainer_t *t, int which)
{
    fire_net_t                *net = t->test[which].net;
    fire_precision_t           how;
    fire_average_precision_t **d;
    fire_status_t              st = FIRE_OK;

    FIRE_TRY(fire_precision_find(t->param->ap_version, &how));
    FIRE_TRY(FIRE_NEW(&d, net->noutput));
    for (int k = 0; k < net->noutput && st >= 0; k++)
        st = fire_average_precision_create(how, &d[k]);
    if (st >= 0) st = add_detections(t, which, d);
    for (int k = 0; k < net->noutput; k++) {
        double mean = 0;

        if (st >= 0) st = fire_average_precision_mean(d[k], &mean);
        if (st >= 0) log_mean(t, which, k, net->blob[net->output[k]].name, 0, mean);
        fire_average_precision_destroy(d[k]);
    }
    fire_free(d);
    return st;
}

static fire_status_t test_net(fire_trainer_t *t, int which)
{
    int64_t       width = count_outputs(t->test[which].net) + 1;
    float        *row;
    fire_status_t st;

    FIRE_LOG(INFO, "Iteration %lld, Testing net (#%d)", (long long)t->solver->iter,
             which);
    if (t->test[which].iterations == 0) return FIRE_OK; /* Caffe logs no means then */
    FIRE_TRY(fire_trainer_wait(t));
    if (strcmp(t->param->eval_type, "detection") == 0) return test_detection(t, which);
    FIRE_TRY(FIRE_NEW(&row, (t->test[which].iterations + 1) * width));
    st = test(t, which, row, width);
    fire_free(row);
    return st;
}

/* With means of the weights, if there are some. */
static fire_status_t test_average(fire_trainer_t *t, int which)
{
    fire_status_t st, back;

    FIRE_TRY(fire_average_swap(t));
    st   = test_net(t, which);
    back = fire_average_swap(t);
    return st < 0 ? st : back;
}

fire_status_t fire_trainer_test(fire_trainer_t *t, int which)
{
    fire_trainer_call_t call;
    fire_status_t       st;

    if (which < 0 || which >= t->ntest)
        return FIRE_FAIL(FIRE_ERR_INVALID, "there is no test net %d: the solver has %d",
                         which, t->ntest);
    call                      = fire_trainer_enter(t);
    st                        = call.st >= 0 ? test_average(t, which) : call.st;
    t->test[which].net->hooks = (fire_net_hooks_t){0};
    return fire_trainer_leave(t, call, fire_trainer_inform(t, st));
}
