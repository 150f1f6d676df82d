/* host.c - a program that has started MPI itself and uses libfire's workers beside its own
 * messages: tests/mpi/test_launchers.c compiles it with each mpicc. */
#include <mpi.h>
#include <stdio.h>
#include <fire/fire.h>

int main(int argc, char **argv)
{
    fire_comm_t *comm;
    float        sum = 0;
    int          level, rank, mine;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sum = (float)rank + 1;
    if (fire_comm_join_job(NULL, &comm) < 0 ||
        fire_comm_allreduce(comm, "tree", &sum, 1) < 0) {
        fprintf(stderr, "%s\n", fire_last_error());
        return 1;
    }
    fire_comm_close(comm);
    mine = (int)sum; /* MPI is still running */
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) printf("sum %d\n", mine);
    return MPI_Finalize();
}
