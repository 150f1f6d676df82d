/* plan.c - a plan on stdout: as a table for people, as JSON for programs. */
#include "view/plan.h"

#include <math.h>
#include <stdio.h>

/* ---- tables ---- */

static void print_head(const fire_plan_t *p, const char *model)
{
    printf("%s on %s\n\n", model, p->cluster.name);
    printf("|W| %.4g MB of weights, |D| %.4g MB of inputs per sample, both of the\n"
           "convolution and inner product layers; %.4g MB of gradients in all\n"
           "forward: %.4g GFLOP, %.4g MB read and written per sample\n",
           p->net.w_bytes / 1e6, p->net.d_bytes / 1e6, p->net.weights / 1e6,
           p->net.flops / 1e9, p->net.moved / 1e6);
}

static void print_rows(const fire_plan_t *p)
{
    double bw = p->cluster.net.bandwidth;

    printf("\n%8s %7s  %-14s %10s %10s %8s %6s %9s %9s %9s %8s %8s | %9s %9s\n",
           "batch", "workers", "comm", "step ms", "samples/s", "speed-up", "eff.",
           "compute", "exposed", "hidden", "wire MB", "mem GB", "|W|p/BW", "|W|lg/BW");
    for (int64_t i = 0; i < p->nrow; i++) {
        const fire_plan_row_t *r    = &p->row[i];
        bool                   best = r == fire_plan_best(p, r->batch, r->workers);

        printf("%8d %7d%c %-14s %10.4g %10.4g %8.4g %5.0f%% %9.4g %9.4g %9.4g %8.4g "
               "%8.3g | %9.4g %9.4g\n",
               r->batch, r->workers, best ? '*' : ' ', r->comm, 1e3 * r->t.total,
               r->batch / r->t.total, r->speedup, 100 * r->speedup / r->workers,
               1e3 * r->t.compute, 1e3 * r->t.exposed, 1e3 * (r->t.comm - r->t.exposed),
               r->t.bytes / 1e6, r->t.memory / 1e9,
               1e3 * p->net.w_bytes * r->workers / bw,
               1e3 * p->net.w_bytes * log2(r->workers) / bw);
    }
    printf(
        "\nTimes in ms. * is the fastest for that many workers. wire MB: bytes\n"
        "that the busiest worker sends in a step; mem GB: weights, gradients, history\n"
        "and activations of a worker. Right of the bar: the equations of the\n"
        "FireCaffe paper for a parameter server and a reduction tree.\n");
    if (p->baseline > 0)
        printf("Speed-up and efficiency count from %.4g samples/s (--baseline).\n",
               p->baseline);
    else
        printf("Speed-up and efficiency count from one worker's predicted step.\n");
}

/* ---- JSON ---- */

void plan_view_add_baseline(fire_json_writer_t *w, const fire_plan_t *p)
{
    if (p->baseline > 0)
        fire_json_add_rounded(w, "baseline_samples_per_s", p->baseline, 6);
}

void plan_view_add_row(fire_json_writer_t *w, const fire_plan_row_t *r)
{
    fire_json_add_int(w, "batch", r->batch);
    fire_json_add_int(w, "workers", r->workers);
    fire_json_add_string(w, "comm", r->comm);
    fire_json_add_rounded(w, "step_s", r->t.total, 6);
    fire_json_add_rounded(w, "samples_per_s", r->batch / r->t.total, 6);
    fire_json_add_rounded(w, "speedup", r->speedup, 6);
    fire_json_add_rounded(w, "efficiency", r->speedup / r->workers, 6);
    fire_json_add_rounded(w, "compute_s", r->t.compute, 6);
    fire_json_add_rounded(w, "update_s", r->t.update, 6);
    fire_json_add_rounded(w, "exposed_s", r->t.exposed, 6);
    fire_json_add_rounded(w, "hidden_s", r->t.comm - r->t.exposed, 6);
    fire_json_add_rounded(w, "bytes", r->t.bytes, 9);
    fire_json_add_rounded(w, "memory", r->t.memory, 9);
}

static void write_row(fire_json_writer_t *w, const fire_plan_row_t *r)
{
    fire_json_open(w, NULL, '{');
    plan_view_add_row(w, r);
    fire_json_close(w, '}');
}

fire_status_t plan_view_json(const fire_plan_t *p, const char *model,
                             const char *advice)
{
    fire_json_writer_t w = {.indent = 1};

    fire_json_open(&w, NULL, '{');
    fire_json_add_string(&w, "model", model);
    fire_json_add_string(&w, "machine", p->cluster.name);
    fire_json_add_rounded(&w, "w_bytes", p->net.w_bytes, 9);
    fire_json_add_rounded(&w, "d_bytes_per_sample", p->net.d_bytes, 9);
    fire_json_add_rounded(&w, "gradient_bytes", p->net.weights, 9);
    fire_json_add_rounded(&w, "forward_flop_per_sample", p->net.flops, 9);
    plan_view_add_baseline(&w, p);
    fire_json_open(&w, "rows", '[');
    for (int64_t i = 0; i < p->nrow; i++)
        write_row(&w, &p->row[i]);
    fire_json_close(&w, ']');
    fire_json_add_string(&w, "advice", advice);
    fire_json_close(&w, '}');
    if (w.status >= 0) puts(w.out.text);
    fire_json_writer_fini(&w);
    return w.status;
}

void plan_view_layers(const fire_plan_t *p)
{
    fire_load_t load = fire_plan_net_load(&p->net);
    int         each = p->nrow > 0 ? (p->row[0].batch - 1) / p->row[0].workers + 1 : 1;

    for (int i = 0; i < load.nlayer; i++)
        printf("%.0f %.9g %.9g %s\n", load.work[i].weights,
               fire_step_layer(&p->cluster, &load, false, i, each),
               fire_step_layer(&p->cluster, &load, true, i, each), p->net.name[i]);
}

void plan_view_tables(const fire_plan_t *p, const char *model, const char *advice)
{
    print_head(p, model);
    print_rows(p);
    printf("%s", advice);
}
