/* training.h - trainings for several workers, as a user starts them. */
#ifndef FIRE_TESTS_MPI_TRAINING_H
#define FIRE_TESTS_MPI_TRAINING_H
#include "program.h"

/* One thread each: how many compute shows in the last bits. Of Open MPI's guards one
 * is against root, one against more ranks than cores. */
#define ENVIRONMENT                                              \
    "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 "           \
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " \
    "OMPI_MCA_rmaps_base_oversubscribe=1; "
#define TRAIN "firecaffe train --solver solver.prototxt --lanes=8 --bucket_mb=0.02 "

/* Nets: LeNet on MNIST; one with BatchNorm, Dropout, random crops, mirroring and
 * shuffling; CIFAR-10 quick on noise. */
typedef enum net_kind { LENET, TEMPTING, QUICK, NET_KINDS } net_kind_t;

/* Data and net.prototxt in test_tmpdir(), and solver.prototxt: 60 iterations, a
 * snapshot after 31 and at the end, as snap_iter_N. `more` are further lines. */
void make_net(net_kind_t kind, const char *more);

bool has_mpi(void);

/* The launchers by their own names, where the program has a module for their MPI;
 * otherwise NULL. */
const char *open_mpi_launcher(void);
const char *mpich_launcher(void);

/* SHA-256 of a file in test_tmpdir(), as text; valid until the next call but one. */
const char *sha256_of(const char *name);
#endif
