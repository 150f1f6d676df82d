/* step.c - a training step of the real exchange engine on a simulated cluster. Built
 * with SimGrid's smpicc by `./dev sim`; computing is simulated time, messages are real.
 *
 *     step ALGORITHM OVERLAP BUCKET_BYTES PIECE_BYTES NET BATCH ONE_WORKER_SECONDS LAYERS
 *
 * PIECE_BYTES: of the longest message; 0: as usual.
 * LAYERS: a line each of gradient bytes, seconds forward, seconds backward, name, as
 * `firecaffe plan --layers` prints them. Rank 0 prints a line of run.jsonl. */
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "comm/comm_state.h"
#include "comm/transport/transport.h"
#include "train/exchange/exchange.h"
#include "train/exchange/exchange_state.h"

enum { HEAD = 16, MOST_LAYERS = 1024 };

/* Bytes per second of messages to oneself (lib.sh), the longest in bytes. */
static const double PACE = 1e6, LONGEST = 1e6;

typedef struct layer {
    double  forward, backward;
    int64_t first, end; /* its gradients */
} layer_t;

typedef struct trainee {
    layer_t          layer[MOST_LAYERS]; /* by backward: the last one first */
    int              nlayer;
    bool             threaded;
    char            *page; /* for messages to oneself: received, sent */
    fire_comm_t     *comm;
    fire_exchange_t *x;
} trainee_t;

static fire_status_t read_layers(const char *path, trainee_t *t)
{
    FILE   *f = fopen(path, "r");
    double  bytes[MOST_LAYERS];
    layer_t l[MOST_LAYERS];
    int     n = 0;

    if (f == NULL) return FIRE_FAIL(FIRE_ERR_IO, "cannot read %s", path);
    while (n < MOST_LAYERS && fscanf(f, "%lf %lf %lf %*[^\n]", &bytes[n], &l[n].forward,
                                     &l[n].backward) == 3)
        n++;
    fclose(f);
    for (int i = 0; i < n; i++) {
        int64_t first = i == 0 ? HEAD : t->layer[i - 1].end;

        t->layer[i]       = l[n - 1 - i];
        t->layer[i].first = first;
        t->layer[i].end   = first + (int64_t)(bytes[n - 1 - i] / sizeof(float));
    }
    t->nlayer = n;
    return n > 0 ? FIRE_OK : FIRE_FAIL(FIRE_ERR_PARSE, "no layers in %s", path);
}

static fire_status_t updated(void *arg, int64_t first, int64_t n)
{
    (void)arg, (void)first, (void)n;
    return FIRE_OK;
}

static fire_status_t move(fire_exchange_t *x)
{
    bool moved = true;

    while (moved)
        FIRE_TRY(fire_exchange_step(x, &moved));
    return FIRE_OK;
}

/* A communication thread moves the engine while this worker computes: whenever a
 * message comes, until one to oneself, which takes as long as computing, is there. */
static fire_status_t compute_and_move(trainee_t *t, double seconds)
{
    fire_transport_t           *tp  = t->comm->tp;
    const fire_transport_ops_t *ops = tp->ops;
    size_t                      len = (size_t)(PACE * seconds);
    fire_req_t                  in, out;

    FIRE_TRY(ops->recv(tp, tp->rank, tp->max_tag, t->page, len, &in));
    FIRE_TRY(ops->send(tp, tp->rank, tp->max_tag, t->page + (size_t)LONGEST, len, false,
                       &out));
    FIRE_TRY(move(t->x));
    while (ops->test(tp, in, NULL) != FIRE_OK || ops->test(tp, out, NULL) != FIRE_OK) {
        FIRE_TRY(ops->wait(tp));
        FIRE_TRY(move(t->x));
    }
    ops->release(tp, in);
    ops->release(tp, out);
    return FIRE_OK;
}

static fire_status_t compute(trainee_t *t, double seconds)
{
    while (t->threaded && seconds > 0 && t->x->ndone < t->x->nstarted) {
        double part = seconds < LONGEST / PACE ? seconds : LONGEST / PACE;

        FIRE_TRY(compute_and_move(t, part));
        seconds -= part;
    }
    if (seconds > 0) smpi_execute_benched(seconds);
    return FIRE_OK;
}

static fire_status_t step(trainee_t *t)
{
    for (int i = t->nlayer - 1; i >= 0; i--) {
        const layer_t *l = &t->layer[i];

        FIRE_TRY(fire_exchange_wait(t->x, l->first, l->end - l->first));
        FIRE_TRY(compute(t, l->forward));
        FIRE_TRY(fire_exchange_beat(t->x));
    }
    FIRE_TRY(fire_exchange_begin(t->x, 0));
    for (int i = 0; i < t->nlayer; i++) {
        FIRE_TRY(compute(t, t->layer[i].backward));
        FIRE_TRY(fire_exchange_ready(t->x, t->layer[i].end));
    }
    return FIRE_OK;
}

static void print_line(fire_comm_t *comm, trainee_t *t, char **argv, double seconds)
{
    fire_exchange_account_t a       = fire_exchange_account(t->x);
    double                  compute = 0, one = atof(argv[7]);
    int                     p = fire_comm_size(comm);

    for (int i = 0; i < t->nlayer; i++)
        compute += t->layer[i].forward + t->layer[i].backward;
    printf(
        "{\"type\":\"step\",\"net\":\"%s\",\"comm\":\"%s\",\"overlap\":\"%s\","
        "\"batch\":%s,\"workers\":%d,\"step_s\":%.6g,\"speedup\":%.6g,"
        "\"efficiency\":%.6g,\"compute_s\":%.6g,\"exposed_s\":%.6g,\"hidden_s\":%.6g,"
        "\"bytes\":%.9g}\n",
        argv[5], argv[1], argv[2], argv[6], p, seconds, one / seconds,
        one / seconds / p, compute, a.exposed,
        a.busy > a.exposed ? a.busy - a.exposed : 0, (double)a.bytes);
}

static fire_status_t train(fire_comm_t *comm, trainee_t *t, char **argv)
{
    int64_t                 cut[MOST_LAYERS + 1] = {HEAD};
    int                     ncut                 = 1;
    double                  begin;
    float                  *grads;
    fire_exchange_options_t o = {
        .algo         = argv[1],
        .bucket_bytes = (size_t)atof(argv[3]),
        .piece        = (size_t)atof(argv[4]),
        .complete     = updated,
        .overlap = strcmp(argv[2], "off") == 0 ? FIRE_OVERLAP_OFF : FIRE_OVERLAP_POLL};

    t->threaded = strcmp(argv[2], "thread") == 0;
    for (int i = 0; i < t->nlayer; i++)
        if (t->layer[i].end > cut[ncut - 1]) cut[ncut++] = t->layer[i].end;
    FIRE_TRY(
        fire_comm_alloc(comm, (size_t)cut[ncut - 1] * sizeof(float), (void **)&grads));
    FIRE_TRY(fire_exchange_create(comm, grads, NULL, cut, ncut, &o, &t->x));
    FIRE_TRY(comm->tp->ops->reserve(comm->tp, 2));
    t->comm = comm;
    begin   = MPI_Wtime();
    FIRE_TRY(step(t));
    FIRE_TRY(fire_exchange_finish(t->x));
    if (fire_comm_rank(comm) == 0) print_line(comm, t, argv, MPI_Wtime() - begin);
    fire_exchange_destroy(t->x);
    fire_comm_free(comm, grads);
    return FIRE_OK;
}

int main(int argc, char **argv)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
    fire_comm_t        *comm;
    trainee_t          *t = NULL;
    fire_status_t       st;

    if (argc != 9) return 2;
    o.timeout = 0;
    st        = fire_comm_open_cluster(&o, &comm);
    if (st >= 0) {
        st = FIRE_NEW(&t, 1);
        if (st >= 0) st = FIRE_NEW(&t->page, 2 * (size_t)LONGEST);
        if (st >= 0) st = read_layers(argv[8], t);
        if (st >= 0) st = train(comm, t, argv);
        fire_comm_close(comm);
    }
    if (t != NULL) fire_free(t->page);
    fire_free(t);
    if (st < 0) fprintf(stderr, "%s\n", fire_last_error());
    return st < 0;
}
