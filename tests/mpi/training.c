/* training.c - nets, data and solvers of trainings with several workers. */
#include "training.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sha256.h"

/* Files beside this one. */
static const char *const nets[NET_KINDS] = {
    [LENET]    = "lenet.prototxt",
    [TEMPTING] = "tempting.prototxt",
    [QUICK]    = "quick.prototxt",
};

void make_net(net_kind_t kind, const char *more)
{
    char solver[2048];

    if (kind != QUICK)
        SH_OK("test -d db || firecaffe convert mnist "
              "$SRC/data/mnist/t10k-images-idx3-ubyte.gz "
              "$SRC/data/mnist/t10k-labels-idx1-ubyte.gz db");
    SH_OK("cp $SRC/tests/mpi/%s net.prototxt", nets[kind]);
    snprintf(
        solver, sizeof(solver),
        "net: 'net.prototxt' base_lr: 0.01 lr_policy: 'inv' gamma: 0.0001 power: "
        "0.75 momentum: 0.9 weight_decay: 0.0005 display: 20 max_iter: 60 "
        "snapshot: 31 snapshot_prefix: 'snap' random_seed: 3 solver_mode: CPU %s\n",
        more);
    write_file("solver.prototxt", solver);
}

bool has_mpi(void)
{
    return can_mpirun();
}

/* The first of these names whose --version has the mark. Plug-ins of MPI libraries leak. */
static const char *find_launcher(const char *names, const char *mark,
                                 const char *module)
{
    static char name[2][256];
    static int  turn;
    char       *found = name[turn ^= 1];

    if (sh("firecaffe version | grep -q 'modules for.*%s' || exit 1; for name in %s; "
           "do "
           "$name --version 2>&1 | grep -q '%s' && command -v $name && exit; done; "
           "exit 1",
           module, names, mark) != 0)
        return NULL;
    snprintf(found, sizeof(name[0]),
             "env ASAN_OPTIONS=detect_leaks=0 timeout -k 5 300 %.*s",
             (int)strcspn(ran.out, "\n"), ran.out);
    return found;
}

const char *open_mpi_launcher(void)
{
    return find_launcher("mpirun.openmpi mpirun", "Open MPI", "Open MPI");
}

const char *mpich_launcher(void)
{
    return find_launcher("mpiexec.mpich mpiexec.hydra mpiexec", "HYDRA", "MPICH");
}

const char *sha256_of(const char *name)
{
    static char   text[2][65];
    static int    turn;
    char         *bytes;
    uint8_t       digest[FIRE_SHA256_SIZE];
    size_t        n;
    fire_sha256_t s;

    CHECK_OK(fire_file_read(test_path(name), &bytes, &n));
    fire_sha256_init(&s);
    fire_sha256_add(&s, bytes, n);
    fire_sha256_final(&s, digest);
    fire_free(bytes);
    turn ^= 1;
    fire_sha256_hex(digest, text[turn]);
    return text[turn];
}
