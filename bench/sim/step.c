/* step.c - training steps of the real exchange engine on a simulated cluster. Built
 * with SimGrid's smpicc by `./dev sim`; computing is simulated time, messages are real.
 *
 *     step ALGORITHM OVERLAP BYTES LAYERS SECONDS
 *
 * LAYERS equal layers with BYTES of gradients in all; a step computes SECONDS, a third
 * of it forward. Rank 0 prints one JSON line. */
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/alloc.h"
#include "train/exchange.h"

enum { STEPS = 3, BUCKET = 4000000, HEAD = 16 };

static fire_status_t updated(void *arg, int64_t first, int64_t n)
{
    (void)arg, (void)first, (void)n;
    return FIRE_OK;
}

static fire_status_t step(fire_exchange_t *x, const int64_t *cut, int layers,
                          double seconds)
{
    for (int i = layers; i >= 1; i--) { /* cuts ascend as backward goes down */
        FIRE_TRY(fire_exchange_wait(x, cut[i - 1], cut[i] - cut[i - 1]));
        smpi_execute_benched(seconds / 3 / layers);
        FIRE_TRY(fire_exchange_beat(x));
    }
    FIRE_TRY(fire_exchange_begin(x));
    for (int i = 1; i <= layers; i++) {
        smpi_execute_benched(2 * seconds / 3 / layers);
        FIRE_TRY(fire_exchange_ready(x, cut[i]));
    }
    return FIRE_OK;
}

static fire_status_t train(fire_comm_t *comm, char **argv)
{
    int64_t                 n       = (int64_t)(atof(argv[3]) / sizeof(float));
    int                     layers  = atoi(argv[4]);
    double                  seconds = atof(argv[5]), begin = 0;
    int64_t                *cut;
    float                  *grads;
    fire_exchange_t        *x;
    fire_exchange_options_t o = {
        .algo         = argv[1],
        .bucket_bytes = BUCKET,
        .complete     = updated,
        .overlap = strcmp(argv[2], "poll") == 0 ? FIRE_OVERLAP_POLL : FIRE_OVERLAP_OFF};

    FIRE_TRY(FIRE_NEW(&cut, layers + 1));
    for (int i = 0; i <= layers; i++)
        cut[i] = HEAD + n * i / layers;
    FIRE_TRY(
        fire_comm_alloc(comm, (size_t)cut[layers] * sizeof(float), (void **)&grads));
    FIRE_TRY(fire_exchange_create(comm, grads, NULL, cut, layers + 1, &o, &x));
    for (int i = 0; i <= STEPS; i++) {
        if (i == 1) begin = MPI_Wtime(); /* the first one warms up */
        FIRE_TRY(step(x, cut, layers, seconds));
    }
    FIRE_TRY(fire_exchange_finish(x));
    if (fire_comm_rank(comm) == 0)
        printf("{\"workers\": %d, \"comm\": \"%s\", \"overlap\": \"%s\", \"step_s\": "
               "%.6f}\n",
               fire_comm_size(comm), argv[1], argv[2], (MPI_Wtime() - begin) / STEPS);
    fire_exchange_destroy(x);
    fire_comm_free(comm, grads);
    fire_free(cut);
    return FIRE_OK;
}

int main(int argc, char **argv)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
    fire_comm_t        *comm;
    fire_status_t       st;

    if (argc != 6) return 2;
    st = fire_comm_open_cluster(&o, &comm);
    if (st >= 0) {
        st = train(comm, argv);
        fire_comm_close(comm);
    }
    if (st < 0) fprintf(stderr, "%s\n", fire_last_error());
    return st < 0;
}
