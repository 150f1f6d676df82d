/* advice.c - recommends the number of workers and settings for a batch size, and names
 * the bottleneck, in plain text. */
#include "plan/plan.h"

/* The most workers that are worth their cost: from one worker count of the grid to the
 * next, the speed-up must grow at least half as much as the number of workers. */
static const fire_plan_row_t *last_worth(const fire_plan_t *p, int batch)
{
    const fire_plan_row_t *worth = NULL;

    for (int64_t i = 0; i < p->nrow; i++) {
        const fire_plan_row_t *r = &p->row[i];
        double                 gain, ideal;

        if (r->batch != batch || r != fire_plan_best(p, batch, r->workers)) continue;
        if (worth != NULL) {
            gain  = r->speedup / worth->speedup - 1;
            ideal = (double)r->workers / worth->workers - 1;
            if (gain < ideal / 2) break;
        }
        worth = r;
    }
    return worth;
}

static fire_status_t say_bottleneck(const fire_plan_t *p, const fire_plan_row_t *r,
                                    fire_str_t *out)
{
    double      samples = (double)r->batch / r->workers;
    fire_load_t load    = fire_plan_net_load(&p->net);
    double      full    = fire_step_compute(&p->cluster, &load, r->batch) / r->workers;
    double      small   = r->t.compute - full;
    double      crowd   = fire_cluster_crowd(&p->cluster, r->workers);

    if (r->t.starved)
        return fire_str_printf(out,
                               "Next bottleneck: the input; a worker reads "
                               "%.0f samples/s at most.\n",
                               p->cluster.compute.input);
    if (r->t.exposed > small && r->t.exposed > 0.02 * r->t.total)
        return fire_str_printf(out,
                               "Next bottleneck: communication; %.0f%% of the step "
                               "waits for sums of gradients.\n",
                               100 * r->t.exposed / r->t.total);
    if (crowd > 1)
        return fire_str_printf(
            out,
            "Next bottleneck: cores; the workers of a node want %.3g "
            "times as many as there are.\n",
            crowd);
    if (small > 0.02 * r->t.total)
        return fire_str_printf(out,
                               "Next bottleneck: %.3g samples a worker do not fill the "
                               "processor, which costs %.0f%% of the step; a larger "
                               "batch would scale further.\n",
                               samples, 100 * small / r->t.total);
    return fire_str_printf(out,
                           "Next bottleneck: none in sight; computing is %.0f%% of "
                           "the step.\n",
                           100 * r->t.compute / r->t.total);
}

/* Replay the step with other bucket sizes (one is taken if it saves 2 %), with one
 * blocking exchange, and with 16-bit gradients. */
static fire_status_t say_settings(const fire_plan_t *p, const fire_plan_row_t *r,
                                  fire_str_t *out)
{
    static const double mb[] = {0.5, 1, 2, 4, 8, 16, 32, 64};
    fire_step_times_t   t, blocking;
    double              best = r->t.total, best_mb = p->bucket / 1e6;

    for (size_t i = 0; i < sizeof(mb) / sizeof(mb[0]); i++) {
        FIRE_TRY(fire_plan_replay(p, r, &r->curve, 1e6 * mb[i], true, &t));
        if (t.total > 0.98 * best) continue;
        best    = t.total;
        best_mb = mb[i];
    }
    FIRE_TRY(fire_plan_replay(p, r, &r->curve, 0, false, &blocking));
    FIRE_TRY(fire_str_printf(out,
                             "Buckets of %.3g MB with overlap: %.4g ms a step; one "
                             "blocking exchange: %.4g ms.\n",
                             best_mb, 1e3 * best, 1e3 * blocking.total));
    if (r->mode.codec != NULL || r->workers == 1) return FIRE_OK;
    {
        fire_mode_t       half = r->mode;
        fire_cost_curve_t curve;
        float             arg;

        FIRE_TRY(fire_codec_find("fp16", &half.codec, &arg));
        FIRE_TRY(fire_cost_curve_make(&p->cluster, &half, r->workers, &curve));
        FIRE_TRY(fire_plan_replay(p, r, &curve, 1e6 * best_mb, true, &t));
    }
    return fire_str_printf(
        out, "16-bit gradients (--compress fp16): %.4g ms, %s.\n", 1e3 * t.total,
        t.total < 0.95 * best ? "worth it" : "not worth the rounding");
}

/* Model parallelism exchanges activations instead of gradients: fewer bytes for layers
 * in which the inputs of a batch, |D|, are smaller than the weights, |W|. */
static fire_status_t say_parallelism(const fire_plan_t *p, int batch, fire_str_t *out)
{
    int n = 0;

    for (int i = 0; i < p->net.nlayer; i++) {
        if (p->net.w[i] <= p->net.d[i] * batch) continue;
        FIRE_TRY(fire_str_printf(out, "%s%s",
                                 n++ == 0 ? "Model parallelism would move "
                                            "fewer bytes for: "
                                          : ", ",
                                 p->net.name[i]));
    }
    return fire_str_printf(out, n > 0 ? " (|D| < |W|).\n"
                                      : "Data parallelism moves fewer bytes in every "
                                        "layer (|W| < |D|).\n");
}

fire_status_t fire_plan_advise(const fire_plan_t *p, int batch, fire_str_t *out)
{
    const fire_plan_row_t *r = last_worth(p, batch);

    if (r == NULL) return FIRE_OK;
    FIRE_TRY(fire_str_printf(
        out,
        "\nRecommended for a batch of %d: %d worker%s, --comm %s; %.4g samples/s, "
        "%.1f times %s.\nThe next larger number of workers would add less than "
        "half of what its workers could, or there is none in the list.\n",
        batch, r->workers, r->workers == 1 ? "" : "s", r->comm, batch / r->t.total,
        r->speedup, p->baseline > 0 ? "the rate of --baseline" : "one worker"));
    FIRE_TRY(say_bottleneck(p, r, out));
    if (r->workers > 1) FIRE_TRY(say_settings(p, r, out));
    return say_parallelism(p, batch, out);
}
