/* firecaffe bench allreduce - measures how fast workers sum gradients, and writes the
 * table that --comm=auto chooses from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "base/file.h"
#include "command.h"
#include "comm/measure/bench.h"
#include "comm/select/select.h"
#include "flags/lists.h"
#include "flags/results.h"
#include "sim/cost_curve.h"
#include "flags/workers.h"

enum { MOST_REPEATS = 1000000 };

typedef struct flags {
    const char *bytes, *algo, *tune, *tuning, *machine, *run_dir;
    int64_t     repeats;
    bool        canonical, onesided;
} flags_t;

static flags_t             flags;
static const fire_option_t options[] = {
    FIRE_OPTION(flags_t, bytes, STRING, "1K,64K,1M,30M,54M", "LIST",
                "array sizes, ascending; K, M and G are 1000, 1000^2 and 1000^3"),
    FIRE_OPTION(flags_t, algo, STRING, NULL, "LIST",
                "algorithms, as NAME[:colors=K][:piece=BYTES], or auto (default: all)"),
    FIRE_OPTION(flags_t, repeats, INT, "15", "N",
                "runs of each algorithm, of which the median counts"),
    FIRE_OPTION(
        flags_t, canonical, BOOL, "false", NULL,
        "use only algorithms whose sums do not depend on the number of workers"),
    FIRE_OPTION(flags_t, onesided, BOOL, "false", NULL,
                "send messages between processes by MPI's one-sided calls"),
    FIRE_OPTION(flags_t, tune, PATH, NULL, "FILE",
                "write the fastest algorithms for each size to FILE, for --tuning"),
    FIRE_OPTION(flags_t, tuning, PATH, NULL, "FILE",
                "table of --tune, for the algorithm auto"),
    FIRE_OPTION(flags_t, machine, PATH, NULL, "FILE",
                "also print what the simulator predicts for this cluster file"),
    FIRE_OPTION(flags_t, run_dir, PATH, "", "DIR",
                "write the results to DIR too, for `report`"),
    {0},
};
static const fire_option_group_t groups[] = {
    {"Flags", options, &flags},
    {"Workers", workers_options, &workers_flags},
    {0},
};

/* ---- flags ---- */

static fire_status_t parse_size(const char *word, size_t *bytes_p)
{
    char  *end;
    double value = strtod(word, &end);

    if (*end == 'K') value *= 1e3;
    if (*end == 'M') value *= 1e6;
    if (*end == 'G') value *= 1e9;
    if (end == word || !(value >= 4 && value <= 1e12) ||
        (*end != '\0' && (strchr("KMG", *end) == NULL || end[1] != '\0')))
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "--bytes: \"%s\" is not a size; write 64K or 30M", word);
    *bytes_p = (size_t)value / sizeof(float) * sizeof(float);
    return FIRE_OK;
}

/* All algorithms that can run on this transport. */
static void take_all(const fire_comm_t *comm, list_t *list)
{
    bool has_mpi = strcmp(fire_comm_transport(comm), "threads") != 0;

    if (flags.tune == NULL) list->word[list->n++] = "auto";
    for (int i = 0; fire_algo_at(i) != NULL && list->n < LIST_MOST; i++) {
        unsigned f = fire_algo_at(i)->flags;

        if (f & FIRE_ALGO_NATIVE && !has_mpi) continue;
        if (flags.canonical && !(f & FIRE_ALGO_CANONICAL)) continue;
        list->word[list->n++] = fire_algo_at(i)->name;
    }
}

/* ---- output ---- */

typedef struct printer {
    int                   workers;
    bool                  first;
    const fire_cluster_t *machine; /* NULL: nothing is predicted */
    fire_results_t       *log;
    fire_status_t         st;
} printer_t;

static void print_head(const fire_comm_t *comm)
{
    printf("%d workers, transport %s, median of %lld\n\n", fire_comm_size(comm),
           fire_comm_transport(comm), (long long)flags.repeats);
    printf("%12s  %-32s %12s %12s %10s %10s", "bytes", "algorithm", "median ms",
           "best ms", "bus GB/s", "x library");
    if (flags.machine != NULL) printf(" %12s %8s", "predicted ms", "off");
    printf("\n");
}

/* What the simulator predicts for the same messages; it cannot for the library's own
 * algorithms. */
static fire_status_t print_prediction(const printer_t *p, const fire_bench_result_t *r)
{
    fire_mode_t   mode   = {.piece = r->piece};
    fire_choice_t choice = {0};
    fire_price_t  price;

    if (r->chosen == NULL) return FIRE_OK;
    FIRE_TRY(fire_algo_find(r->chosen, &mode.algo));
    if (mode.algo->flags & FIRE_ALGO_NATIVE) return FIRE_OK;
    if (strcmp(r->algo, "auto") != 0) FIRE_TRY(fire_choice_parse(r->algo, &choice));
    mode.colors = choice.colors;
    FIRE_TRY(
        fire_mode_simulate(p->machine, &mode, p->workers, (double)r->bytes, &price));
    printf(" %12.3f %+7.1f%%", price.seconds * 1e3,
           100 * (r->seconds / price.seconds - 1));
    return FIRE_OK;
}

static void print_result(printer_t *p, const fire_bench_result_t *r)
{
    char ratio[32] = "-", name[64];
    bool chosen    = strcmp(r->algo, "auto") == 0;

    snprintf(name, sizeof(name), "%s%s%s", r->algo, chosen ? ": " : "",
             chosen ? r->chosen : "");
    if (r->library > 0) snprintf(ratio, sizeof(ratio), "%.2f", r->library);
    printf("%12zu  %-32s %12.3f %12.3f %10.2f %10s", r->bytes, name, r->seconds * 1e3,
           r->best * 1e3, r->bus / 1e9, ratio);
    if (p->machine != NULL && p->st >= 0) p->st = print_prediction(p, r);
    printf("\n");
    fflush(stdout);
}

static fire_status_t log_result(const printer_t *p, const fire_bench_result_t *r)
{
    fire_json_writer_t *w = fire_results_begin_line(p->log, "allreduce");

    if (w == NULL) return FIRE_OK;
    fire_json_add_int(w, "workers", p->workers);
    fire_json_add_string(w, "algo", r->algo);
    fire_json_add_int(w, "bytes", (int64_t)r->bytes);
    fire_json_add_rounded(w, "seconds", r->seconds, 6);
    fire_json_add_rounded(w, "best", r->best, 6);
    fire_json_add_rounded(w, "bus", r->bus, 6);
    if (r->library > 0) fire_json_add_rounded(w, "library", r->library, 4);
    return fire_results_end_line(p->log);
}

static void take_result(void *arg, const fire_bench_result_t *r)
{
    printer_t *p = arg;

    print_result(p, r);
    if (p->st >= 0) p->st = log_result(p, r);
}

static void be_silent(void *arg, const fire_bench_result_t *r)
{
    (void)arg, (void)r;
}

static fire_status_t open_log(printer_t *p)
{
    const fire_results_head_t head = {
        .kind = "bench", .net = "", .workers = p->workers};

    return p->first ? results_open(flags.run_dir, &head, &p->log) : FIRE_OK;
}

/* Every worker sums; rank 0 prints and logs the results. */
static fire_status_t measure(fire_comm_t *comm, const fire_bench_t *b)
{
    printer_t p = {.workers = fire_comm_size(comm), .first = fire_comm_rank(comm) == 0};
    fire_cluster_t machine;
    fire_status_t  st;

    if (flags.machine != NULL) {
        FIRE_TRY(fire_cluster_load(flags.machine, &machine));
        p.machine = &machine;
    }
    FIRE_TRY(fire_comm_agree(comm, open_log(&p)));
    if (p.first) print_head(comm);
    st = fire_comm_bench(comm, b, p.first ? take_result : be_silent, &p);
    return fire_results_close(p.log, st >= 0 ? p.st : st);
}

static fire_status_t tune(fire_comm_t *comm, const fire_bench_t *b)
{
    char         *table;
    fire_status_t st = FIRE_OK;

    FIRE_TRY(fire_comm_tune(comm, b, &table));
    if (fire_comm_rank(comm) == 0) {
        st = fire_file_write(flags.tune, table, strlen(table));
        if (st == FIRE_OK) fputs(table, stdout);
    }
    fire_free(table);
    return fire_comm_agree(comm, st);
}

static fire_status_t bench(fire_comm_t *comm, list_t *sizes, list_t *algos)
{
    size_t       bytes[LIST_MOST];
    fire_bench_t b = {.bytes     = bytes,
                      .algo      = algos->word,
                      .repeats   = (int)flags.repeats,
                      .canonical = flags.canonical};

    FIRE_TRY(list_cut("bytes", flags.bytes, sizes));
    if (flags.algo != NULL)
        FIRE_TRY(list_cut("algo", flags.algo, algos));
    else
        take_all(comm, algos);
    for (; b.nbytes < sizes->n; b.nbytes++)
        FIRE_TRY(parse_size(sizes->word[b.nbytes], &bytes[b.nbytes]));
    b.nalgo = algos->n;
    return flags.tune != NULL ? tune(comm, &b) : measure(comm, &b);
}

static fire_status_t work(void *arg, const fire_worker_t *worker)
{
    list_t        sizes = {0}, algos = {0};
    fire_status_t st;

    (void)arg;
    if (worker->comm == NULL)
        return FIRE_FAIL(FIRE_ERR_INVALID,
                         "a single worker exchanges nothing; start several "
                         "under mpirun or with --workers N");
    st = bench(worker->comm, &sizes, &algos);
    fire_free(sizes.text);
    fire_free(algos.text);
    return st;
}

static fire_status_t run(int narg, const char *const *arg)
{
    fire_workers_t workers = {.comm = FIRE_COMM_OPTIONS_INIT};
    fire_status_t  st      = FIRE_OK;

    (void)narg, (void)arg;
    workers.comm.onesided       = flags.onesided;
    workers.comm.tuning         = flags.tuning;
    workers.comm.ranks_per_node = (int)workers_flags.ranks_per_node;
    if (flags.repeats < 1 || flags.repeats > MOST_REPEATS)
        st = FIRE_FAIL(FIRE_ERR_INVALID, "--repeats must be 1 to %d", MOST_REPEATS);
    return workers_run(&workers, st, work, NULL);
}

const command_t command_bench_allreduce = {
    .name      = "bench allreduce",
    .arguments = "",
    .summary   = "measure how fast workers sum gradients",
    .help   = "Sums arrays over all workers with every algorithm in turn and prints\n"
              "the median time of the slowest worker, the bus bandwidth 2(P-1)/P *\n"
              "bytes / time, and how many times faster that is than the MPI\n"
              "library's own MPI_Allreduce.\n"
              "\n"
              "Examples:\n"
              "  mpirun -np 4 firecaffe bench allreduce --bytes 30M,54M,250M\n"
              "  mpirun -np 4 firecaffe bench allreduce \\\n"
              "      --algo ring,multicolor:colors=8\n"
              "  mpirun -np 4 firecaffe bench allreduce --tune my.tuning\n"
              "  mpirun -np 4 firecaffe bench allreduce --tuning my.tuning \\\n"
              "      --algo auto\n"
              "  mpirun -np 4 firecaffe train --solver s.prototxt \\\n"
              "      --tuning my.tuning\n",
    .groups = groups,
    .run    = run,
};
