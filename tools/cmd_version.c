/* firecaffe version - what was built, with what. */
#include <stdio.h>
#include "command.h"

static fire_status_t run(int narg, const char *const *arg)
{
    (void)narg, (void)arg;
    printf("firecaffe %s\nbuilt with: protobuf-c LMDB BLAS", FIRE_VERSION);
#ifdef FIRE_HAVE_LEVELDB
    printf(" LevelDB");
#endif
#ifdef FIRE_HAVE_HDF5
    printf(" HDF5");
#endif
#ifdef FIRE_HAVE_JPEG
    printf(" JPEG");
#endif
#ifdef FIRE_HAVE_PNG
    printf(" PNG");
#endif
#ifdef FIRE_HAVE_ONEDNN
    printf(" oneDNN");
#endif
#ifdef FIRE_HAVE_MPI
    printf(" MPI");
#endif
#ifdef FIRE_HAVE_CUDA
    printf(" CUDA");
#endif
#ifdef FIRE_HAVE_CUDNN
    printf(" cuDNN");
#endif
    putchar('\n');
    return FIRE_OK;
}

const command_t command_version = {
    .name      = "version",
    .arguments = "",
    .summary   = "tell the version and what it was built with",
    .help      = "Prints the version, then the libraries it was built with.\n",
    .run       = run,
};
