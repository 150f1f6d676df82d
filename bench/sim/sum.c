/* sum.c - one allreduce by the real executor on a simulated cluster. Built with
 * SimGrid's smpicc by bench/sim/table; rank 0 prints the simulated seconds.
 *
 *     sum ALGORITHM PIECE_BYTES BYTES                  (PIECE_BYTES 0: as usual) */
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "comm/comm.h"

static fire_status_t sum(fire_comm_t *comm, char **argv)
{
    fire_collective_options_t o     = {.algo = argv[1], .piece = (size_t)atof(argv[2])};
    size_t                    count = (size_t)atof(argv[3]) / sizeof(float);
    fire_collective_t        *x;
    double                    begin;
    float                    *data;

    FIRE_TRY(fire_comm_alloc(comm, count * sizeof(float), (void **)&data));
    FIRE_TRY(fire_collective_create(comm, &o, data, count, &x));
    begin = MPI_Wtime();
    FIRE_TRY(fire_collective_start(x));
    FIRE_TRY(fire_collective_wait(x));
    FIRE_TRY(fire_comm_barrier(comm));
    if (fire_comm_rank(comm) == 0) printf("{\"seconds\":%.6g}\n", MPI_Wtime() - begin);
    fire_collective_destroy(x);
    fire_comm_free(comm, data);
    return FIRE_OK;
}

int main(int argc, char **argv)
{
    fire_comm_options_t o = FIRE_COMM_OPTIONS_INIT;
    fire_comm_t        *comm;
    fire_status_t       st;

    if (argc != 4) return 2;
    o.timeout = 0;
    st        = fire_comm_open_cluster(&o, &comm);
    if (st >= 0) {
        st = sum(comm, argv);
        fire_comm_close(comm);
    }
    if (st < 0) fprintf(stderr, "%s\n", fire_last_error());
    return st < 0;
}
