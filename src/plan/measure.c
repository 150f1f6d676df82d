/* measure.c - writes a machine file for the machine that runs it. fire_comm_probe()
 * measures the network; small kernels, run at the same time by all workers that have
 * cores of their own, measure a worker's arithmetic, memory and update rates. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text/json.h"
#include "base/log.h"
#include "base/host/cores.h"
#include "base/host/memory.h"
#include "comm/measure/probe.h"
#include "device/cpu/blas.h"
#include "device/cpu/parallel.h"
#include "plan/plan.h"

enum {
    SIDE = 384,
    LONG = 16 << 20
}; /* matrices of SIDE x SIDE; arrays of LONG floats, more than caches hold */
/* workers_per_node of a machine that is a single node: no limit in practice. */
enum { ALL_WORKERS = 1024 };

typedef struct rates {
    double flops, memory, update;
} rates_t;

typedef struct scratch {
    float *x, *y, *z;
} scratch_t;

static void multiply(const scratch_t *s)
{
    fire_gemm(FIRE_NO_TRANS, FIRE_NO_TRANS, SIDE, SIDE, SIDE, 1, s->x, s->y, 0, s->z);
}

static void stream(const scratch_t *s)
{
    fire_axpy(LONG, 1e-6f, s->x, s->y);
}

/* The arithmetic of the SGD solver: history, then weights. */
static void update(const scratch_t *s)
{
    fire_axpby(LONG, 1e-6f, s->x, 0.9f, s->y);
    fire_axpy(LONG, -1, s->y, s->z);
}

/* Calls of `work` per second, over a third of a second. */
static double rate_of(void (*work)(const scratch_t *), const scratch_t *s)
{
    double begin, now;
    int    n = 0;

    work(s);
    begin = now = fire_clock_now();
    for (; now - begin < 0.33; n++, now = fire_clock_now())
        work(s);
    return n / (now - begin);
}

static rates_t measure_rates(const scratch_t *s)
{
    return (rates_t){
        .flops  = 2.0 * SIDE * SIDE * SIDE * rate_of(multiply, s),
        .memory = 3.0 * LONG * sizeof(float) * rate_of(stream, s),
        .update = 1.0 * LONG * sizeof(float) * rate_of(update, s),
    };
}

/* Does this worker have cores of its own? Others wait while these measure. */
static bool has_cores(fire_comm_t *c, int threads, int cores)
{
    int me = fire_comm_rank(c), before = 0;

    for (int r = 0; r < me; r++)
        before += fire_comm_node(c, r) == fire_comm_node(c, me);
    return (before + 1) * threads <= cores || before == 0;
}

static fire_status_t measure_compute(fire_comm_t *c, int threads, int cores,
                                     rates_t *rates_p)
{
    scratch_t     s  = {0};
    fire_status_t st = FIRE_NEW(&s.x, LONG);

    if (st >= 0) st = FIRE_NEW(&s.y, LONG);
    if (st >= 0) st = FIRE_NEW(&s.z, LONG);
    st = fire_comm_agree(c, st);
    fire_threads_set(threads);
    if (st >= 0 && has_cores(c, threads, cores)) *rates_p = measure_rates(&s);
    if (st >= 0) st = fire_comm_barrier(c);
    fire_free(s.x);
    fire_free(s.y);
    fire_free(s.z);
    return st;
}

static void write_wire(fire_json_writer_t *w, const char *key,
                       const fire_wire_probe_t *p)
{
    fire_json_open(w, key, '{');
    fire_json_add_rounded(w, "latency_us", 1e6 * p->latency, 3);
    fire_json_add_rounded(w, "bandwidth_gb_s", 1e-9 * p->bandwidth, 3);
    fire_json_add_rounded(w, "reduce_gb_s", 1e-9 * p->reduce, 3);
    fire_json_close(w, '}');
}

static void write_compute(fire_json_writer_t *w, const rates_t *r)
{
    fire_json_open(w, "compute", '{');
    fire_json_add_rounded(w, "gflop_s", 1e-9 * r->flops, 3);
    fire_json_add_rounded(w, "memory_gb_s", 1e-9 * r->memory, 3);
    fire_json_add_rounded(w, "update_gb_s", 1e-9 * r->update, 3);
    fire_json_add_rounded(w, "memory_gb", 1e-9 * (double)fire_memory_size(), 3);
    fire_json_close(w, '}');
}

static void write_machine(fire_json_writer_t *w, const fire_probe_t *p,
                          const rates_t *r, int threads, int cores, const char *host)
{
    const fire_wire_probe_t *node = p->node.found ? &p->node : &p->net;

    fire_json_open(w, NULL, '{');
    fire_json_add_string(w, "name", host);
    fire_json_add_string(w, "note",
                         "Measured by firecaffe plan --machine measure. gflop_s is "
                         "that of large matrix products: nets reach less, so give "
                         "plan the --times of the net too.");
    fire_json_open(w, "topology", '{');
    fire_json_add_string(w, "kind", "star");
    fire_json_close(w, '}');
    fire_json_add_int(w, "workers_per_node", p->nodes > 1 ? p->per_node : ALL_WORKERS);
    fire_json_add_int(w, "cores_per_node", cores);
    fire_json_add_int(w, "cores_per_worker", threads);
    fire_json_add_bool(w, "shared_memory", p->node.shared);
    write_wire(w, "net", p->net.found ? &p->net : node);
    write_wire(w, "node", node);
    write_compute(w, r);
    fire_json_close(w, '}');
}

static fire_status_t save(const char *path, const fire_json_writer_t *w)
{
    FIRE_TRY(w->status);
    FIRE_TRY(fire_file_write(path, w->out.text, w->out.n));
    FIRE_LOG(INFO, "Wrote %s:\n%s", path, w->out.text);
    return FIRE_OK;
}

fire_status_t fire_plan_measure(fire_comm_t *comm, int threads, const char *path)
{
    fire_json_writer_t w     = {.indent = 1};
    int                cores = fire_cores_of_machine();
    fire_probe_t       probe;
    rates_t            rates = {0};
    fire_status_t      st    = FIRE_OK;

    if (threads == 0) threads = cores;
    FIRE_TRY(fire_comm_probe(comm, LONG, &probe));
    FIRE_TRY(measure_compute(comm, threads, cores, &rates));
    if (fire_comm_rank(comm) == 0) {
        write_machine(&w, &probe, &rates, threads, cores, fire_comm_host(comm, 0));
        st = save(path, &w);
        fire_json_writer_fini(&w);
    }
    return fire_comm_agree(comm, st);
}
