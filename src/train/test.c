/* test.c - the test phase: outputs of a test net, averaged over test_iter batches. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "train/trainer.h"

static int64_t count_outputs(const fire_net_t *net)
{
    int64_t n = 0;

    for (int i = 0; i < net->noutput; i++)
        n += fire_blob_count(net->blob[net->output[i]].blob);
    return n;
}

static fire_status_t add_outputs(const fire_net_t *net, float *sum)
{
    for (int i = 0; i < net->noutput; i++) {
        fire_blob_t *b = net->blob[net->output[i]].blob;
        const float *x;

        FIRE_TRY(fire_blob_read(b, FIRE_DATA, FIRE_CPU, &x));
        for (int64_t k = 0; k < b->count; k++)
            *sum++ += x[k];
    }
    return FIRE_OK;
}

static void report(fire_trainer_t *t, int which, const float *sum)
{
    const fire_net_t *net = t->test[which].net;
    int               k   = 0;

    for (int i = 0; i < net->noutput; i++) {
        const fire_net_blob_t *b      = &net->blob[net->output[i]];
        float                  weight = fire_net_loss_weight(net, net->output[i]);

        for (int64_t j = 0; j < fire_blob_count(b->blob); j++, sum++) {
            float mean     = *sum / (float)t->test[which].iterations;
            char  loss[64] = "";

            if (weight != 0)
                snprintf(loss, sizeof(loss), " (* %g = %g loss)", (double)weight,
                         (double)(weight * mean));
            FIRE_LOG(INFO, "    Test net output #%d: %s = %g%s", k++, b->name,
                     (double)mean, loss);
            fire_trainer_emit(t, (fire_train_event_t){.kind     = FIRE_TRAIN_TEST,
                                                      .test_net = which,
                                                      .name     = b->name,
                                                      .value    = (double)mean});
        }
    }
}

/* Data go on where the last test ended, as in Caffe; a function of the iteration, so
 * that a resumed run sees what an undisturbed one would. */
static int64_t first_step(const fire_trainer_t *t, int which)
{
    int64_t nth =
        t->param->test_interval > 0 ? t->solver->iter / t->param->test_interval : 0;

    if (!t->param->test_initialization && nth > 0) nth--;
    return nth * t->test[which].iterations;
}

static fire_status_t run(fire_trainer_t *t, int which, float *sum, double *loss)
{
    fire_net_t *net  = t->test[which].net;
    int64_t     step = first_step(t, which);
    float       one;

    for (int i = 0; i < t->test[which].iterations && !t->stopped; i++) {
        net->moment.step = step + i;
        FIRE_TRY(fire_net_forward(net, 0, -1, &one));
        FIRE_TRY(add_outputs(net, sum));
        *loss += (double)one;
        if (t->options.action != NULL) {
            fire_action_t request = t->options.action(t->options.arg);

            if (request == FIRE_SNAPSHOT) FIRE_TRY(fire_trainer_snapshot(t));
            t->stopped = request == FIRE_STOP;
        }
    }
    return FIRE_OK;
}

fire_status_t fire_trainer_test(fire_trainer_t *t, int which)
{
    double        loss = 0;
    float        *sum;
    fire_status_t st;

    FIRE_LOG(INFO, "Iteration %lld, Testing net (#%d)", (long long)t->solver->iter,
             which);
    FIRE_TRY(FIRE_NEW(&sum, count_outputs(t->test[which].net)));
    st = run(t, which, sum, &loss);
    if (st >= 0 && t->stopped)
        FIRE_LOG(INFO, "Test interrupted.");
    else if (st >= 0) {
        if (t->param->test_compute_loss)
            FIRE_LOG(INFO, "Test loss: %g", loss / t->test[which].iterations);
        report(t, which, sum);
    }
    fire_free(sum);
    return st;
}
