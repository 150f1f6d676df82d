/* test_load_mpi.c - which MPI library is opened, where none is needed to tell; with MPI:
 * tests/mpi/test_launchers.c. */
#include <stdlib.h>

#include "comm/transport/cluster.h"
#include "comm/transport/load_mpi.h"
#include "test.h"

TEST(fire_mpi_names_a_kind_or_a_file)
{
    const fire_mpi_t *mpi;

    setenv("FIRE_MPI", "lam", 1);
    CHECK_FAILS(fire_mpi_load(&mpi), FIRE_ERR_INVALID,
                "FIRE_MPI is \"lam\": it takes openmpi, mpich or the path");
    setenv("FIRE_MPI", "/nowhere/libmpi.so", 1);
    CHECK_FAILS(fire_mpi_load(&mpi), FIRE_ERR_INVALID,
                "/nowhere/libmpi.so: cannot open");
    unsetenv("FIRE_MPI");
}

TEST(another_library_is_not_taken_for_mpi)
{
    const fire_mpi_t *mpi;
    char              path[1024];

    snprintf(path, sizeof(path), "%s", test_path("libx.so"));
    if (system("command -v cc >/dev/null") != 0) test_skip("no compiler");
    char command[2048];
    snprintf(command, sizeof(command), "echo 'int x;' | cc -shared -fPIC -xc - -o '%s'",
             path);
    CHECK(system(command) == 0);
    setenv("FIRE_MPI", path, 1);
    CHECK_FAILS(fire_mpi_load(&mpi), FIRE_ERR_INVALID, "libx.so is no MPI library");
    unsetenv("FIRE_MPI");
}

TEST(before_a_job_there_is_no_library)
{
    char text[64];

    fire_cluster_library(text, sizeof(text));
    CHECK_STR(text, "");
}
